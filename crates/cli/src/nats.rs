//! By what a NATS server lets us in: the same words for those who wait there for work and those who give it.

use std::path::{Path, PathBuf};

use clap::Args;
use engine::RunError;
use plan::setting::{NATS_CA, NATS_CREDENTIALS, NATS_NKEY, SettingName};
use plan::{PlanError, PlanErrors};
use sites::{Access, Connection, FleetAddress};

use crate::inputs::plainly;
use crate::screen::complain;

/// What proves who we are. A user and a password, or a token, stand in the address.
#[derive(Debug, Clone, Default, Args)]
pub struct NatsArgs {
    /// The credentials file by which the NATS server lets loadline in
    #[arg(long, value_name = "FILE", help_heading = "Fleet")]
    nats_creds: Option<PathBuf>,

    /// The file of the NKey seed by which it does
    #[arg(long, value_name = "FILE", conflicts_with = "nats_creds", help_heading = "Fleet")]
    nats_nkey: Option<PathBuf>,

    /// The certificates that the NATS server's is signed by [default: those of the system]
    #[arg(long, value_name = "FILE", help_heading = "Fleet")]
    nats_ca: Option<PathBuf>,
}

impl NatsArgs {
    /// Reads the files; what is wrong with them goes to `errors`.
    pub fn access(&self, errors: &mut PlanErrors) -> Access {
        Access {
            credentials: text(NATS_CREDENTIALS, self.nats_creds.as_deref(), errors),
            nkey: text(NATS_NKEY, self.nats_nkey.as_deref(), errors),
            authority: text(NATS_CA, self.nats_ca.as_deref(), errors).and(self.nats_ca.clone()),
        }
    }
}

fn text(setting: SettingName, file: Option<&Path>, errors: &mut PlanErrors) -> Option<String> {
    let file = file?;
    match std::fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(why) => {
            let message = format!("{setting:#} '{}' cannot be read: {}", file.display(), plainly(&why));
            errors.push(PlanError::new(setting, message, "give a file that is there: what nsc or nk wrote, or certificates as PEM"));
            None
        }
    }
}

/// Where a fleet is, as an example.
pub const FLEET: &str = "write nats://HOST:PORT/GROUP, such as nats://10.0.0.1:4222/eu";

/// Reads the address of a fleet, which people call `what`; a mistake goes to `errors`.
pub fn address((setting, what): (SettingName, &str), text: &str, help: &str, errors: &mut PlanErrors) -> Option<FleetAddress> {
    FleetAddress::read(text)
        .map_err(|why| {
            // A password may stand in it, and a part of one where a comma in it was taken for the next machine.
            let shown = match text.rsplit_once('@') {
                Some((_, rest)) => rest,
                None if text.matches(':').count() > 2 => "nats://…",
                None => text,
            };
            errors.push(PlanError::new(setting, format!("{what} '{shown}' {why}"), help));
        })
        .ok()
}

/// Connects, with a word of warning where everybody can.
///
/// # Errors
/// If the server cannot be reached, or does not let us in.
pub fn connect(address: &FleetAddress, access: &Access) -> Result<Connection, RunError> {
    warn_if_exposed(address, access);
    Connection::open(address, access, |_| ())
}

/// Says what it means that a server lets everybody in.
pub fn warn_if_exposed(address: &FleetAddress, access: &Access) {
    if address.is_exposed() && !access.is_given() {
        complain(&format!(
            "warning: {address} asks for no password: whoever reaches it can send load through its agents, and read what is sent to them"
        ));
    }
}

/// Who we are, for people at the other end.
pub fn who() -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_else(|_| "somebody".to_owned());
    format!("{user}@{}", host())
}

/// What this machine calls itself.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

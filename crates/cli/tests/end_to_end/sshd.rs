//! What a real SSH server and an `ssh` that knows it need, in the directory of a session: keys, settings, and a place that is theirs alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::session::Session;

/// What a program says; it has to succeed.
fn said(program: &str, words: &[&str]) -> String {
    let ran = Command::new(program).args(words).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

fn at(session: &Session, name: &str) -> String {
    session.path(name).display().to_string()
}

/// Makes the key of servers and that of the user, whom they let in.
pub fn make_keys(session: &Session) {
    for key in ["host", "user"] {
        said("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &at(session, key)]);
    }
    fs::copy(at(session, "user.pub"), at(session, "authorized")).unwrap();
    // A server forks a process for each connection from its own file, which it wants named whole.
    let _ = fs::create_dir_all("/run/sshd");
}

/// Writes a server's settings into this file, and gives the words that start it.
pub fn server(session: &Session, file: &str, (address, port): (&str, u16)) -> [String; 6] {
    let settings = format!(
        "Port {port}\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
         AcceptEnv XDG_CACHE_HOME\nPermitRootLogin yes\n",
        at(session, "host"),
        at(session, "authorized")
    );
    fs::write(session.path(file), settings).unwrap();
    ["/usr/sbin/sshd", "-D", "-E", &at(session, "sshd.log"), "-f", &at(session, file)].map(str::to_owned)
}

/// Makes an `ssh` that knows these hosts: their names, addresses, ports, and the folder of the session in which each has its cache.
pub fn make_client(session: &Session, hosts: &[(&str, &str, u16, &str)]) {
    let user = said("id", &["-un"]);
    let settings = hosts.iter().map(|(name, address, port, cache)| {
        format!(
            "Host {name}\n HostName {address}\n Port {port}\n User {}\n IdentityFile {}\n StrictHostKeyChecking no\n \
             UserKnownHostsFile /dev/null\n LogLevel ERROR\n SetEnv XDG_CACHE_HOME={}\n",
            user.trim(),
            at(session, "user"),
            at(session, cache)
        )
    });
    fs::write(session.path("ssh_config"), settings.collect::<String>()).unwrap();
    fs::write(session.path("ssh"), format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", at(session, "ssh_config"))).unwrap();
    fs::set_permissions(session.path("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// The session with that `ssh` before all others.
pub fn with_client(session: Session) -> Session {
    let path = format!("{}:/usr/bin:/bin", session.path("").display());
    session.env("PATH", &path)
}

/// Processes of loadline whose program was copied into this folder.
pub fn agents_in(folder: &Path) -> Vec<i32> {
    let is_there = |process: &i32| fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|file| file.starts_with(folder));
    let all = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    all.filter(is_there).collect()
}

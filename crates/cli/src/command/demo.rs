//! `loadline demo`: a newcomer sees a result within a minute, from a server about which the truth is known.
//!
//! A tool that measures is believed when its numbers meet what was known before. So the demo loads an API built into this
//! program: one endpoint that answers as fast as the processor allows, and one whose capacity follows from a division.
//!
//! The API runs in a process of its own, another one of this program. What a server does is seen of its process, and threads of a server
//! within this process could not be told from those of the load. It ends with this one, since it reads from a pipe that closes then.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use analysis::Sweep;
use analysis::quantity;
use clap::Args;
use engine::{Runner, Stop, machine};
use plan::{Draft, LadderDraft, PlanErrors};
use report::Experiment as _;
use resolve::KnownSecrets;
use testbed::{Behaviour, Config, Testbed};

use super::sweep::{Climb, LevelChoice};
use super::{given, print};
use crate::exit::{Exit, Failed};
use crate::files::{DIRECTORY, Files};
use crate::inputs::{self, plainly};
use crate::interrupt;
use crate::measuring::Measuring;
use crate::output_args::OutputArgs;
use crate::outputs::{Existing, Renderings};

/// See it at work, or leave the API running.
#[derive(Debug, Args)]
pub struct Demo {
    /// Only serve the demo API at this address, such as 127.0.0.1:8080, until Ctrl-C
    #[arg(long, value_name = "ADDR")]
    serve: Option<String>,

    /// Let this path behave as given, such as '/get_result=pool=8:5ms', and end with standard input
    #[arg(long, value_name = "PATH=BEHAVIOUR", hide = true, requires = "serve")]
    route: Option<String>,

    /// Write files into this directory, made if missing; those of an earlier demo are replaced
    #[arg(long, value_name = "DIR", default_value = DIRECTORY, help_heading = "Output")]
    dir: PathBuf,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// One endpoint of the demonstration.
struct Act {
    name: &'static str,
    path_and_query: &'static str,
    about: &'static str,
}

/// The endpoint whose capacity is known: so many workers, each busy so long with a request. 8 / 5 ms = 1,600 a second.
const POOLED: &str = "/get_result";
const POOL: &str = "pool=8:5ms&breaks=150:1s";

const ACTS: [Act; 2] = [
    Act {
        name: "demo-healthz",
        path_and_query: "/healthz",
        about: "/healthz answers at once, so the processor is its limit: how much it carries is for you to see.",
    },
    Act {
        name: "demo-get_result",
        path_and_query: "/get_result?a=10&b=20",
        about: "/get_result has 8 workers and each takes 5 ms, so it can carry 8 / 0.005 s = 1,600 a second, reached with 8 users;\n  \
                with more than 150 requests at once it breaks and answers 503 for a second.",
    },
];

/// Nine levels of two seconds for each of two endpoints: about 40 seconds with the rests between.
const LEVELS: &str = "1,2,4,8,16,50,100,200,500";
const LEVEL_LASTS: &str = "2s";
const COOLDOWN: &str = "200ms";

/// Shows what the tool does, or serves.
pub fn carry_out(demo: Demo, known: &KnownSecrets) -> Result<Exit, Failed> {
    match demo.serve {
        Some(at) => serve(&at, demo.route.as_deref()),
        None => show(&demo.dir, demo.output_args, known),
    }
}

fn show(dir: &std::path::Path, output_args: OutputArgs, known: &KnownSecrets) -> Result<Exit, Failed> {
    let mut errors = PlanErrors::default();
    let files = ACTS.map(|act| Files::new(dir.to_owned(), act.name, Sweep::ENDINGS));
    if let Some(files) = files.first() {
        files.check(Existing::Replace, &mut errors);
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let server = Own::start(&format!("{POOLED}={POOL}"))?;
    let screen = output_args.screen(known);
    let stop = Stop::new();
    interrupt::raise_on_signal(&stop, &screen)?;

    say(&format!("\n  The demo API listens at {}, in a process of its own. Two sweeps, about 40 seconds.\n", server.url))?;
    for (act, files) in ACTS.iter().zip(&files) {
        say(&format!("\n  {}\n", act.about))?;
        let draft = Draft { url: Some(format!("{}{}", server.url, act.path_and_query)), duration: given(LEVEL_LASTS), ..Draft::default() };
        let ladder = LadderDraft { levels: given(LEVELS), cooldown: given(COOLDOWN), ..LadderDraft::default() };
        let Some(mut climb) = Climb::decide(draft.into(), ladder, inputs::scenarios(known), &mut errors) else { return Err(errors.into()) };
        climb.fit(LevelChoice::Nothing, &Runner::threads())?;
        let measuring = Measuring::unsaved(known, output_args);
        let exit = climb.carry_out((files.clone(), Renderings::none()), measuring, (screen.clone(), stop.clone()), &Runner::threads())?;
        // What a busy machine did to a demonstration is said in it, and no reason to end it.
        if !matches!(exit, Exit::Done | Exit::NotTrustworthy) {
            return Ok(exit);
        }
    }
    let [healthz, sum] = files.map(|files| files.path(".dat").display().to_string());
    say(&format!(
        "\n  Try next:\n\n    \
         loadline demo --serve 127.0.0.1:8080                        leave this API running; then, beside it:\n    \
         loadline run -c 50 -d 5s http://127.0.0.1:8080/healthz      measure one load in detail\n    \
         loadline diff {healthz} {sum}\n{:64}put the two sweeps of this demo side by side\n\n",
        ""
    ))?;
    Ok(Exit::Done)
}

/// The demo API in a process of its own. It ends with this value.
struct Own {
    child: Child,
    url: String,
}

impl Own {
    fn start(route: &str) -> Result<Self, Failed> {
        let failed = |why: &io::Error| {
            Failed::new(
                Exit::NotCarriedOut,
                format_args!("the demo API cannot be started: {}", plainly(why)),
                "start it in another terminal with loadline demo --serve 127.0.0.1:8080, and measure it with loadline sweep",
            )
        };
        let program = std::env::current_exe().map_err(|why| failed(&why))?;
        let mut child = Command::new(program)
            .args(["demo", "--serve", "127.0.0.1:0", "--route", route])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C is for the load; the server goes when it is over.
            .process_group(0)
            .spawn()
            .map_err(|why| failed(&why))?;
        let said = child.stdout.take().map(BufReader::new).into_iter().flat_map(|lines| lines.lines()).map_while(Result::ok);
        let url = said.filter_map(|line| Some(line.strip_prefix(LISTENS)?.split(". ").next()?.to_owned())).next();
        let server = Self { child, url: url.unwrap_or_default() };
        if server.url.is_empty() { Err(failed(&io::Error::other("it ended before it listened"))) } else { Ok(server) }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What it says before its address.
const LISTENS: &str = "The demo API listens at ";

fn serve(at: &str, route: Option<&str>) -> Result<Exit, Failed> {
    let address: SocketAddr = at.parse().map_err(|_| {
        Failed::new(Exit::Usage, format_args!("--serve '{at}' is not an address and a port"), "give both, such as --serve 127.0.0.1:8080")
    })?;
    let (model, streams) = testbed::model_route();
    let mut config = Config::new().listen(address).route(model, streams);
    if let Some((path, behaviour)) = route.and_then(|route| route.split_once('=')) {
        let behaviour: Behaviour = behaviour.parse().map_err(|why| {
            Failed::new(
                Exit::Usage,
                format_args!("--route '{path}={behaviour}': {why}"),
                "write a path and a behaviour, such as /a=delay=5ms",
            )
        })?;
        config = config.route(path, behaviour);
    }
    let server = start(config, &format!("the demo API at {address}"))?;
    let here = server.url("");
    let again = format!(
        "\n{LISTENS}{here}. Ctrl-C ends it. In another terminal:\n\n  loadline run {here}/healthz\n  loadline sweep {here}/healthz\n  loadline sweep {here}{model} --stream sse\n\n"
    );
    print(format!("{}{again}", testbed::index()).as_bytes())?;
    if route.is_some() {
        // Whoever started it closes this by ending, in whatever way.
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        return Ok(Exit::Done);
    }
    interrupt::wait()?;
    let counts = server.stop();
    crate::screen::complain(&format!(
        "served {} requests on {} connections",
        quantity::count(counts.answered),
        quantity::count(counts.connections)
    ));
    Ok(Exit::Done)
}

/// The server takes half of the cores, and leaves the other half to the load.
fn start(config: Config, name: &str) -> Result<Testbed, Failed> {
    let threads = NonZeroUsize::new(machine::cores().get() as usize / 2).unwrap_or(NonZeroUsize::MIN);
    Testbed::start(config.threads(threads)).map_err(|why| {
        Failed::new(
            Exit::NotCarriedOut,
            format_args!("{name} cannot be started: {}", plainly(&why)),
            "choose another address with --serve, such as 127.0.0.1:8081",
        )
    })
}

fn say(text: &str) -> Result<(), Failed> {
    print(text.as_bytes()).map(drop)
}

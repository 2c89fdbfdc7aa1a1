//! Help in two lengths: `-h` for who begins, `--help` and `loadline help` for who looks something up.
//!
//! A measuring command has some seventy options, and who sees all of them at once finds none. clap has two lengths of its own, but its
//! longer one gives each option three lines. So `--help` is clap's short form with everything in it, and for `-h` the same table is
//! asked again with the options hidden that few need. Invariant: an option is described once, in the table of commands; here stand
//! only names, and examples, which tests hold against that table.

use std::ffi::{OsStr, OsString};

use clap::error::ErrorKind;
use clap::{Args, Command, Error};
use dialects::DIALECTS;
use plan::template::nearest;

use super::commands;
use crate::exit::{Exit, Failed, MEANINGS};

/// The command to explain.
#[derive(Debug, Args)]
pub struct Help {
    /// Such as run, or profile top; without one, the list of commands
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

/// What a command is shown by: examples, and the options that most people need.
struct Guide {
    command: &'static str,
    /// What each does, and how it is typed.
    examples: &'static [(&'static str, &'static str)],
    /// The ids of the options that `-h` shows; without any, it shows all.
    options: &'static [&'static str],
}

const GUIDES: &[Guide] = &[
    Guide {
        command: "run",
        examples: &[
            ("50 users for 10 s, each sending again as soon as it is answered", "loadline run http://127.0.0.1:8080/healthz"),
            ("200 users for 30 s, and a page to share", "loadline run -c 200 -d 30s http://127.0.0.1:8080/healthz --out html=report.html"),
            ("500 requests a second, whether answered or not", "loadline run --rate 500/s -d 1m http://127.0.0.1:8080/healthz"),
            (
                "Fail (exit code 1) unless both hold: for continuous integration",
                "loadline run http://127.0.0.1:8080/healthz --check 'p99 < 200ms' --check 'failed < 0.1%'",
            ),
            ("Users on journeys of several steps; loadline init writes such a file", "loadline run scenario.yaml"),
            ("A request as browsers copy it (Copy as cURL), pasted behind --", "loadline run -c 50 -- curl 'https://…' -H …"),
        ],
        options: &[
            "connections",
            "duration",
            "requests",
            "rate",
            "warmup",
            "method",
            "header",
            "data",
            "json",
            "bearer",
            "urls",
            "data_file",
            "expect",
            "timeout",
            "insecure",
            "check",
            "against",
            "out",
            "full",
            "quiet",
        ],
    },
    Guide {
        command: "try",
        examples: &[
            ("One request, and its answer whole", "loadline try http://127.0.0.1:8080/healthz"),
            ("One journey of a scenario: requests, answers, checks, variables", "loadline try scenario.yaml"),
            ("Another journey of it, as a page", "loadline try scenario.yaml --journey buy --out html=try.html"),
        ],
        options: &[
            "journey",
            "method",
            "header",
            "data",
            "json",
            "bearer",
            "cookie",
            "data_file",
            "expect",
            "follow",
            "timeout",
            "insecure",
            "target",
            "variable",
            "out",
            "force",
        ],
    },
    Guide {
        command: "sweep",
        examples: &[
            ("The usual ladder of users, as far as it is worth climbing", "loadline sweep http://127.0.0.1:8080/healthz"),
            ("These levels, 10 s each", "loadline sweep --levels 1,10,50,200 -d 10s http://127.0.0.1:8080/healthz"),
            ("A ladder of rates instead of users", "loadline sweep --rates 100/s,200/s,500/s,1000/s http://127.0.0.1:8080/healthz"),
            ("The most that it carries with p99 below 50 ms", "loadline sweep http://127.0.0.1:8080/healthz --slo 'p99 < 50ms'"),
            ("Each level three times, to see how far figures vary", "loadline sweep --repeat 3 http://127.0.0.1:8080/healthz"),
            ("The journeys of a scenario", "loadline sweep scenario.yaml"),
        ],
        options: &[
            "levels", "rates", "adaptive", "repeat", "slo", "duration", "warmup", "method", "header", "data", "json", "bearer", "urls",
            "timeout", "insecure", "check", "name", "out", "force", "quiet",
        ],
    },
    Guide {
        command: "find",
        examples: &[
            ("The highest rate at which 99 % are answered within 50 ms", "loadline find http://127.0.0.1:8080/healthz --slo 'p99 < 50ms'"),
            ("Two promises at once", "loadline find http://127.0.0.1:8080/healthz --slo 'p99 < 50ms' --slo 'failed < 0.1%'"),
            ("A first answer within a minute", "loadline find --quick http://127.0.0.1:8080/healthz --slo 'p95 < 100ms'"),
            (
                "Within five minutes, and never more than 2,000/s",
                "loadline find --budget 5m --rate-max 2000/s http://127.0.0.1:8080/healthz --slo 'p99 < 50ms'",
            ),
            ("The journeys of a scenario", "loadline find scenario.yaml --slo 'p95 < 300ms'"),
        ],
        options: &[
            "slo",
            "budget",
            "quick",
            "publish",
            "rate_max",
            "connections",
            "warmup",
            "method",
            "header",
            "data",
            "json",
            "bearer",
            "urls",
            "timeout",
            "insecure",
            "check",
            "name",
            "out",
            "force",
            "quiet",
        ],
    },
    Guide {
        command: "compare",
        examples: &[
            ("Is the new one slower?", "loadline compare http://127.0.0.1:8080/ http://127.0.0.1:8081/"),
            (
                "The same at 500 requests a second, in runs of 20 s",
                "loadline compare -r 500/s -d 20s http://127.0.0.1:8080/ http://127.0.0.1:8081/",
            ),
            ("Less than 5 % slower is good enough", "loadline compare --margin 5% http://127.0.0.1:8080/ http://127.0.0.1:8081/"),
            (
                "Two programs that serve at the same address, started and ended for each run",
                "loadline compare --a './old' --b './new' --url http://127.0.0.1:8080/",
            ),
            ("A saved run against the server as it is now", "loadline compare @last http://127.0.0.1:8080/"),
        ],
        options: &[
            "a",
            "b",
            "served_at",
            "pairs",
            "margin",
            "cooldown",
            "connections",
            "duration",
            "rate",
            "warmup",
            "method",
            "header",
            "json",
            "bearer",
            "timeout",
            "insecure",
            "check",
            "name",
            "out",
            "quiet",
        ],
    },
    Guide {
        command: "replay",
        examples: &[
            ("The log's requests, at the times of the log", "loadline replay access.log http://127.0.0.1:8080"),
            ("The same four times as fast", "loadline replay --speed 4x access.log http://127.0.0.1:8080"),
            ("Ten minutes of it", "loadline replay --from 13:55 --to 14:05 access.log http://127.0.0.1:8080"),
            ("One part of the site", "loadline replay --only 'GET /api/*' access.log http://127.0.0.1:8080"),
            ("Sent from two machines, read here", "loadline replay --agents ssh:me@10.0.0.5,ssh:eu-2 access.log http://10.0.0.9:8080"),
            ("Say what would be sent, and send nothing", "loadline replay --dry-run access.log http://127.0.0.1:8080"),
        ],
        options: &[
            "speed",
            "from",
            "to",
            "only",
            "except",
            "host",
            "rewrite",
            "writes",
            "dry_run",
            "log_format",
            "connections",
            "header",
            "bearer",
            "timeout",
            "insecure",
            "check",
            "name",
            "out",
            "web",
            "quiet",
        ],
    },
    Guide {
        command: "calibrate",
        examples: &[
            ("What this machine can send at most", "loadline calibrate"),
            ("How far a target differs from itself, run by run", "loadline calibrate --aa http://127.0.0.1:8080/healthz"),
        ],
        options: &["aa", "pairs", "cooldown", "connections", "duration", "rate", "header", "timeout", "insecure", "quiet"],
    },
    Guide {
        command: "diff",
        examples: &[
            ("Two sweeps, as a table and two charts", "loadline diff before.dat after.dat"),
            ("The two newest saved results", "loadline diff @last-1 @last"),
        ],
        options: &[],
    },
    Guide {
        command: "traffic",
        examples: &[
            ("Rates, routes, users and bursts", "loadline traffic access.log"),
            ("The same as a page, of several logs", "loadline traffic access.log access.log.1 --out html=traffic.html"),
            ("A scenario that loads a server in the same way", "loadline traffic access.log --to scenario.yaml"),
            ("Logs of two machines, read there", "loadline traffic --agents ssh:web1,ssh:web2 '/var/log/nginx/access.log*'"),
            ("One of many jobs that read a log each", "loadline traffic access.log --partial 1.part --partial-key key"),
            ("What all of them say together", "loadline traffic merge 1.part 2.part"),
        ],
        options: &[],
    },
    Guide {
        command: "show",
        examples: &[("The newest result", "loadline show @last"), ("The newest of a name", "loadline show @healthz")],
        options: &[],
    },
    Guide {
        command: "runs",
        examples: &[
            ("The newest first", "loadline runs"),
            ("Those of one name", "loadline runs --name healthz"),
            ("Whether they became slower, and with which run", "loadline runs --name healthz --trend"),
        ],
        options: &[],
    },
    Guide {
        command: "agent",
        examples: &[
            (
                "Wait for work, and send load to this server alone",
                "loadline agent --nats nats://10.0.0.1:4222 --group eu --allow-target api.test:443",
            ),
            ("With the credentials that the server asks for", "loadline agent --nats tls://nats.test:4222 --nats-creds eu.creds"),
        ],
        options: &[],
    },
    Guide {
        command: "agents",
        examples: &[
            ("Who waits at a server", "loadline agents nats://10.0.0.1:4222"),
            ("Of one group, for programs", "loadline agents nats://10.0.0.1:4222/eu --json"),
        ],
        options: &[],
    },
    Guide {
        command: "serve",
        examples: &[
            ("For browsers of this machine", "loadline serve"),
            ("Load may also go to these", "loadline serve --allow-target loopback --allow-target '*.staging.test'"),
            ("Tests come from these machines", "loadline serve --agents ssh:me@10.0.0.5,ssh:eu-2"),
        ],
        options: &[],
    },
];

/// The commands by what they are for. A test holds that each stands in one of them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "sweep", "find", "compare", "replay", "calibrate", "demo"]),
    ("Machines that load comes from", &["agent", "agents"]),
    ("Read and keep results", &["show", "report", "diff", "runs", "serve", "tag", "note", "baseline", "export", "rm", "prune"]),
    ("Scenarios, logs and profiles", &["init", "check", "try", "import", "traffic", "profile"]),
    ("This program", &["help", "compat", "links", "completions", "man"]),
];

/// The first things to try.
const EXAMPLES: &[(&str, &str)] = &[
    ("See it at work on a built-in API, in a minute", "loadline demo"),
    ("Measure one load", "loadline run http://127.0.0.1:8080/healthz"),
    ("Climb a ladder of loads, and see where it ends", "loadline sweep http://127.0.0.1:8080/healthz"),
    ("Find the highest rate that keeps a promise", "loadline find http://127.0.0.1:8080/healthz --slo 'p99 < 50ms'"),
    ("Tell whether a new version is slower", "loadline compare http://127.0.0.1:8080/ http://127.0.0.1:8081/"),
    ("See all that was measured, in a browser", "loadline serve"),
];

/// Which help of loadline itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Brief,
    Full,
}

/// Prints the help of a command, with every option.
///
/// # Errors
/// If there is no such command.
pub fn carry_out(help: &Help) -> Result<Exit, Failed> {
    if let Some(name) = help.command.first().filter(|name| dialects::dialect(OsStr::new(name.as_str())).is_some()) {
        return Err(Failed::new(
            Exit::Usage,
            format_args!("'{name}' speaks as the tool of that name, and has its options"),
            format_args!("read docs/guide/drop-in.md, or ask loadline compat {name} OPTIONS which of them are supported"),
        ));
    }
    let words = std::iter::once("loadline").chain(help.command.iter().map(String::as_str)).chain(["--help"]);
    match commands().try_get_matches_from(words) {
        Err(shown) if shown.kind() == ErrorKind::DisplayHelp => {
            // That nobody reads it is not an error.
            let _ = shown.print();
            Ok(Exit::Done)
        }
        _ => Err(Failed::new(Exit::Usage, format_args!("there is no command '{}'", help.command.join(" ")), suggestion(&help.command[0]))),
    }
}

/// What to type instead of this word in the place of a command.
pub fn suggestion(word: &str) -> String {
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
    let names = names.chain(DIALECTS.iter().map(|dialect| dialect.name));
    match nearest(word, names) {
        Some(near) => format!("did you mean 'loadline {near}'? loadline help lists all commands"),
        None => "loadline help lists all commands".to_owned(),
    }
}

/// The short help that a command line asked for, if it was that; as the error by which clap shows one.
pub fn brief(words: &[OsString]) -> Option<Error> {
    let asked = words.iter().take_while(|word| *word != "--").any(|word| word == "-h");
    if !asked {
        return None;
    }
    let mut table = commands();
    table.build();
    let name = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let table = if table.find_subcommand(name).is_some() { table.mut_subcommand(name, shortened) } else { grouped(table, Length::Brief) };
    table.try_get_matches_from(words).err()
}

/// A command with its examples first, and without the options that few need.
fn shortened(command: Command) -> Command {
    let Some(guide) = guide(command.get_name()) else { return command };
    let all = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()).count();
    let name = command.get_name().to_owned();
    let command = command
        .help_template("{about}\n\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}")
        .before_help(listed("Examples", guide.examples))
        .after_help(None);
    if guide.options.is_empty() {
        return command;
    }
    let rank = |id: &str| guide.options.iter().position(|known| *known == id);
    command
        .mut_args(|arg| match rank(arg.get_id().as_str()) {
            Some(rank) => arg.help_heading("The options most people need").display_order(rank),
            None if arg.is_positional() && !arg.is_last_set() => arg,
            None => arg.hide(true),
        })
        .after_help(format!("All {all} options: loadline {name} --help"))
}

fn guide(command: &str) -> Option<&'static Guide> {
    GUIDES.iter().find(|guide| guide.command == command)
}

/// The examples of a command, as they stand at the end of its whole help.
pub fn examples(command: &str) -> Option<String> {
    guide(command).map(|guide| listed("Examples", guide.examples))
}

fn listed(heading: &str, examples: &[(&str, &str)]) -> String {
    let lines: String = examples.iter().map(|(what, line)| format!("\n  # {what}\n  {line}")).collect();
    format!("{heading}:{lines}")
}

/// The table with the commands in groups, as its whole help shows them.
pub fn in_groups(table: Command) -> Command {
    grouped(table, Length::Full)
}

fn grouped(table: Command, length: Length) -> Command {
    let mut text = listed("Examples", EXAMPLES) + "\n";
    for (heading, names) in GROUPS {
        text += &format!("\n{heading}:\n");
        for name in *names {
            let about = table.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string).unwrap_or_default();
            text += &format!("  {name:<11}  {about}\n");
        }
    }
    let more = match length {
        Length::Brief => "More: loadline --help, loadline help COMMAND, and loadline COMMAND -h".to_owned(),
        Length::Full => {
            text += "\nAs another tool, with its options and its report (docs/guide/drop-in.md):\n";
            for dialect in DIALECTS {
                text += &format!("  {:<11}  {}\n", dialect.name, dialect.about);
            }
            let codes: String = MEANINGS.iter().map(|(exit, meaning)| format!("\n  {:>3}  {meaning}", *exit as u8)).collect();
            format!("Exit codes:{codes}\n\nloadline COMMAND -h shows the options most people need, loadline help COMMAND all of them")
        }
    };
    table
        .help_template("{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}")
        .before_help(text.trim_end().to_owned())
        .after_help(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a shell takes a line apart that has single quotes only.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate().map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { part.replace(' ', "\u{a0}") });
        parts.collect::<String>().split(' ').map(|word| word.replace('\u{a0}', " ")).collect()
    }

    #[test]
    fn every_command_stands_in_one_group() {
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let table = commands();
        // What only other loadlines call is for nobody to read.
        let shown = || table.get_subcommands().filter(|command| !command.is_hide_set());
        for name in shown().map(Command::get_name) {
            assert_eq!(grouped.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        assert_eq!(grouped.len(), shown().count());
    }

    #[test]
    fn no_command_has_the_name_of_another_tool() {
        for name in commands().get_subcommands().map(Command::get_name) {
            assert!(dialects::dialect(OsStr::new(name)).is_none(), "{name}");
        }
    }

    #[test]
    fn short_help_names_options_that_are_there_and_no_more_than_twenty() {
        let mut table = commands();
        table.build();
        for guide in GUIDES {
            let command = table.find_subcommand(guide.command).expect(guide.command);
            for id in guide.options {
                assert!(command.get_arguments().any(|arg| arg.get_id() == id), "{}: {id}", guide.command);
            }
            assert!(guide.options.len() <= 20 && guide.examples.len() <= 6, "{}", guide.command);
            let all = command.get_arguments().count();
            assert!(!guide.options.is_empty() || all <= 21, "{} has {all} options", guide.command);
        }
    }

    #[test]
    fn errors_name_settings_that_are_flags() {
        let mut table = commands();
        table.build();
        let flags: Vec<&str> =
            table.get_subcommands().flat_map(|command| command.get_arguments().filter_map(|arg| arg.get_long())).collect();
        let unknown: Vec<&str> = plan::setting::ALL.iter().map(|setting| setting.flag()).filter(|flag| !flags.contains(flag)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn every_example_is_a_command_line() {
        for (what, line) in GUIDES.iter().flat_map(|guide| guide.examples).chain(EXAMPLES) {
            let read = commands().try_get_matches_from(words(line));
            assert!(read.is_ok(), "{what}: {line}\n{}", read.unwrap_err());
        }
    }
}

//! Help, version, completions and man page: text for users is code.

use crate::session::Session;

#[test]
fn every_command_tells_what_it_can_do() {
    for command in [
        "",
        "run",
        "try",
        "sweep",
        "find",
        "diff",
        "compare",
        "calibrate",
        "traffic",
        "agent",
        "agents",
        "init",
        "check",
        "replay",
        "profile",
        "profile top",
        "profile diff",
        "demo",
        "runs",
        "show",
        "serve",
        "tag",
        "note",
        "baseline",
        "export",
        "import",
        "rm",
        "prune",
        "compat",
        "links",
        "completions",
        "man",
        "help",
    ] {
        let name = format!("help_{}", command.replace(' ', "_"));
        let (name, line) = (name.trim_end_matches('_'), format!("{command} --help"));
        let line = line.trim_start();
        let ran = Session::new().loadline(line).exits(0).complains_of_nothing();
        insta::assert_snapshot!(name, ran.stdout);
    }
}

/// What most people need, and what it looks like when it is typed.
#[test]
fn short_help_has_the_options_that_most_people_need_and_examples() {
    for command in ["", "run", "sweep", "find", "compare", "replay", "traffic"] {
        let ran = Session::new().loadline(format!("{command} -h").trim_start()).exits(0).complains_of_nothing();
        insta::assert_snapshot!(format!("short_{command}").trim_end_matches('_'), ran.stdout);
    }
    let all = Session::new().loadline("run --help").exits(0).stdout;
    let short = Session::new().loadline("run -h").exits(0).stdout;
    assert!(short.lines().count() * 2 < all.lines().count(), "{short}");
}

#[test]
fn help_is_a_command_as_well() {
    for (line, same) in [("help", "--help"), ("help run", "run --help"), ("help profile top", "profile top --help")] {
        let ran = Session::new().loadline(line).exits(0).complains_of_nothing();
        assert_eq!(ran.stdout, Session::new().loadline(same).exits(0).stdout, "{line}");
    }
    Session::new().loadline("help rnu").exits(2).complains("there is no command 'rnu'").complains("'loadline run'");
    Session::new().loadline("help wrk").exits(2).complains("drop-in.md");
}

/// Columns beyond the eightieth are cut or wrapped where most people look.
#[test]
fn the_list_of_commands_fits_a_narrow_terminal() {
    let ran = Session::new().loadline("--help").exits(0);
    let commands: Vec<&str> = ran.stdout.lines().skip_while(|line| *line != "Measure:").take_while(|line| *line != "Options:").collect();
    assert!(commands.len() > 30, "{commands:?}");
    for line in commands {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn the_bare_name_shows_where_to_begin() {
    let ran = Session::new().loadline("").exits(0).complains_of_nothing();
    insta::assert_snapshot!("welcome", ran.stdout);
}

#[test]
fn the_version_is_told() {
    assert_eq!(Session::new().loadline("--version").exits(0).stdout, concat!("loadline ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn an_unknown_command_leads_to_a_known_one() {
    for typed in ["rum", "rnu"] {
        let ran = Session::new().loadline(&format!("{typed} http://127.0.0.1/")).exits(2);
        ran.complains(&format!("error: '{typed}' is not a command\n  help: did you mean 'loadline run'?"));
    }
    Session::new().loadline("127.0.0.1:8080/healthz").exits(2).complains("loadline run 127.0.0.1:8080/healthz");
    Session::new().loadline("http://127.0.0.1:8080/healthz").exits(2).complains("loadline run http://127.0.0.1:8080/healthz");
    Session::new().loadline("run http://127.0.0.1/ --conections 5").exits(2).complains("'--connections'");
    let two = Session::new().loadline("run http://127.0.0.1:1/ http://127.0.0.1:2/").exits(2);
    two.complains("'http://127.0.0.1:2/' is a second URL").complains("--urls FILE").complains("loadline compare");
}

#[test]
fn completions_and_pages_know_every_flag() {
    for shell in ["bash", "zsh", "fish"] {
        Session::new().loadline(&format!("completions {shell}")).exits(0).says("connect-timeout").complains_of_nothing();
    }
    Session::new().loadline("man").exits(0).says(".TH loadline").says("Exit codes");
    let mut session = Session::new();
    session.loadline("man pages").exits(0);
    assert!(session.files().contains(&"pages/loadline-run.1".to_owned()), "{:?}", session.files());
    assert!(session.read("pages/loadline-run.1").contains("connect\\-timeout"));
}

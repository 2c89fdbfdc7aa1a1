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
    ] {
        let name = format!("help_{}", command.replace(' ', "_"));
        let (name, line) = (name.trim_end_matches('_'), format!("{command} --help"));
        let line = line.trim_start();
        let ran = Session::new().loadline(line).exits(0).complains_of_nothing();
        insta::assert_snapshot!(name, ran.stdout);
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
    let ran = Session::new().loadline("rum http://127.0.0.1/").exits(2).complains("unrecognized subcommand 'rum'");
    ran.complains("'run'");
    Session::new().loadline("http://127.0.0.1:8080/healthz").exits(2).complains("loadline run http://127.0.0.1:8080/healthz");
    Session::new().loadline("run http://127.0.0.1/ --conections 5").exits(2).complains("'--connections'");
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

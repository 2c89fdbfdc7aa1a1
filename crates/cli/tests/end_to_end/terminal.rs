//! The live view in a real terminal: tmux types, resizes and looks.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::session::{Session, server};
use crate::tools;

const PATIENCE: Duration = Duration::from_secs(120);

/// A terminal of its own, with a shell in it.
struct Terminal {
    session: Session,
    /// The name of tmux's socket: a server for this test alone.
    socket: String,
}

impl Terminal {
    fn new(columns: u16, rows: u16) -> Self {
        let session = Session::new();
        let socket = session.path("tmux").display().to_string();
        let terminal = Self { session, socket };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, "env", "PS1=$ ", "sh"]);
        terminal
    }

    fn tmux(&self, words: &[&str]) -> String {
        let ran = Command::new("tmux")
            .args(["-S", &self.socket])
            .args(words)
            .current_dir(self.session.path(""))
            .env("LC_ALL", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .env("XDG_DATA_HOME", self.session.path("data"))
            .output()
            .expect("tmux is installed (scripts/tools.sh tmux)");
        assert!(ran.status.success(), "tmux {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    fn types(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.tmux(&["send-keys", "Enter"]);
    }

    fn presses(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    fn loadline(&self, line: &str) {
        self.types(&format!("{} {line}", env!("CARGO_BIN_EXE_loadline")));
    }

    /// Everything on the screen, and what has scrolled out of it.
    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-S", "-200"])
    }

    /// Waits until all of it is on the screen.
    #[track_caller]
    fn shows(&self, parts: &[&str]) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if parts.iter().all(|part| screen.contains(part)) {
                return screen;
            }
            assert!(Instant::now() < deadline, "{parts:?} are not all in:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The terminal is as it was: the shell reads lines and shows what is typed.
    #[track_caller]
    fn is_as_before(&self) {
        self.types("stty -a | tr ';' '\\n' | tr ' ' '\\n' | grep -cx -e echo -e icanon -e isig");
        self.shows(&["grep -cx", "\n3\n"]);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}

#[test]
fn a_run_is_watched_and_ended_with_q_and_then_reported_whole() {
    if !tools::are_here(&["tmux"]) {
        return;
    }
    let server = server();
    let terminal = Terminal::new(90, 24);
    terminal.loadline(&format!("run {} -c 3 -d 10m --full --out json=r.json; echo exit=$?", server.url("/healthz")));
    terminal.shows(&[
        "loadline run",
        "3 users on a connection each",
        "QPS",
        "p99",
        "in flight",
        "failed",
        "none",
        " left",
        "q  ends the load",
    ]);
    // After the first second there is something to report.
    terminal.shows(&["█"]);
    terminal.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    terminal.shows(&["as soon as the last answer is there, for 10m (closed load)"]);
    terminal.tmux(&["resize-window", "-x", "30", "-y", "8"]);
    terminal.tmux(&["resize-window", "-x", "100", "-y", "30"]);
    terminal.presses("q");
    let screen = terminal.shows(&["exit=130", "response time", "account"]);
    assert!(!screen.contains("q  ends the load"), "{screen}");
    terminal.is_as_before();
    let result = terminal.session.json("r.json");
    assert_eq!(result["requests"]["succeeded"], server.counts().path("/healthz"));
}

#[test]
fn the_headline_stands_last_when_a_run_is_over() {
    if !tools::are_here(&["tmux"]) {
        return;
    }
    let server = server();
    let terminal = Terminal::new(80, 24);
    terminal.loadline(&format!("run '{}' -n 50 -c 2 --no-tui; echo exit=$?", server.url("/behave?status=404")));
    let screen = terminal.shows(&["exit=0", "answers"]);
    let last = screen.lines().take_while(|line| *line != "exit=0").last().unwrap_or_default();
    assert!(last.ends_with("All 50 requests failed: 404 Not Found"), "{last:?}:\n{screen}");
    let saved = screen.lines().filter(|line| line.contains("saved as @last")).count();
    assert_eq!(saved, 1, "{screen}");
}

#[test]
fn control_c_does_what_q_does_and_a_second_one_ends_at_once() {
    if !tools::are_here(&["tmux"]) {
        return;
    }
    let server = server();
    let terminal = Terminal::new(90, 24);
    terminal.loadline(&format!("run '{}' -c 1 -d 10m --no-preflight; echo exit=$?", server.url("/behave?delay=60s")));
    terminal.shows(&["q  ends the load"]);
    terminal.presses("C-c");
    terminal.shows(&["waiting for the last answers"]);
    terminal.presses("C-c");
    terminal.shows(&["exit=130"]);
    terminal.is_as_before();
}

#[test]
fn a_sweep_keeps_its_rows_in_sight_and_prints_them_when_the_view_is_gone() {
    if !tools::are_here(&["tmux"]) {
        return;
    }
    let server = server();
    let terminal = Terminal::new(100, 30);
    terminal.loadline(&format!("sweep {} --levels 1,2,3 -d 1s --cooldown 0s; printf 'exit%s\\n' =$?", server.url("/healthz")));
    terminal.shows(&["loadline sweep", "level 2 of 3", "loadline CPU"]);
    let screen = terminal.shows(&["exit=", "loadline CPU", "requests a second"]);
    assert_eq!(screen.matches("success  loadline CPU").count(), 1, "{screen}");
    terminal.is_as_before();
}

#[test]
fn a_small_or_dumb_terminal_gets_the_line_and_no_tui_too() {
    if !tools::are_here(&["tmux"]) {
        return;
    }
    let server = server();
    let line = format!("run {} -c 1 -d 2s", server.url("/healthz"));
    let view = "ends the load";
    let terminal = Terminal::new(79, 24);
    terminal.loadline(&format!("{line}; echo exit=$?"));
    assert!(!terminal.shows(&["exit=0"]).contains(view));
    terminal.loadline(&format!("{line} --tui; echo second=$?"));
    terminal.shows(&["second=2", "--tui needs a terminal of at least 80"]);
    terminal.tmux(&["resize-window", "-x", "100", "-y", "30"]);
    terminal.loadline(&format!("{line} --no-tui; echo third=$?"));
    assert!(!terminal.shows(&["third=0"]).contains(view));
    terminal.types("export TERM=dumb");
    terminal.loadline(&format!("{line}; echo fourth=$?"));
    assert!(!terminal.shows(&["fourth=0"]).contains(view));
}

#[test]
fn what_is_shown_changes_neither_counts_nor_cost() {
    if !tools::are_here(&["tmux"]) {
        return;
    }
    let server = server();
    let url = server.url("/healthz");
    let terminal = Terminal::new(100, 30);
    let mut costs = [f64::INFINITY; 2];
    let mut sent = 0;
    for round in 0..3 {
        for (place, flag) in ["--tui", "--no-tui"].into_iter().enumerate() {
            let name = format!("{place}{round}");
            terminal.loadline(&format!("run {url} -c 2 -t 1 -n 20000 {flag} --out json={name}.json; echo did-$((1)){name}=$?"));
            terminal.shows(&[&format!("did-1{name}=0")]);
            let result = terminal.session.json(&format!("{name}.json"));
            assert_eq!(result["requests"]["succeeded"], 20_000);
            sent += 20_000;
            assert_eq!(server.counts().path("/healthz"), sent);
            costs[place] = costs[place].min(result["generator"]["cpu_ns"].as_f64().unwrap());
        }
    }
    // The least of three: what disturbs a run only adds to it.
    let ratio = costs[0] / costs[1];
    assert!((0.6..1.6).contains(&ratio), "processor time with the view is {ratio} of that without");
}

#[test]
fn a_terminal_that_goes_away_ends_the_run_with_its_report() {
    if !tools::are_here(&["tmux"]) {
        return;
    }
    let server = server();
    let terminal = Terminal::new(90, 24);
    terminal.loadline(&format!("run {} -c 1 -d 10m --name hung-up", server.url("/healthz")));
    terminal.shows(&["loadline run", "█"]);
    terminal.tmux(&["kill-server"]);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut show = Command::new(env!("CARGO_BIN_EXE_loadline"));
        let ran = show.args(["show", "@hung-up"]).env("XDG_DATA_HOME", terminal.session.path("data")).output().unwrap();
        let shown = String::from_utf8_lossy(&ran.stdout).into_owned();
        if shown.contains("Interrupted after") {
            return;
        }
        assert!(Instant::now() < deadline, "{shown}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

//! `--web`: the run under way as a page in a browser.
//!
//! The same server as `loadline serve`, without a history and without a form, on a free port of this machine. It is told what the
//! screen is told, on the same thread, and goes when the run goes: a page that is open then has its last event, and everything
//! it shows, and needs nobody any more.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use analysis::server_side::Now;
use engine::Stop;
use measure::{RowsSoFar, Tick};
use plan::Plan;
use report::page::{self, RenderedPage};
use serve::{Begun, Guard, Live, RunEnd, Server, ServerConfig, State};

use crate::inputs::plainly;
use crate::saved;
use crate::screen::complain;

/// A page that is open gets so long to be told of the end.
const FAREWELL: Duration = Duration::from_secs(3);

/// The page of the run under way.
#[derive(Debug)]
pub struct Web {
    live: Live,
    server: Option<Server>,
    command: String,
    stop: Stop,
}

impl Web {
    /// Opens it and says where. `None` if that cannot be had, which is told: nobody loses a run for want of a page.
    pub fn open(command: &str, stop: &Stop) -> Option<Self> {
        let live = Live::default();
        let started = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| {
            let guard = Guard::new(listener.local_addr()?, Vec::new(), None);
            Server::start(listener, ServerConfig { guard, live: live.clone(), desk: None })
        });
        match started {
            Ok(server) => {
                let web = Self { live, server: Some(server), command: command.to_owned(), stop: stop.clone() };
                complain(&web.told());
                Some(web)
            }
            Err(why) => {
                complain(&format!("warning: the live page cannot be served: {}\n  help: leave --web out", plainly(&why)));
                None
            }
        }
    }

    /// Where it is.
    pub fn told(&self) -> String {
        self.server.as_ref().map_or_else(String::new, |server| format!("live at http://{}/", server.address()))
    }

    /// A load begins.
    pub fn load(&self, plan: &Plan, what: &str) {
        if self.live.state() == State::Idle {
            let stop = self.stop.clone();
            let begun = Begun {
                kind: self.command.clone(),
                name: saved::suggested(plan),
                title: report::request_of(plan),
                started: history::Moment::now().to_string(),
            };
            self.live.begin(begun, move || stop.raise());
        }
        self.live.load(what, page::begun(plan).json());
    }

    /// An interval of it, and what the server did then.
    pub fn tick(&self, tick: &Tick, server: Option<&Now>) {
        self.live.tick(&page::tick(tick, server));
    }

    /// The rows of the load so far.
    pub fn rows(&self, rows: &RowsSoFar) {
        page::rows_so_far(rows).iter().for_each(|tables| self.live.rows(tables));
    }

    /// Everything measured so far.
    pub fn result(&self, shown: &RenderedPage) {
        self.live.result(shown.json());
    }

    /// The run is over.
    pub fn end(&self, shown: &RenderedPage, saved: Option<String>) {
        self.live.end(&RunEnd { page: Some(shown.json().to_owned()), saved, trouble: None });
    }
}

/// However a command ends, its page is told.
impl Drop for Web {
    fn drop(&mut self) {
        if !matches!(self.live.state(), State::Ended(_)) {
            let trouble = Some("the run could not be carried out; the terminal says why".to_owned());
            self.live.end(&RunEnd { trouble, ..RunEnd::default() });
        }
        if let Some(server) = self.server.take() {
            server.finish(FAREWELL);
        }
    }
}

//! Users of one's own: each opens a page, looks at it for ten milliseconds, and opens the next.
//!
//! `cargo run -p loadline-trial --example own_behaviour -- http://127.0.0.1:8080/`

use engine::protocol::Encoded;
use engine::protocol::http1::request;
use engine::{Behaviour, Client, End, Request, Runner, Stop, Transport};
use measure::Summary;
use plan::{Draft, Nanos, Plan, Spelling};

/// What every user does.
struct Reader {
    pages: Vec<Encoded>,
}

impl Behaviour for Reader {
    type User = ();

    fn user(&self, _number: u64) {}

    async fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> Result<(), End> {
        for page in &self.pages {
            let outcome = client.send(&Request::new(page.as_ref()), &mut ()).await?;
            let looks = if outcome.result.is_ok() { Nanos::from_millis(10) } else { Nanos::ZERO };
            client.turn(looks).await?;
        }
        Ok(())
    }
}

/// Has ten users read these pages for a second.
pub fn load(url: &str, paths: &'static [&'static str]) -> Result<Summary, String> {
    let draft = Draft { url: Some(url.to_owned()), connections: "10".parse().ok(), duration: "1s".parse().ok(), ..Draft::default() };
    let plan = Plan::try_from(draft).map_err(|mistakes| mistakes.spelt(Spelling::KEYS))?;
    let host = plan.target().authority();
    let page = |path: &&str| request::serialise("GET", path, &[("Host", &host)], b"").map_err(|why| why.to_string());
    let pages = paths.iter().map(page).collect::<Result<Vec<_>, _>>()?;
    let runner = Runner::threads();
    let reader = move |_| Reader { pages: pages.clone() };
    trial::carry_out(&plan, &mut [], &Stop::new(), |watch, stop| runner.prepare(&plan)?.run_with(reader, watch, stop))
        .map_err(|error| error.spelt(Spelling::KEYS))
}

fn main() -> Result<(), String> {
    let run = load(&std::env::args().nth(1).ok_or("give the URL of a server of yours")?, &["/", "/favicon.ico"])?;
    println!("{:.0} requests a second, {} failed, p99 {:?}", run.qps, run.requests.failed, run.response_time.known_quantile(0.99));
    Ok(())
}

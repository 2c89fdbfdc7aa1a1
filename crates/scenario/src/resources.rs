//! What a page names, loaded behind it as a browser does: several at once, each over a Lane of its own, with the page's headers and the
//! user's cookies.
//!
//! The user waits for all of them before its journey goes on, as a person waits for a page. They are requests of their own, counted in
//! one row behind that of the page: to count them as part of the page's request was the alternative, and then nobody could tell a slow
//! page from a slow picture. Each is loaded once for a page; what style sheets and frames name is loaded too, to a depth that
//! ends every circle.
//!
//! Invariant: only servers that the plan names are asked; whatever ends a user ends what it loads.

use std::cell::RefCell;
use std::collections::HashSet;

use engine::protocol::{Encoded, EncodedRef};
use engine::redirect::{Convention, Hop, Hops};
use engine::{Client, End, Request as Outgoing, Transport};
use measure::{Failure, Outcome, Recorder, Status, SuccessRule};
use plan::{Nanos, Target};
use step::resources::{Resource, ResourceKind, Resources};
use step::{Broken, Headers};
use template::{AnswerNeeds, AnswerSink};

use crate::behaviour::{Journeys, destination_of, path_of};
use crate::compiled::{Proof, ResourceLoad};
use crate::order::Role;
use crate::parallel::{Way, all};
use crate::user::User;

/// A frame in a frame in a frame is loaded, and what it names is not: pages that name each other end.
const DEPTH_MAX: u8 = 4;

/// What is still to be loaded behind the answer of a user.
pub(crate) struct Page {
    /// The request of the page, of which the others have their headers, and the place of its step.
    request: Encoded,
    step: usize,
    /// Where the page is.
    place: Target,
    /// The next is the last.
    open: Vec<(Target, ResourceKind, u8)>,
    /// Everything that is loaded, as it is asked for.
    known: HashSet<String>,
    /// Why the journey ends when all are loaded, if it does.
    ends: Option<Failure>,
}

impl Page {
    /// The journey ends when all are loaded, by this.
    pub(crate) fn ends(&mut self, by: Option<Failure>) {
        self.ends = by;
    }

    /// Adds what a page or style sheet at this place names.
    fn add(&mut self, resources: &Resources, place: &Target, depth: u8, mut may_load: impl FnMut(&Target) -> bool) {
        let base = resources.base.as_ref().and_then(|base| place.join(base).ok());
        let base = base.as_ref().unwrap_or(place);
        for Resource { url, kind } in resources.all.iter().rev() {
            // What is no address of a server, such as data:, is loaded by nobody.
            let Ok(target) = base.join(url) else { continue };
            if may_load(&target) && self.known.insert(target.absolute()) {
                self.open.push((target, *kind, depth));
            }
        }
    }
}

impl Journeys {
    /// What is to be loaded behind the answer that the user has, if its step asks for it and the page names anything.
    pub(crate) fn page_of(&self, user: &mut User, sink: &AnswerSink, done: Nanos) -> Option<Box<Page>> {
        self.compiled.steps[user.step].resources.as_ref()?;
        let place = self.place(user).clone().with_path_and_query(path_of(user.sent.as_ref()).to_owned());
        let mut request = user.sent.clone();
        if !matches!(self.compiled.steps[user.step].proof, Proof::None) {
            // It was made for this request alone.
            request.remove("authorization");
        }
        let mut page = Page { request, step: user.step, place: place.clone(), open: Vec::new(), known: HashSet::new(), ends: None };
        page.known.insert(place.absolute());
        self.look_for_more(&mut page, (user, done), sink, (&place, None), 1);
        (!page.open.is_empty()).then(|| Box::new(page))
    }

    /// Whether what a page names is a part of it.
    pub(crate) fn is_part_of(&self, page: &Page) -> bool {
        self.load_of(page.step).are_part
    }

    /// Adds what an answer names, by its media type and by what it was loaded as.
    fn look_for_more(
        &self,
        page: &mut Page,
        (user, done): (&mut User, Nanos),
        sink: &AnswerSink,
        (place, kind): (&Target, Option<ResourceKind>),
        depth: u8,
    ) {
        let media_type = Headers::lines(&sink.headers).named("content-type").next().unwrap_or_default();
        let media_type = String::from_utf8_lossy(media_type).to_ascii_lowercase();
        let is = |part: &str| media_type.contains(part);
        let resources = match kind {
            Some(ResourceKind::Other) => return,
            Some(ResourceKind::Style) | None if is("css") => Resources::of_style(&sink.body),
            _ if is("html") => Resources::of_page(&sink.body),
            _ => return,
        };
        let filter = &self.load_of(page.step).filter;
        let has_cache = self.compiled.steps[page.step].step.cache.is_some();
        let before = if has_cache { page.request.clone() } else { Encoded::default() };
        let may_load = |target: &Target| {
            self.compiled.bounds.hold(target)
                && filter.lets_through(&target.absolute())
                && !(has_cache && self.is_fresh(user, target, before.as_ref(), done))
        };
        page.add(&resources, place, depth, may_load);
    }

    /// Loads what is to be loaded behind the user's last answer; gives why its journey ends with that, if it does.
    pub(crate) async fn load_page<T: Transport>(
        &self,
        user: &mut User,
        client: &mut Client<'_, T>,
        page: Page,
        role: impl Role,
    ) -> Result<Option<Failure>, End> {
        // Whoever sees everything sees one after the other, and a branch does one thing at a time.
        let is_alone = self.compiled.witness.is_some() || user.branch().is_some();
        let lanes = if is_alone { 1 } else { self.load_of(page.step).at_once.min(page.open.len()) };
        client.rest(Nanos::ZERO).await?;
        let mut clients = client.branch(lanes - 1).await;
        let (page, user) = (RefCell::new(page), RefCell::new(user));
        let ways = std::iter::once(&mut *client).chain(&mut clients);
        let ways = ways.map(|client| -> Way<'_> { Box::pin(self.load_resources(&user, client, &page, role)) }).collect();
        let ended = all(ways).await;
        client.join(clients).await;
        ended.map(|()| page.into_inner().ends)
    }

    /// Loads one after the other, as long as there are any that nobody loads.
    async fn load_resources<T: Transport>(
        &self,
        user: &RefCell<&mut User>,
        client: &mut Client<'_, T>,
        page: &RefCell<Page>,
        role: impl Role,
    ) -> Result<(), End> {
        loop {
            // Taken before its turn: a turn that is not used would be missing in the load.
            let next = page.borrow_mut().open.pop();
            let Some(resource) = next else { return Ok(()) };
            client.turn(Nanos::ZERO).await?;
            self.load_resource(user, client, page, resource, role).await?;
        }
    }

    async fn load_resource<T: Transport, R: Role>(
        &self,
        user: &RefCell<&mut User>,
        client: &mut Client<'_, T>,
        page: &RefCell<Page>,
        (mut place, kind, depth): (Target, ResourceKind, u8),
        role: R,
    ) -> Result<(), End> {
        let step = page.borrow().step;
        let request = &self.compiled.steps[step];
        let is_looked_at = kind != ResourceKind::Other;
        let cache = request.step.cache;
        let is_held = request.checks_parts;
        let (headers, body) = (is_looked_at || cache.is_some(), is_looked_at);
        let heard = AnswerNeeds {
            steering: true,
            headers: headers || is_held && request.heard.headers,
            body: body || is_held && request.heard.body,
        };
        let heard = if self.compiled.witness.is_some() { AnswerNeeds::ALL } else { heard };
        let mut sink = self.lend_sink(heard);
        let began = &page.borrow().place.clone();
        // As a browser goes on after 303: with a GET, and with secrets only to the origin of the page.
        let follow = |before: EncodedRef<'_>, from: &Target, to: &Target, user: &mut User| {
            let hop = Hop { convention: Convention::Browser, began, from, to, status: Status(303), method: "GET" };
            let mut next = self.hop_to(&hop, before, step, &user.jar)?;
            if let Some(keeping) = cache {
                Self::asks_there(user, keeping, to, &mut next);
            }
            Some(next)
        };
        let record = |client: &mut Client<'_, T>, outcome: &Outcome, place: &Target, broken: Option<Broken>| {
            client.record_with(outcome, |recorder| {
                role.whole(&mut user.borrow_mut(), |user| self.record_resource(user, step, (place, broken), outcome, recorder));
            });
        };
        let first = role.whole(&mut user.borrow_mut(), |user| follow(page.borrow().request.as_ref(), began, &place, user));
        let Some(mut sent) = first else {
            let outcome = client.refuse(Failure::RequestValue, request.step.timeout);
            record(client, &outcome, &place, None);
            self.take_sink(sink);
            return Ok(());
        };
        client.begin(request.step.timeout);
        let mut watched = client.watched_part(&mut sink);
        let mut outcome = client.exchange(&Outgoing::new(sent.as_ref()).at(Some(&place)), &mut watched).await;
        drop(watched);
        let mut followed = 0;
        let mut broken = None;
        while let Ok(status) = outcome.result {
            role.whole(&mut user.borrow_mut(), |user| {
                if is_held && broken.is_none() {
                    broken = self.broken_of(user, step, (&place, &sent), (status, &sink)).into_iter().next().map(|(_, broken)| broken);
                }
                self.keep_cookies(&mut user.jar, step, (&place, &sent), &sink);
                let name = &self.compiled.steps[self.load_of(step).row].name;
                self.show_exchange(user, name, &sent, &sink, (outcome.result, Some(outcome.response_time())));
            });
            if request.step.redirects == 0 || !Status(status).is_redirect() {
                break;
            }
            let next = destination_of(&place, &sink, Hops { followed, max: request.step.redirects }).and_then(|to| {
                let next = role.whole(&mut user.borrow_mut(), |user| follow(sent.as_ref(), &place, &to, user));
                next.map(|next| (next, to)).ok_or(Failure::RedirectTarget)
            });
            let (next, to) = match next {
                Ok(next) => next,
                Err(failure) => {
                    outcome = client.fail(&outcome, failure, String::new);
                    break;
                }
            };
            if let Err(refused) = client.redirect(&outcome, &to) {
                outcome = refused;
                break;
            }
            (sent, place, followed) = (next, to, followed + 1);
            let mut watched = client.watched_part(&mut sink);
            outcome = client.exchange_more(&outcome, &Outgoing::new(sent.as_ref()).at(Some(&place)), &mut watched).await;
        }
        if R::IS_TEARDOWN && outcome.result == Err(Failure::ClientInterrupted) {
            client.record(&outcome);
            return Err(End::Over);
        }
        if let (Some(cache), Ok(status)) = (cache, outcome.result) {
            role.whole(&mut user.borrow_mut(), |user| Self::keeps(user, (&place, &sent), cache, (status, &sink), outcome.done));
        }
        if outcome.result.is_ok_and(|status| Status(status).is_success()) && depth < DEPTH_MAX {
            let page = &mut page.borrow_mut();
            role.whole(&mut user.borrow_mut(), |user| {
                self.look_for_more(page, (user, outcome.done), &sink, (&place, Some(kind)), depth + 1);
            });
        }
        if let (Some(failure), true) = (failure_of(&outcome, broken.as_ref()), self.load_of(step).are_part) {
            let is_end = request.step.failure_ends.is_some() && failure != Failure::ClientInterrupted;
            let ends = &mut page.borrow_mut().ends;
            *ends = ends.or(is_end.then_some(failure));
            role.whole(&mut user.borrow_mut(), |user| self.note_success(user, false));
        }
        record(client, &outcome, &place, broken);
        self.take_sink(sink);
        Ok(())
    }

    /// What is loaded behind the page of a step that has one.
    fn load_of(&self, step: usize) -> &ResourceLoad {
        self.compiled.steps[step].resources.as_ref().expect("a page is that of a step with resources")
    }

    /// Counts a resource in the row of all that are loaded behind its page.
    fn record_resource(
        &self,
        user: &mut User,
        step: usize,
        (place, broken): (&Target, Option<Broken>),
        outcome: &Outcome,
        recorder: &mut Recorder,
    ) {
        let row = self.load_of(step).row;
        let failure = failure_of(outcome, broken.as_ref());
        let rule = if broken.is_some() { SuccessRule::Failed(Failure::CheckFailed) } else { SuccessRule::ByStatus };
        recorder.record_step(outcome, row, rule);
        if let Some(failure) = failure {
            recorder.step_failed(row, failure, outcome.done, || {
                let status = || outcome.result.map_or_else(|_| String::new(), |status| format!(" was answered with the status {status}"));
                let why = broken.as_ref().filter(|_| outcome.result.is_ok()).map_or_else(status, |broken| format!(": {broken}"));
                format!("{place}{why}")
            });
            user.failed = true;
            self.tell(user, || format!("the resource {place}: {}", failure.about()));
        }
        user.had_answer(outcome, recorder);
    }
}

/// Why a resource was not loaded as it should be, if so.
fn failure_of(outcome: &Outcome, broken: Option<&Broken>) -> Option<Failure> {
    match outcome.result {
        Err(failure) => Some(failure),
        Ok(_) if broken.is_some() => Some(Failure::CheckFailed),
        Ok(status) => (!Status(status).is_success()).then_some(Failure::CheckStatus),
    }
}

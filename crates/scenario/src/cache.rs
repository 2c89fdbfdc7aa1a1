//! What users do with what they know of answers that they have had, where steps have a cache.
//!
//! What is fresh is not asked for: its step is passed over, as if it were not there, and what a page names is not loaded. Whether it is,
//! is found out before the user takes its turn, so that no turn of a load stays unused; so its request is written for that alone, and
//! once more if it is sent after all. Chance is given back then, and the second is the same as the first.

use engine::BehaviourError;
use engine::protocol::{Encoded, EncodedRef, Layout};
use plan::template::Template;
use plan::work::{Cache as Keeping, Step};
use plan::{Nanos, Target};
use step::Headers;
use step::cache::{Asked, Cache};
use template::{AnswerSink, Writing};

use crate::behaviour::{Journeys, now, path_of};
use crate::buffers::{lend, take_back};
use crate::compiled::{Content, Request};
use crate::order::{Halt, Progress};
use crate::parallel::IDLE;
use crate::user::User;

/// After so many steps that were passed over in a row, time passes, and more each time.
const ROUND: u32 = 100;
/// No more than this at once.
const IDLE_MAX: Nanos = Nanos::from_millis(50);
/// So many in a row without an end of the load in sight have none.
const PASSED_OVER_MAX: u32 = 100_000;

/// What is done with what is known of the URL of a step that does not ask by itself whether something has changed.
pub(crate) fn keeping_of(step: &Step, headers: &[(String, Template)]) -> Option<Keeping> {
    let asks_itself = headers.iter().any(|(name, _)| is_mark(&name.to_ascii_lowercase()));
    step.cache.filter(|keeping| asks(*keeping, &step.method) && !asks_itself)
}

/// Whether requests of this method ask whether something has changed.
fn asks(keeping: Keeping, method: &str) -> bool {
    keeping.all_methods || matches!(method, "GET" | "HEAD")
}

/// Whether a header, in small letters, asks whether something has changed.
pub(crate) fn is_mark(name: &str) -> bool {
    matches!(name, "if-none-match" | "if-modified-since")
}

/// A request, as far as what is known of its answer depends on it.
fn asking<'a>(place: &Target, request: EncodedRef<'a>) -> Asked<'a> {
    let head = request.bytes().get(..request.layout().body()).unwrap_or(request.bytes());
    Asked::new(place, path_of(request), Headers::lines(head))
}

/// What a user knows of answers, by the numbers of its caches.
#[derive(Default)]
pub(crate) struct Caches(Vec<(u16, Cache)>);

impl Caches {
    fn numbered(&mut self, number: u16) -> Option<&mut Cache> {
        self.0.iter_mut().find(|(known, _)| *known == number).map(|(_, cache)| cache)
    }

    fn numbered_or_new(&mut self, number: u16) -> &mut Cache {
        let place = self.0.iter().position(|(known, _)| *known == number).unwrap_or_else(|| {
            self.0.push((number, Cache::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

/// The cache of a user by which something is kept, if it knows anything.
fn cache_of(progress: &mut Progress, keeping: Keeping) -> Option<&mut Cache> {
    progress.caches.as_mut()?.numbered(keeping.number)
}

impl Journeys {
    /// Whether the user need not send the request of a step, since it knows the answer.
    #[cold]
    pub(crate) fn is_known(&self, user: &mut User, step: usize) -> bool {
        let at = user.time();
        let request = &self.compiled.steps[step];
        let Some(keeping) = request.cache.filter(|_| !user.is_lost && user.progress().caches.is_some()) else { return false };
        let mut out = lend(&self.lent.texts);
        let random = user.random.clone();
        let mut is_known = self.write_head(user, request, &mut out);
        if is_known {
            let layout = request.layout.with_body(out.len());
            let place = request.elsewhere.as_ref().unwrap_or(&self.compiled.home);
            let written = EncodedRef::new(&out, layout);
            let changed = user.progress().changes.as_ref().and_then(|changes| changes.preview(written));
            let asked = changed.as_ref().map_or(written, Encoded::as_ref);
            is_known = asked.method() == "GET" && self.is_fresh_for(user, keeping, (place, asked), (request.keeps_cookies, at));
        }
        take_back(&self.lent.texts, out);
        if is_known {
            user.progress().changes = None;
        } else {
            user.random = random;
        }
        is_known
    }

    /// Writes the head of a request, but for what depends on the user's cookies or on the whole of it; `false` if it cannot be sent.
    fn write_head(&self, user: &mut User, request: &Request, out: &mut Vec<u8>) -> bool {
        let (mut scratch, mut is_unsafe) = (Vec::new(), false);
        let number = self.next_request();
        let User { random, rows, variables, .. } = user;
        let writing = Writing::new(number, random, rows, variables, &mut scratch, &mut is_unsafe);
        let body = if let Content::Fixed(bytes) = &request.body { bytes } else { &b""[..] };
        request.head.write(out, &mut writing.with_body(body));
        !is_unsafe
    }

    /// The user has passed over a step; whether it waits until time has passed, since it has passed over so many.
    ///
    /// # Errors
    /// If it would go on so for ever.
    pub(crate) fn passes_over(&self, user: &mut User) -> Result<bool, BehaviourError> {
        let passed_over = &mut user.progress().passed_over;
        *passed_over += 1;
        if *passed_over > PASSED_OVER_MAX && !self.ends_by_itself() {
            return Err(BehaviourError::new(
                format!(
                    "the journey '{}' sends nothing any more: everything that it asks for is fresh in the user's cache, and the load has no other end than its requests",
                    self.compiled.journeys[user.journey].name
                ),
                "give the load a duration, or these steps cache: {always_ask: true}",
            ));
        }
        let is_idle = passed_over.is_multiple_of(ROUND);
        if is_idle {
            let idle = Nanos(IDLE.0 * u64::from(*passed_over / ROUND)).min(IDLE_MAX);
            user.pause = user.pause.max(idle);
            user.halts(Halt::Nothing);
        }
        Ok(is_idle)
    }

    /// Whether the user knows what a redirect of its request leads to, so that it is not followed.
    #[cold]
    pub(crate) fn is_known_at(&self, user: &mut User, to: &Target, next: &Encoded) -> bool {
        let at = user.time();
        let request = &self.compiled.steps[user.step];
        let Some(keeping) = request.cache else { return false };
        next.as_ref().method() == "GET" && self.is_fresh_for(user, keeping, (to, next.as_ref()), (request.keeps_cookies, at))
    }

    /// Whether the user knows this that a page names, by the request of the page.
    pub(crate) fn is_fresh(&self, user: &mut User, target: &Target, page: EncodedRef<'_>, at: Nanos) -> bool {
        let Some(keeping) = self.compiled.steps[user.step].step.cache else { return false };
        let Some(cache) = user.progress.as_mut().and_then(|progress| cache_of(progress, keeping)) else { return false };
        let head = page.bytes().get(..page.layout().body()).unwrap_or_default();
        let has_cookies = self.compiled.steps[user.step].keeps_cookies && !user.jar.is_empty();
        cache.is_fresh(&Asked::new(target, target.path_and_query(), Headers::lines(head)), has_cookies, at)
    }

    fn is_fresh_for(
        &self,
        user: &mut User,
        keeping: Keeping,
        (place, request): (&Target, EncodedRef<'_>),
        (keeps_cookies, at): (bool, Nanos),
    ) -> bool {
        let has_cookies = keeps_cookies && !user.jar.is_empty();
        cache_of(user.progress(), keeping).is_some_and(|cache| cache.is_fresh(&asking(place, request), has_cookies, at))
    }

    /// Writes what asks whether something has changed behind the head of a request so far.
    #[cold]
    pub(crate) fn write_marks(
        progress: &mut Option<Box<Progress>>,
        keeping: Keeping,
        (place, layout): (&Target, Layout),
        out: &mut Vec<u8>,
    ) {
        let Some(progress) = progress else { return };
        progress.passed_over = 0;
        let Some(cache) = cache_of(progress, keeping) else { return };
        let mut lines = Vec::new();
        cache.write(&asking(place, EncodedRef::new(out, layout.with_body(out.len()))), &mut lines);
        out.extend_from_slice(&lines);
    }

    /// The user's request, which is written, asks whether what it knows has changed.
    #[cold]
    pub(crate) fn asks_for_changes(&self, user: &mut User) {
        let keeping = self.compiled.steps[user.step].cache;
        let Some(keeping) = keeping.filter(|keeping| asks(*keeping, user.sent.as_ref().method())) else { return };
        let place = self.place(user).clone();
        let mut sent = std::mem::take(&mut user.sent);
        Self::asks_there(user, keeping, &place, &mut sent);
        user.sent = sent;
    }

    /// The same of a request of the user to this place.
    pub(crate) fn asks_there(user: &mut User, keeping: Keeping, place: &Target, sent: &mut Encoded) {
        let Some(cache) = user.progress.as_mut().and_then(|progress| cache_of(progress, keeping)) else { return };
        let mut lines = Vec::new();
        cache.write(&asking(place, sent.as_ref()), &mut lines);
        if !lines.is_empty() {
            sent.insert(&lines);
        }
    }

    /// The user keeps the answer to its request in mind.
    #[cold]
    pub(crate) fn keeps_in_mind(&self, user: &mut User, keeping: Keeping, status: u16, sink: &AnswerSink, done: Nanos) {
        let sent = std::mem::take(&mut user.sent);
        let place = self.place(user).clone();
        Self::keeps(user, (&place, &sent), keeping, (status, sink), done);
        user.sent = sent;
    }

    /// The user keeps the answer to this request in mind.
    pub(crate) fn keeps(
        user: &mut User,
        (place, sent): (&Target, &Encoded),
        keeping: Keeping,
        (status, sink): (u16, &AnswerSink),
        done: Nanos,
    ) {
        let progress = user.progress();
        progress.passed_over = 0;
        if sent.as_ref().method() == "GET" {
            let answer = (status, Headers::lines(&sink.headers));
            progress.caches.get_or_insert_default().numbered_or_new(keeping.number).take(
                &asking(place, sent.as_ref()),
                answer,
                keeping,
                (done, now()),
            );
        }
    }
}

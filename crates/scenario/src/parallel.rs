//! Branches of a journey: what one user does at the same time, as a browser loads several parts of a page.
//!
//! Each branch is gone through by a user of its own, over a Lane of its own, in the same task: the user waits for all of them, and none
//! outlives it. What a person has once is there once (cookies, a row of data, what is done once): each branch has it while it does
//! something, and between its requests the others do. Variables are each branch's own, so that nobody sees a value that another one
//! may or may not have set yet; behind the branches they are put together in the order of the file. Tasks of their own were the
//! alternative: they would need a lock or a cell around every user of every journey.
//!
//! Invariant: behind the branches the user is what it was before them, with all that they did; in whatever way they ended.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use engine::{Client, End, Transport};
use measure::{Begun, JourneyEnd};
use plan::{Nanos, Random};

use crate::behaviour::Journeys;
use crate::compiled::Op;
use crate::order::{Common, InBranch, Passage, Role as _};
use crate::user::User;

/// Branches that send nothing take this long, so that a loop of them does not hold up everybody.
pub(crate) const IDLE: Nanos = Nanos::from_millis(1);

/// A user on its way through branches.
pub(crate) type Way<'a> = Pin<Box<dyn Future<Output = Result<(), End>> + 'a>>;

/// The branches of one user that are under way.
struct Fork<'a> {
    /// Where each begins.
    starts: &'a [usize],
    /// The one that is begun next.
    next: Cell<usize>,
    /// Whose they are.
    user: &'a User,
    common: RefCell<Common>,
    /// Of everything drawn in them.
    chance: u64,
}

impl Journeys {
    /// Goes through the branches that the user stands behind the instruction of, and tells whether its journey goes on.
    pub(crate) async fn go_parallel<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>) -> Result<bool, End> {
        let Op::Parallel { starts, at_once, end } = &self.compiled.journeys[user.journey].ops[user.at - 1] else {
            unreachable!("a user comes here from such an instruction")
        };
        // Whoever sees everything sees one after the other.
        let lanes = if self.compiled.witness.is_some() { 1 } else { *at_once };
        let since = client.due();
        client.rest(std::mem::take(&mut user.pause)).await?;
        let mut clients = client.branch(lanes - 1).await;
        let mut users = std::mem::take(&mut user.progress().branches);
        users.resize_with(users.len().max(lanes), || self.user_of_branches());
        users.iter_mut().for_each(User::becomes_branch);
        let (mut common, chance) = (Common::default(), user.random.bits());
        common.swap(user);
        let fork = Fork { starts, next: Cell::new(0), user, common: RefCell::new(common), chance };
        let lanes = std::iter::once(&mut *client).chain(&mut clients).zip(&mut users);
        let mut ways: Vec<Way<'_>> = Vec::new();
        for (client, user) in lanes {
            ways.push(Box::pin(self.go_branches(&fork, client, user)));
        }
        let ended = all(ways).await;
        let Fork { common, .. } = fork;
        common.into_inner().swap(user);
        client.join(clients).await;
        let (passage, broke_off) = user.takes_up(&mut users, client.due());
        user.progress().branches = users;
        user.at = *end;
        match passage {
            Some(passage) => {
                (user.set_out, user.is_fresh) = (true, false);
                user.failed |= passage.failed;
                client.count(|recorder| {
                    if user.began.is_none() {
                        user.began = Some(recorder.journey_began(user.journey, passage.due));
                    }
                    user.had(&passage, recorder);
                    if let Some((done, failure)) = broke_off {
                        user.break_transactions(failure, recorder);
                        self.over(user, done, JourneyEnd::BrokeOff(failure), recorder);
                    }
                });
            }
            None => {
                user.has_waited(since, client.due());
                user.pause = user.pause.max(IDLE);
            }
        }
        match ended {
            Err(End::Over) if broke_off.is_some() => Ok(false),
            ended => ended.map(|()| broke_off.is_none()),
        }
    }

    /// Goes through one branch after the other, as long as there are any that nobody has begun.
    async fn go_branches<T: Transport>(&self, fork: &Fork<'_>, client: &mut Client<'_, T>, user: &mut User) -> Result<(), End> {
        while fork.next.get() < fork.starts.len() {
            client.rest(std::mem::take(&mut user.pause)).await?;
            let number = fork.next.replace(fork.next.get() + 1);
            let Some(start) = fork.starts.get(number) else { break };
            user.begins_branch(fork.user, *start, client.due());
            user.random = Random::new(fork.chance, number as u64);
            let gone = self.go_branch(fork, client, user).await;
            if matches!(gone, Err(End::Broken(_))) {
                // The others end with what they have sent.
                client.stop();
            }
            user.ends_branch(number, fork.user, client.due());
            gone?;
        }
        Ok(())
    }

    /// Goes through the branch that the user is at the beginning of.
    async fn go_branch<T: Transport>(&self, fork: &Fork<'_>, client: &mut Client<'_, T>, user: &mut User) -> Result<(), End> {
        let role = InBranch(&fork.common);
        role.whole(user, |user| self.advance(user))?;
        if !user.travels {
            return Ok(());
        }
        self.travel(user, client, role).await?;
        // One that was given up with the run is not over.
        if user.branch().is_some_and(|branch| branch.is_over) { Ok(()) } else { Err(End::Over) }
    }

    fn user_of_branches(&self) -> User {
        let mut user = User::new(0, 0, self.compiled.variables_count, 0, self.compiled.loops);
        user.progress = self.compiled.order.progress();
        user
    }
}

impl User {
    /// Sets out on a branch of another user.
    fn begins_branch(&mut self, other: &Self, start: usize, now: Nanos) {
        self.sets_out();
        self.variables.clone_from(&other.variables);
        (self.number, self.begun, self.journey, self.at) = (other.number, other.begun, other.journey, start);
        // The journey is the other's.
        (self.began, self.failed, self.is_lost) = (Some(Begun::Before), false, false);
        let progress = self.progress();
        progress.time = now;
        if let Some(other) = &other.progress {
            progress.paces.clone_from(&other.paces);
        }
        if let Some(branch) = self.branch() {
            branch.is_over = false;
            branch.assigned.clear();
        }
    }

    /// Leaves what it has done on a branch of another user.
    fn ends_branch(&mut self, number: usize, other: &Self, now: Nanos) {
        let rests_until = now.plus(self.pause);
        let variables = std::mem::take(&mut self.variables);
        let paces = std::mem::take(&mut self.progress().paces);
        if let Some(branch) = self.branch() {
            branch.rests_until = rests_until;
            branch.values.extend(branch.assigned.drain(..).map(|place| (number, place, variables[place].clone())));
            let before = other.progress.iter().flat_map(|progress| &progress.paces);
            branch
                .paces
                .extend(paces.iter().copied().enumerate().zip(before).filter(|((_, now), before)| now != *before).map(|(now, _)| now));
        }
        self.variables = variables;
        self.progress().paces = paces;
    }

    /// Takes up what its branches have done: their requests as one, and what broke one of them off first.
    fn takes_up(&mut self, users: &mut [Self], now: Nanos) -> (Option<Passage>, Option<(Nanos, measure::Failure)>) {
        let (mut passage, mut broke_off, mut values, mut rests_until) = (None::<Passage>, None, Vec::new(), now);
        if users.iter().any(Self::is_leaving) {
            // One of them has ended more than its branch.
            self.leaves();
        }
        for branch in users.iter_mut().filter_map(Self::branch) {
            values.append(&mut branch.values);
            rests_until = rests_until.max(branch.rests_until);
            broke_off = [broke_off, branch.broke_off].into_iter().flatten().min_by_key(|(at, _)| *at);
            for (place, pace) in branch.paces.drain(..) {
                self.progress().paces[place] = pace;
            }
            let Some(other) = branch.passage else { continue };
            passage = Some(passage.map_or(other, |passage| Passage {
                due: passage.due.min(other.due),
                done: passage.done.max(other.done),
                took: passage.took.max(other.took),
                failed: passage.failed || other.failed,
                sums: passage.sums_with(&other),
            }));
        }
        // Of several that set the same variable, the last in the file.
        values.sort_by_key(|(number, ..)| *number);
        for (_, place, value) in values {
            self.variables[place] = value;
        }
        self.pause = rests_until.since(now);
        (passage, broke_off)
    }
}

/// Drives all of them to their ends; what came of them: the worst.
pub(crate) async fn all(mut ways: Vec<Way<'_>>) -> Result<(), End> {
    let mut ended = Ok(());
    poll_fn(|cx| {
        ways.retain_mut(|way| match way.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(how) => {
                if !matches!(ended, Err(End::Broken(_))) && how.is_err() {
                    ended = how;
                }
                false
            }
        });
        if ways.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    ended
}

//! How much is sent, and when: users, rates, amounts and lengths, of one load or of several side by side.

use std::num::{NonZeroU32, NonZeroU64};

use crate::plan::{CONNECTIONS_DEFAULT, CONNECTIONS_MAX, DURATION_DEFAULT, OPEN_CONNECTIONS_MAX, POPULATIONS_MAX, RATE_MAX};
use crate::reading::Reading;
use crate::setting::{ARRIVALS, CONNECTIONS, DURATION, PAUSE, RATE, REQUESTS, SettingName, WARMUP};
use crate::{
    Amount, Load, Nanos, Population, PopulationDraft, Setting, Spacing, Spelling, Stages, Timetable, Users, Warmup, Wording, population,
};

pub(crate) struct Ending {
    pub(crate) duration: Option<Setting<Nanos>>,
    pub(crate) requests: Option<Setting<NonZeroU64>>,
}

pub(crate) struct LoadWords {
    pub(crate) connections: Option<Setting<Users>>,
    pub(crate) rate: Option<Setting<Timetable>>,
    pub(crate) arrivals: Option<Setting<Spacing>>,
    pub(crate) pause: Option<Setting<crate::Pause>>,
    pub(crate) warmup: Option<Setting<Warmup>>,
}

pub(crate) type Loaded = (Option<Load>, Option<Nanos>, Option<NonZeroU64>, Warmup);

pub(crate) fn read_load(r: &mut Reading, ending: Ending, words: LoadWords) -> Loaded {
    let before = r.errors.0.len();
    let is_course = matches!(&words.connections, Some(Setting::Wrong { text, .. }) if text.contains([' ', ',']));
    let help = if is_course {
        format!("give a number, or stages: {CONNECTIONS:#} '0 to 50 for 1m, 50 for 5m'")
    } else {
        format!("give at least one, such as {CONNECTIONS:#} 50")
    };
    let connections = r.value(CONNECTIONS, words.connections, help);
    if let Some(connections) = connections.as_ref().filter(|connections| connections.peak() > CONNECTIONS_MAX) {
        r.wrong(
            CONNECTIONS,
            format!("{CONNECTIONS:#} {connections} is more than any machine can open"),
            format!("give at most {CONNECTIONS_MAX}"),
        );
    }
    let duration = r.value(DURATION, ending.duration, format_args!("give a time, such as {DURATION:#} 30s"));
    if duration == Some(Nanos::ZERO) {
        r.wrong(DURATION, format!("{DURATION:#} 0s measures nothing"), format!("give a time, such as {DURATION:#} 30s"));
    }
    let requests = r.value(REQUESTS, ending.requests, format_args!("give at least one, such as {REQUESTS:#} 1000"));
    let rate = r.value(
        RATE,
        words.rate,
        format_args!("give a rate such as {RATE:#} 500/s, or stages: {RATE:#} '0/s to 500/s for 1m, 500/s for 5m'"),
    );
    let arrivals = r.value(ARRIVALS, words.arrivals, format_args!("give {ARRIVALS:#} poisson or {ARRIVALS:#} even"));
    let pause = r.value(PAUSE, words.pause, format_args!("give a time or a range, such as {PAUSE:#} 200ms or {PAUSE:#} 100ms..300ms"));
    let warmup = r
        .value(WARMUP, words.warmup, format_args!("give a time, such as {WARMUP:#} 5s, or {WARMUP:#} auto"))
        .unwrap_or(Warmup::Lasting(Nanos::ZERO));
    if let Some(timetable) = &rate {
        if let Some(pause) = pause {
            r.wrong(
                PAUSE,
                format!("{PAUSE:#} {pause} is between a user's requests, and {RATE} sends whether users wait or not"),
                format!("leave out {PAUSE} or {RATE}"),
            );
        }
        if timetable.peak().as_per_second() == 0.0 {
            r.wrong(RATE, format!("{RATE:#} {timetable} sends nothing"), format!("give a rate above 0, such as {RATE:#} 100/s"));
        }
        if timetable.peak().as_per_second() > RATE_MAX {
            r.wrong(RATE, format!("{RATE:#} {timetable} is more than any machine can send"), "give at most 100M/s");
        }
    }
    if r.errors.0.len() > before {
        return (None, None, None, warmup);
    }

    let connections = match connections {
        Some(users) if users.peak() == 0 => {
            r.wrong(
                CONNECTIONS,
                format!("{CONNECTIONS:#} {users} sends nothing"),
                format!("give a number above 0, such as {CONNECTIONS:#} 50"),
            );
            return (None, None, None, warmup);
        }
        Some(users) if rate.is_some() && !users.is_one_number() => {
            let why = format!("{CONNECTIONS:#} {users} is about users who wait for their answers, and a rate sends without any");
            r.wrong(CONNECTIONS, why, format!("give the most connections at once, such as {CONNECTIONS:#} 200, or leave the rate out"));
            return (None, None, None, warmup);
        }
        connections => connections,
    };
    let Some(timetable) = rate else {
        if let Some(arrivals) = arrivals {
            r.wrong(
                ARRIVALS,
                format!("{ARRIVALS:#} {arrivals} is given without a rate"),
                format!("give the rate with {RATE}, or leave {ARRIVALS} out"),
            );
        }
        let users = connections.unwrap_or_else(|| {
            let by_requests = requests.map_or(u64::MAX, NonZeroU64::get);
            NonZeroU32::new(u32::try_from(by_requests).unwrap_or(u32::MAX))
                .map_or(CONNECTIONS_DEFAULT, |most| most.min(CONNECTIONS_DEFAULT))
                .into()
        });
        if let Some(requests) = requests.filter(|requests| requests.get() < u64::from(users.peak()) && users.is_one_number()) {
            r.wrong(
                REQUESTS,
                format!("{REQUESTS:#} {requests} is fewer than {CONNECTIONS:#} {users}, so some connections would never send"),
                format!("give at least {REQUESTS:#} {users}, or at most {CONNECTIONS:#} {requests}"),
            );
        }
        if users.is_one_number() {
            let duration = duration.or(if requests.is_none() { Some(DURATION_DEFAULT) } else { None });
            return (Some(Load::Closed { users, pause }), duration, requests, warmup);
        }
        let (users, duration) = fit_stages(r, CONNECTIONS, users, duration, requests.is_some());
        look_at_warmup(r, CONNECTIONS, ("number", "0"), &users, warmup);
        return (Some(Load::Closed { users, pause }), duration, requests, warmup);
    };

    let (timetable, duration) = fit_stages(r, RATE, timetable, duration, requests.is_some());
    look_at_warmup(r, RATE, ("rate", "0/s"), &timetable, warmup);
    let load = Load::Open {
        timetable,
        spacing: arrivals.unwrap_or(Spacing::Poisson),
        connections_max: connections.map_or(OPEN_CONNECTIONS_MAX, |connections| connections.most()),
    };
    (Some(load), duration, requests, warmup)
}

/// Loads side by side. One that says neither how long it is there nor how long its stages take is there until the end of the run.
pub(crate) fn read_populations(r: &mut Reading, ending: Ending, words: LoadWords, drafts: Vec<PopulationDraft>) -> Loaded {
    let before = r.errors.0.len();
    for (given, flag) in [(words.arrivals.is_some(), ARRIVALS), (words.pause.is_some(), PAUSE), (ending.requests.is_some(), REQUESTS)] {
        if given {
            r.wrong(
                flag,
                format!("{flag} and the populations of the scenario contradict: each population has a load of its own"),
                format!("leave {flag} out, or change the populations in the scenario"),
            );
        }
    }
    if drafts.len() > POPULATIONS_MAX {
        let why = format!("the scenario has {} populations, and each has threads of its own", drafts.len());
        r.wrong("populations", why, format!("give at most {POPULATIONS_MAX}"));
    }
    let warmup = r
        .value(WARMUP, words.warmup, format_args!("give a time, such as {WARMUP:#} 5s, or {WARMUP:#} auto"))
        .unwrap_or(Warmup::Lasting(Nanos::ZERO));
    let whole = r.value(DURATION, ending.duration, format_args!("give a time, such as {DURATION:#} 30s"));
    let time = |r: &mut Reading, name: &str, key: &str, given: Option<Setting<Nanos>>| match given {
        Some(Setting::Value(time)) => Some(time),
        Some(Setting::Wrong { text, why }) => {
            r.wrong("populations", format!("population '{name}': {key} '{text}' {why}"), "give a time, such as 30s");
            None
        }
        None => None,
    };
    let mut timed = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let start_after = time(r, &draft.name, "start_after", draft.start_after.clone()).unwrap_or(Nanos::ZERO);
        let lasting = time(r, &draft.name, "duration", draft.duration.clone());
        let of_stages = match (&draft.rate, &draft.connections) {
            (Some(Setting::Value(rate)), _) => rate.length(),
            (None, Some(Setting::Value(users))) => users.length(),
            _ => None,
        };
        let own_end = lasting.or(of_stages).map(|lasting| start_after.plus(lasting));
        timed.push((draft, start_after, own_end));
    }
    let last_start = timed.iter().map(|(_, start_after, _)| *start_after).max().unwrap_or(Nanos::ZERO);
    let last_end = timed.iter().filter_map(|(_, _, end)| *end).max();
    let is_endless = timed.iter().any(|(_, _, end)| end.is_none());
    let run = match (whole, last_end) {
        (Some(whole), Some(last)) if whole > last && !is_endless => {
            r.wrong(
                DURATION,
                format!("the last population ends after {last}, but {DURATION} says {whole}"),
                format!("leave {DURATION} out, or leave a population's duration out to let it last to the end"),
            );
            last
        }
        (Some(whole), _) => whole,
        (None, Some(last)) if last > last_start => last,
        (None, _) => last_start.plus(DURATION_DEFAULT),
    };
    let mut populations: Vec<Population> = Vec::with_capacity(timed.len());
    for (draft, start_after, own_end) in timed {
        let PopulationDraft { name, journeys, connections, rate, arrivals, pause, requests, start_after: _, duration: _, .. } = draft;
        if populations.iter().any(|other| other.name == name) {
            r.wrong("populations", format!("two populations are called '{name}'"), "give each a name of its own");
        }
        if start_after >= run {
            let why = format!("population '{name}' begins after {start_after}, and the run ends after {run}");
            r.wrong("populations", why, "let it begin earlier, or the run last longer");
            continue;
        }
        let lasting = own_end.unwrap_or(run).min(run).since(start_after);
        let (noted, keys) = (r.errors.0.len(), if rate.is_some() { Spelling::KEYS } else { Spelling::KEYS_OF_USERS });
        let ending = Ending { duration: Some(Setting::Value(lasting)), requests };
        let (load, _, requests, _) = read_load(r, ending, LoadWords { connections, rate, arrivals, pause, warmup: None });
        for error in &mut r.errors.0[noted..] {
            error.message = Wording::from(error.message.spelt(keys)).under(&format!("population '{name}'"));
            error.help = error.help.spelt(keys).into();
        }
        let [iterations, iterations_per_user] =
            [("iterations", draft.iterations), ("iterations_per_user", draft.iterations_per_user)].map(|(key, number)| match number {
                Some(Setting::Wrong { text, why }) => {
                    r.wrong("populations", format!("population '{name}': {key} '{text}' {why}"), "give at least one, such as 100");
                    None
                }
                Some(Setting::Value(number)) => Some(number),
                None => None,
            });
        let Some(load) = load else { continue };
        if let (Load::Closed { users, .. }, Some(iterations)) = (&load, iterations)
            && iterations.get() < u64::from(users.peak())
            && users.is_one_number()
        {
            let why =
                format!("population '{name}': iterations {iterations} is fewer than users {users}, so some would never begin a journey");
            r.wrong("populations", why, format!("give at least {users} iterations, or at most {iterations} users"));
        }
        if iterations_per_user.is_some() && load.is_open() {
            let why = format!("population '{name}': iterations_per_user and rate contradict: a user of a rate comes for one journey");
            r.wrong("populations", why, "give iterations, which are all its users' together");
        }
        if let Some(after) = &draft.after {
            follows(r, (&name, &load), populations.iter().find(|other| other.name == *after), (after, run));
        }
        let after = draft.after;
        populations.push(Population {
            name,
            journeys,
            load,
            requests,
            iterations,
            iterations_per_user,
            after,
            start_after,
            duration: lasting,
        });
    }
    if warmup == Warmup::Found
        && let Some(changing) = populations.iter().find(|population| !population.is_constant(run))
    {
        r.wrong(
            WARMUP,
            format!("{WARMUP:#} auto looks for where the run becomes steady, and population '{}' changes over time", changing.name),
            format!("give a time, such as {WARMUP:#} 10s"),
        );
    }
    let users = r.value(CONNECTIONS, words.connections, format_args!("give a number, such as {CONNECTIONS:#} 50"));
    let rate = r.value(RATE, words.rate, format_args!("give a rate such as {RATE:#} 500/s"));
    if let (Some(users), Some(_)) = (&users, &rate) {
        let why = format!("{CONNECTIONS:#} {users} and {RATE} contradict: either makes all populations of the scenario larger or smaller");
        r.wrong(CONNECTIONS, why, "leave one of them out; the most connections at once stand in each population");
    }
    if r.errors.0.len() == before {
        match population::scale(&mut populations, users.as_ref(), rate.as_ref()) {
            Ok(()) => look_at_sums(r, &populations),
            Err(error) => r.errors.push(error),
        }
    }
    let is_right = r.errors.0.len() == before;
    (is_right.then_some(Load::Mixed(populations)), Some(run), None, warmup)
}

/// Complains of a population that is to begin when the users of another have gone, and cannot.
fn follows(r: &mut Reading, (name, load): (&str, &Load), before: Option<&Population>, (after, run): (&str, Nanos)) {
    let Some(before) = before else {
        let why = format!("population '{name}' begins after '{after}', and no population before it is called so");
        return r.wrong("populations", why, "name one that stands before it");
    };
    if load.is_open() || before.load.is_open() {
        let why = format!("population '{name}' begins after '{after}', and users of a rate come at their times");
        return r.wrong("populations", why, "give both of them users, or write start_after: with a time");
    }
    let ends = before.requests.or(before.iterations).or(before.iterations_per_user).is_some() || before.end() < run;
    if !ends {
        let why = format!("population '{name}' begins after '{after}', whose users stay to the end of the run");
        r.wrong("populations", why, format!("give '{after}' an end, such as iterations_per_user: 10"));
    }
}

/// Complains of populations that are too much together.
fn look_at_sums(r: &mut Reading, populations: &[Population]) {
    let (mut users, mut rate) = (0_u64, 0.0);
    for population in populations {
        match &population.load {
            Load::Closed { users: own, .. } => users += u64::from(own.peak()),
            Load::Open { timetable, .. } => rate += timetable.peak().as_per_second(),
            Load::Mixed(_) => {}
        }
    }
    if users > u64::from(CONNECTIONS_MAX) {
        let why = format!("the populations have {users} users in all, more than any machine can open connections for");
        r.wrong(CONNECTIONS, why, format!("give at most {CONNECTIONS_MAX} in all"));
    }
    if rate > RATE_MAX {
        r.wrong(RATE, format!("the populations have {rate}/s in all, more than any machine can send"), "give at most 100M/s in all");
    }
}

/// Complains of a warm-up that stages do not allow. `words` are what one value is called, and the value of nothing.
fn look_at_warmup<V: Amount>(r: &mut Reading, setting: SettingName, words: (&str, &str), stages: &Stages<V>, warmup: Warmup) {
    let (noun, zero) = words;
    if warmup == Warmup::Found && !stages.is_constant() {
        r.wrong(
            WARMUP,
            format!("{WARMUP:#} auto looks for where the run becomes steady, and the stages of {setting} never are"),
            format!("give a time, such as {WARMUP:#} 10s, or one {noun}"),
        );
    }
    if matches!(warmup, Warmup::Lasting(time) if time > Nanos::ZERO) && stages.at(Nanos::ZERO).number() == 0.0 {
        r.wrong(
            WARMUP,
            format!("{WARMUP:#} {warmup} runs at the first {noun} of {setting}, which is {zero}"),
            format!("leave {WARMUP} out: a ramp from {zero} warms up by itself"),
        );
    }
}

/// Brings the stages' lengths and the duration together: stages with lengths are the duration.
fn fit_stages<V: Amount>(
    r: &mut Reading,
    setting: SettingName,
    timetable: Stages<V>,
    duration: Option<Nanos>,
    counted: bool,
) -> (Stages<V>, Option<Nanos>) {
    if let Some(zero) = timetable.stages().iter().position(|stage| stage.length == Some(Nanos::ZERO)) {
        r.wrong(setting, format!("{setting} stage {} takes no time", zero + 1), "give it a length, or leave it out");
    }
    if let Some(length) = timetable.length() {
        return match duration {
            Some(shorter) if shorter < length => (timetable.until(shorter), Some(shorter)),
            Some(longer) if longer > length => {
                r.wrong(
                    DURATION,
                    format!("the stages of {setting} take {length}, but {DURATION} says {longer}"),
                    format!("leave {DURATION} out, or leave out the last stage's length to let it last for the rest"),
                );
                (timetable, Some(length))
            }
            _ => (timetable, Some(length)),
        };
    }
    let fixed = timetable.stages().iter().filter_map(|stage| stage.length).fold(Nanos::ZERO, Nanos::plus);
    let total = duration.or(if counted { None } else { Some(fixed.plus(DURATION_DEFAULT)) });
    let rest = total.map_or(Nanos::NEVER, |total| total.since(fixed));
    let mut stages = timetable.stages().to_vec();
    let last = stages.last_mut().expect("a timetable has a stage");
    if rest == Nanos::ZERO {
        r.wrong(
            DURATION,
            format!(
                "the first stages of {setting} take {fixed}, so nothing of {DURATION:#} {} is left for the last",
                total.unwrap_or_default()
            ),
            format!("give a longer {DURATION}"),
        );
    } else if last.from != last.to && total.is_none() {
        let why = format!("{setting} goes from {} to {} without saying how long", last.from, last.to);
        r.wrong(setting, why, "add its length, as in 'for 1m'");
    }
    last.length = Some(rest);
    (Stages::new(stages), total)
}

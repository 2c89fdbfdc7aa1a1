//! How many users a group of a test plan has, and when, as the load of a population.
//!
//! Threads of JMeter's own group come during a ramp; those of plugins come and go in steps, in slopes that lie over each other, or as
//! arrivals at a rate. Each kind could have become stages by itself, with its own mistakes at every edge. But all of them are sums of ramps,
//! so they are written as ramps, and stages are made of these in one place.
//!
//! Formats: JMeter's `ThreadGroup` and `OpenModelThreadGroup` (5.6.3), and the groups of jmeter-plugins (casutg 2.10).

use std::num::NonZeroU64;

use plan::{Amount, Nanos, PopulationDraft, Setting, Stages};

use super::Reading;
use super::text::Names;
use super::tree::{Element, Property, text_of, truth};

/// No group has more.
const USERS_MAX: f64 = 1_000_000.0;
/// Stages that nobody reads any more.
const STAGES_MAX: usize = 1000;

/// When the users of a group are there.
#[derive(Debug, Default)]
pub(super) struct GroupLoad {
    /// So many at most.
    pub(super) users: u64,
    /// How often each goes through the group; `None`: until its end.
    pub(super) loops: Option<u64>,
    /// Whether it says when it ends.
    pub(super) is_timed: bool,
    /// Its users or arrivals, without a name.
    pub(super) draft: PopulationDraft,
    /// What of it is otherwise.
    pub(super) told: Vec<String>,
}

impl GroupLoad {
    /// That of so many servers, each of which has this one.
    fn times(mut self, servers: u32) -> Self {
        let factor = f64::from(servers);
        self.users *= u64::from(servers);
        if let Some(Setting::Value(users)) = &mut self.draft.connections {
            *users = users.scaled(factor, 0.0);
        }
        if let Some(Setting::Value(rate)) = &mut self.draft.rate {
            *rate = rate.scaled(factor, 0.0);
        }
        self
    }

    /// The same of a test that ends then.
    pub(super) fn ends_at(&mut self, end: Nanos) {
        let draft = &mut self.draft;
        let begin = if let Some(Setting::Value(begin)) = draft.start_after { begin } else { Nanos::ZERO };
        let left = end.since(begin).max(Nanos::from_millis(1));
        let has_end = is_cut(&mut draft.connections, left) | is_cut(&mut draft.rate, left);
        draft.duration = match &draft.duration {
            Some(Setting::Value(lasting)) => Some(Setting::Value(left.min(*lasting))),
            None if !has_end => Some(Setting::Value(left)),
            other => other.clone(),
        };
        self.is_timed = true;
    }
}

/// Whether stages have an end, which is then no later than this.
fn is_cut<V: Amount>(stages: &mut Option<Setting<Stages<V>>>, left: Nanos) -> bool {
    match stages {
        Some(Setting::Value(stages)) if stages.length().is_some() => {
            *stages = stages.until(left);
            true
        }
        _ => false,
    }
}

/// When a group ends that the next one waits for.
#[derive(Debug, Default)]
pub(super) enum Order {
    /// There is none before it.
    #[default]
    First,
    /// When all users of this population have gone.
    WithUsers(String),
    /// At this time of the load.
    At(Nanos),
    /// Not by itself.
    Never,
}

impl Order {
    /// Lets the load of a group, as a population of this name, begin behind the one before it.
    ///
    /// # Errors
    /// In words, if it cannot.
    pub(super) fn follow(&mut self, name: &str, load: &mut GroupLoad) -> Result<(), &'static str> {
        let draft = &mut load.draft;
        let start_after = if let Some(Setting::Value(time)) = draft.start_after { time } else { Nanos::ZERO };
        let mut begin = start_after;
        match self {
            Self::First => {}
            Self::Never => return Err("the group before it has no end, so that it never begins; nothing in it is sent"),
            Self::WithUsers(_) if load.is_timed || start_after > Nanos::ZERO || draft.rate.is_some() => {
                return Err(
                    "it begins when the threads of the group before it are through, and its times count from the start of the load; nothing in it is sent",
                );
            }
            Self::WithUsers(before) => draft.after = Some(before.clone()),
            Self::At(end) => {
                begin = begin.plus(*end);
                draft.start_after = Some(Setting::Value(begin));
            }
        }
        let lasting = match (&draft.duration, &draft.connections, &draft.rate) {
            (Some(Setting::Value(duration)), ..) => Some(*duration),
            (_, _, Some(Setting::Value(rate))) => rate.length(),
            (_, Some(Setting::Value(users)), None) => users.length(),
            _ => None,
        };
        *self = match (load.loops, lasting) {
            (Some(_), _) if draft.rate.is_none() => Self::WithUsers(name.to_owned()),
            (_, Some(lasting)) => Self::At(begin.plus(lasting)),
            _ => Self::Never,
        };
        Ok(())
    }
}

/// A change of users, or of a rate, from a time on and over a time.
struct Ramp {
    at_ms: f64,
    over_ms: f64,
    change: f64,
}

impl Ramp {
    const fn new(at_seconds: f64, over_seconds: f64, change: f64) -> Self {
        Self { at_ms: at_seconds * 1e3, over_ms: over_seconds * 1e3, change }
    }

    /// What it adds at a time; of a jump at this time nothing yet, if it is looked at from before.
    fn at(&self, time_ms: f64, is_before: bool) -> f64 {
        if self.over_ms <= 0.0 {
            let is_there = if is_before { time_ms > self.at_ms } else { time_ms >= self.at_ms };
            return if is_there { self.change } else { 0.0 };
        }
        self.change * ((time_ms - self.at_ms) / self.over_ms).clamp(0.0, 1.0)
    }
}

/// Ramps as stages (`0 to 5 for 10s, 5 for 1m`), and when the first begins, in milliseconds.
fn stages(ramps: &[Ramp], written: &dyn Fn(f64) -> String) -> Result<(f64, String), String> {
    let mut times: Vec<f64> = ramps.iter().flat_map(|ramp| [ramp.at_ms, ramp.at_ms + ramp.over_ms]).map(f64::round).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    if times.len() > STAGES_MAX {
        return Err(format!("its load has more than {STAGES_MAX} stages, and nothing in it is sent"));
    }
    let sum = |time: f64, is_before: bool| ramps.iter().map(|ramp| ramp.at(time, is_before)).sum::<f64>().max(0.0);
    let stage = |pair: &[f64]| {
        let (from, to) = (written(sum(pair[0], false)), written(sum(pair[1], true)));
        let length = pair[1] - pair[0];
        if from == to { format!("{from} for {length}ms") } else { format!("{from} to {to} for {length}ms") }
    };
    let stages: Vec<String> = times.windows(2).map(stage).collect();
    Ok((times.first().copied().unwrap_or(0.0), stages.join(", ")))
}

/// A number without needless digits.
pub(super) fn plain(number: f64) -> String {
    ((number * 1e6).round() / 1e6).to_string()
}

impl Reading<'_> {
    /// The load of a group, on all servers together; none if it has no users.
    ///
    /// # Errors
    /// In words, if it cannot be said here.
    pub(super) fn load(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        let load = self.load_of_server(group)?.map(|load| load.times(self.servers));
        match &load {
            Some(GroupLoad { users, .. }) if *users > USERS_MAX as u64 => Err(too_many(*users as f64)),
            _ => Ok(load),
        }
    }

    fn load_of_server(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        match group.class.as_str() {
            "ThreadGroup" | "SetupThreadGroup" | "PostThreadGroup" => self.threads(group),
            "ConcurrencyThreadGroup" => self.concurrency(group),
            "SteppingThreadGroup" => self.stepping(group),
            "UltimateThreadGroup" => self.ultimate(group),
            "ArrivalsThreadGroup" => self.arrivals(group),
            "FreeFormArrivalsThreadGroup" => self.free_form(group),
            "OpenModelThreadGroup" => self.open_model(group),
            _ => Err("its kind of group is not carried over, and nothing in it is sent; make it a Thread Group".to_owned()),
        }
    }

    fn amount(&self, group: &Element, name: &str, default: f64) -> Result<f64, String> {
        amount(&self.names, group.text(name), default).ok_or_else(|| {
            let short = name.rsplit('.').next().unwrap_or(name);
            format!("its {short} '{}' is no number that is known before the load, and nothing in it is sent", group.text(name))
        })
    }

    /// How often each user goes through a group; `None`: without an end.
    fn loops(&self, group: &Element) -> Result<Option<u64>, String> {
        let main = group.list("ThreadGroup.main_controller");
        if truth(text_of(main, "LoopController.continue_forever"), false) {
            return Ok(None);
        }
        let text = text_of(main, "LoopController.loops");
        let loops = if text.trim().is_empty() { Some(1.0) } else { self.names.number(text) };
        match loops {
            Some(loops) if loops < 0.0 => Ok(None),
            Some(loops) => Ok(Some(loops as u64)),
            None => Err("its number of loops is no number that is known before the load, and nothing in it is sent".to_owned()),
        }
    }

    /// Threads that come during a ramp.
    fn threads(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        let of = |name: &str| self.amount(group, &format!("ThreadGroup.{name}"), 0.0);
        let users = self.amount(group, "ThreadGroup.num_threads", 1.0)?.trunc();
        if users > USERS_MAX {
            return Err(too_many(users));
        }
        if users < 1.0 {
            return Ok(None);
        }
        let loops = self.loops(group)?;
        if loops == Some(0) {
            return Ok(None);
        }
        let is_scheduled = group.is_on("ThreadGroup.scheduler", false);
        let duration = Some(of("duration").unwrap_or(0.0)).filter(|seconds| is_scheduled && *seconds > 0.0);
        let delay = Some(of("delay").unwrap_or(0.0)).filter(|seconds| is_scheduled && *seconds > 0.0);
        // A user is there as soon as the number is above those before it: the first at once, each further one a share of the ramp later.
        let whole = of("ramp_time").unwrap_or(0.0) * 1e3;
        // Threads that are made when they start reach the last one at the end of the ramp.
        let is_delayed = group.is_on("ThreadGroup.delayedStart", false) && users > 1.0;
        let ramp = if is_delayed { whole * users / (users - 1.0) } else { whole }.round();
        let connections = match duration.map(|seconds| (seconds * 1e3).round()) {
            _ if users < 2.0 || ramp < 1.0 => users.to_string(),
            // It ends before all have come.
            Some(whole) if whole < ramp => {
                let come = (users * whole / ramp).floor();
                let until = (come * ramp / users).round();
                let rest = if until < whole { format!("{} for {}ms", come + 1.0, whole - until) } else { String::new() };
                let first = if until > 0.0 { format!("0 to {come} for {until}ms") } else { String::new() };
                [first, rest].into_iter().filter(|stage| !stage.is_empty()).collect::<Vec<_>>().join(", ")
            }
            Some(whole) if whole > ramp => format!("0 to {users} for {ramp}ms, {users} for {}ms", whole - ramp),
            Some(_) => format!("0 to {users} for {ramp}ms"),
            None => format!("0 to {users} for {ramp}ms, {users}"),
        };
        let lasting = duration.filter(|_| !connections.contains("for")).map(|seconds| format!("{}ms", (seconds * 1e3).round()));
        let draft = PopulationDraft {
            connections: connections.parse().ok(),
            duration: lasting.and_then(|lasting| lasting.parse().ok()),
            start_after: delay.and_then(|seconds| format!("{}ms", (seconds * 1e3).round()).parse().ok()),
            iterations_per_user: loops.and_then(NonZeroU64::new).map(Setting::Value),
            ..PopulationDraft::default()
        };
        Ok(Some(GroupLoad { users: users as u64, loops, is_timed: duration.is_some(), draft, told: Vec::new() }))
    }

    /// Users by these ramps.
    fn users_by(&self, group: &Element, ramps: &[Ramp], users: f64) -> Result<Option<GroupLoad>, String> {
        if users > USERS_MAX {
            return Err(too_many(users));
        }
        if users < 1.0 {
            return Ok(None);
        }
        let (begin, text) = stages(ramps, &|users| users.round().to_string())?;
        let loops = self.loops(group)?.filter(|loops| *loops > 1);
        let draft = PopulationDraft {
            connections: text.parse().ok(),
            start_after: after(begin),
            iterations_per_user: loops.and_then(NonZeroU64::new).map(Setting::Value),
            ..PopulationDraft::default()
        };
        let load = GroupLoad { users: users as u64, loops, is_timed: true, draft, told: Vec::new() };
        if load.draft.connections.is_some() {
            Ok(Some(load))
        } else {
            Err(format!("its stages '{text}' are none, and nothing in it is sent"))
        }
    }

    /// Arrivals by these ramps, in a unit such as `/m`.
    fn rate_by(&self, ramps: &[Ramp], unit: &str, limit: Option<f64>) -> Result<Option<GroupLoad>, String> {
        if ramps.iter().all(|ramp| ramp.change <= 0.0) {
            return Ok(None);
        }
        let (begin, text) = stages(ramps, &|rate| format!("{}{unit}", plain(rate)))?;
        let draft = PopulationDraft {
            rate: text.parse().ok(),
            arrivals: "even".parse().ok(),
            connections: limit.filter(|limit| *limit >= 1.0).and_then(|limit| limit.round().to_string().parse().ok()),
            start_after: after(begin),
            ..PopulationDraft::default()
        };
        let load = GroupLoad { users: 1, loops: None, is_timed: true, draft, told: Vec::new() };
        if load.draft.rate.is_some() { Ok(Some(load)) } else { Err(format!("its stages '{text}' are none, and nothing in it is sent")) }
    }

    /// The target of a group of plugins, how it is reached, and when it ends.
    fn target(&self, group: &Element) -> Result<(f64, Vec<Ramp>, &'static str), String> {
        let (factor, unit) = if group.text("Unit").trim() == "M" { (60.0, "/m") } else { (1.0, "/s") };
        let target = self.amount(group, "TargetLevel", 1.0)?;
        let (ramp, hold) = (self.amount(group, "RampUp", 0.0)? * factor, self.amount(group, "Hold", 1.0)? * factor);
        let steps = self.amount(group, "Steps", 0.0)?.trunc().min(STAGES_MAX as f64) as u32;
        let mut ramps = Vec::new();
        if ramp <= 0.0 || steps == 0 {
            ramps.push(Ramp::new(0.0, ramp, target));
        } else {
            let (size, length) = (target / f64::from(steps), ramp / f64::from(steps));
            ramps.extend((0..steps).map(|step| Ramp::new(f64::from(step) * length, 0.0, size)));
        }
        ramps.push(Ramp::new(ramp + hold, 0.0, -target));
        if ramp + hold <= 0.0 {
            return Err("it ends when it begins, and nothing in it is sent".to_owned());
        }
        Ok((target, ramps, unit))
    }

    /// As many users at once as it says: who goes is followed by another.
    fn concurrency(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        let (target, ramps, _) = self.target(group)?;
        let mut load = self.users_by(group, &ramps, target)?;
        if let Some(load) = &mut load {
            // Users are not told apart from those who follow them.
            (load.loops, load.draft.iterations_per_user) = (None, None);
            if !matches!(group.text("Iterations").trim(), "" | "0") {
                load.told.push("a user goes on where another would follow it after its iterations".to_owned());
            }
        }
        Ok(load)
    }

    fn arrivals(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        let (_, ramps, unit) = self.target(group)?;
        self.rate_by(&ramps, unit, amount(&self.names, group.text("ConcurrencyLimit"), 0.0))
    }

    /// Users who come and go in steps.
    fn stepping(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        let of = |name: &str| self.amount(group, name, 0.0).map(f64::trunc);
        let users = of("ThreadGroup.num_threads")?;
        if users < 1.0 {
            return Ok(None);
        }
        let or_all = |count: f64| if count < 1.0 { users } else { count };
        let (coming, going) = (or_all(of("Start users count")?), or_all(of("Stop users count")?));
        let burst = Some(of("Start users count burst")?.min(users)).filter(|burst| *burst >= 1.0).unwrap_or(coming.min(users));
        let (ramp, every) = (of("rampUp")?, of("Start users period")?);
        if users / coming.min(going) > STAGES_MAX as f64 {
            return Err(format!("its load has more than {STAGES_MAX} stages, and nothing in it is sent"));
        }
        let (mut ramps, mut time, mut there) = (Vec::new(), of("Threads initial delay")?, 0.0);
        let mut ended = time;
        while there < users {
            let (full, count) = if there < 1.0 { (burst, burst) } else { (coming, coming.min(users - there)) };
            // Who comes last in a step that is not full comes earlier in it.
            let over = ramp * count / full;
            ramps.push(Ramp::new(time, over, count));
            ended = time + over;
            there += count;
            time += ramp + every;
        }
        let mut end = ended + of("flighttime")?;
        while there > 0.0 {
            ramps.push(Ramp::new(end, 0.0, -going.min(there)));
            there -= going.min(there);
            end += of("Stop users period")?;
        }
        self.users_by(group, &ramps, users)
    }

    /// Users in slopes that lie over each other.
    fn ultimate(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        let (mut ramps, mut users) = (Vec::new(), 0.0);
        for row in group.list("ultimatethreadgroupdata") {
            let [count, delay, startup, hold, shutdown] = self.row(row)?;
            ramps.push(Ramp::new(delay, startup, count));
            ramps.push(Ramp::new(delay + startup + hold, shutdown, -count));
            users += count;
        }
        self.users_by(group, &ramps, users)
    }

    fn free_form(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        let (factor, unit) = if group.text("Unit").trim() == "M" { (60.0, "/m") } else { (1.0, "/s") };
        let (mut ramps, mut time) = (Vec::new(), 0.0);
        for row in group.list("Schedule") {
            let [from, to, length] = self.row(row)?;
            let length = length * factor;
            slope(&mut ramps, time, (from, to), length);
            time += length;
        }
        self.rate_by(&ramps, unit, amount(&self.names, group.text("ConcurrencyLimit"), 0.0))
    }

    /// The numbers of a row.
    fn row<const N: usize>(&self, row: &Property) -> Result<[f64; N], String> {
        let texts: Vec<&str> = row.own().iter().filter_map(Property::text).collect();
        let mut numbers = [0.0; N];
        for (place, number) in numbers.iter_mut().enumerate() {
            let text = texts.get(place).copied().unwrap_or_default();
            *number = amount(&self.names, text, 0.0)
                .ok_or_else(|| format!("'{text}' in its schedule is no number that is known before the load, and nothing in it is sent"))?;
        }
        Ok(numbers)
    }

    /// A schedule in words: `rate(10/sec) random_arrivals(1 min) pause(2 sec)`.
    fn open_model(&self, group: &Element) -> Result<Option<GroupLoad>, String> {
        let text = group.text("OpenModelThreadGroup.schedule");
        let known = self.names.literal(text).ok_or("its schedule is known only on the way, and nothing in it is sent")?;
        let steps =
            schedule(&known).ok_or_else(|| format!("its schedule '{}' is not understood, and nothing in it is sent", known.trim()))?;
        let (mut ramps, mut time, mut rate) = (Vec::new(), 0.0, 0.0);
        let (mut has_even, mut has_random) = (false, false);
        for (place, step) in steps.iter().enumerate() {
            match step {
                Step::Rate(next) => rate = *next,
                Step::Arrivals { seconds, is_even } => {
                    let to = if let Some(Step::Rate(next)) = steps.get(place + 1) { *next } else { rate };
                    slope(&mut ramps, time, (rate, to), *seconds);
                    time += seconds;
                    let sends = rate > 0.0 || to > 0.0;
                    has_even |= *is_even && sends;
                    has_random |= !is_even && sends;
                }
            }
        }
        let mut load = self.rate_by(&ramps, "/s", None)?;
        if let Some(load) = load.as_mut().filter(|_| has_random) {
            load.draft.arrivals = "poisson".parse().ok();
            if has_even {
                load.told.push("its arrivals are random in all of its stages".to_owned());
            }
        }
        Ok(load)
    }
}

/// A rate that goes from one to another, and is none afterwards.
fn slope(ramps: &mut Vec<Ramp>, at: f64, (from, to): (f64, f64), length: f64) {
    if length > 0.0 {
        ramps.push(Ramp::new(at, 0.0, from));
        ramps.push(Ramp::new(at, length, to - from));
        ramps.push(Ramp::new(at + length, 0.0, -to));
    }
}

fn amount(names: &Names<'_>, text: &str, default: f64) -> Option<f64> {
    if text.trim().is_empty() { Some(default) } else { names.number(text).filter(|number| *number >= 0.0) }
}

fn after(milliseconds: f64) -> Option<Setting<Nanos>> {
    if milliseconds > 0.0 { format!("{milliseconds}ms").parse().ok() } else { None }
}

fn too_many(users: f64) -> String {
    format!("it has {users} users, more than {USERS_MAX}, and nothing in it is sent")
}

/// A step of a schedule: rates a second, times in seconds.
#[derive(Debug, PartialEq)]
enum Step {
    Rate(f64),
    Arrivals { seconds: f64, is_even: bool },
}

/// The steps of a schedule; nothing if it is none.
fn schedule(text: &str) -> Option<Vec<Step>> {
    let mut words = words(text)?.into_iter().peekable();
    let mut steps = Vec::new();
    let mut rate = 0.0;
    while let Some(word) = words.next() {
        (words.next()? == "(").then_some(())?;
        let number = |word: String| word.parse::<f64>().ok().filter(|number| number.is_finite());
        let mut sum = 0.0;
        let kind = word.to_ascii_lowercase();
        if kind == "rate" {
            sum = number(words.next()?)?;
            if words.next_if(|word| word == "/" || word.eq_ignore_ascii_case("per")).is_some() {
                sum /= unit_seconds(&words.next()?)?;
            } else if sum > 0.0 {
                return None;
            }
        } else {
            while let Some(word) = words.next_if(|word| word != ")") {
                let value = number(word)?;
                let is_bare = value == 0.0 && words.peek().is_some_and(|word| word == ")");
                sum += if is_bare { 0.0 } else { value * unit_seconds(&words.next()?)? };
            }
        }
        (words.next()? == ")").then_some(())?;
        match kind.as_str() {
            "rate" => {
                rate = sum;
                steps.push(Step::Rate(sum));
            }
            "random_arrivals" | "even_arrivals" => steps.push(Step::Arrivals { seconds: sum, is_even: kind == "even_arrivals" }),
            "pause" => {
                let pause = Step::Arrivals { seconds: sum, is_even: true };
                steps.extend([Step::Rate(rate), Step::Rate(0.0), pause, Step::Rate(0.0), Step::Rate(rate)]);
            }
            _ => return None,
        }
    }
    Some(steps)
}

fn unit_seconds(word: &str) -> Option<f64> {
    let word = word.to_ascii_lowercase();
    match word.as_str() {
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        "d" => Some(86_400.0),
        _ => [("sec", 1.0), ("min", 60.0), ("hour", 3600.0), ("day", 86_400.0)]
            .into_iter()
            .find(|(unit, _)| word.starts_with(unit))
            .map(|(_, seconds)| seconds),
    }
}

/// Words, numbers and signs of a schedule, without its comments.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            rest = rest[end..].trim_start();
            continue;
        } else if let Some(inside) = rest.strip_prefix("/*") {
            rest = inside[inside.find("*/")? + 2..].trim_start();
            continue;
        } else if "()/".contains(first) {
            1
        } else if first.is_ascii_digit() || first == '.' {
            rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(rest.len())
        } else if first.is_ascii_alphabetic() {
            rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(rest.len())
        } else {
            return None;
        };
        found.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_that_lie_over_each_other_are_stages() {
        let users = |ramps: &[Ramp]| stages(ramps, &|users| users.round().to_string()).unwrap();
        let two = [Ramp::new(5.0, 10.0, 10.0), Ramp::new(25.0, 5.0, -10.0), Ramp::new(15.0, 0.0, 4.0), Ramp::new(40.0, 0.0, -4.0)];
        assert_eq!(users(&two), (5000.0, "0 to 10 for 10000ms, 14 for 10000ms, 14 to 4 for 5000ms, 4 for 10000ms".to_owned()));
        assert_eq!(users(&[Ramp::new(0.0, 0.0, 3.0), Ramp::new(2.0, 0.0, -3.0)]).1, "3 for 2000ms");
    }

    #[test]
    fn schedules_in_words_are_read() {
        let arrivals = |seconds: f64, is_even: bool| Step::Arrivals { seconds, is_even };
        assert_eq!(
            schedule("rate(10/sec) /* c */ random_arrivals(1 min 30 sec)\n// x\nRATE(60 per min) even_arrivals(500 ms)"),
            Some(vec![Step::Rate(10.0), arrivals(90.0, false), Step::Rate(1.0), arrivals(0.5, true)])
        );
        assert_eq!(
            schedule("rate(0) pause(0)"),
            Some(vec![Step::Rate(0.0), Step::Rate(0.0), Step::Rate(0.0), arrivals(0.0, true), Step::Rate(0.0), Step::Rate(0.0)])
        );
        for none in ["rate(10)", "rate 10", "wait(1 s)", "pause(1 year)", "rate(1/s", "/*", "rate(1/s) ;"] {
            assert_eq!(schedule(none), None, "{none}");
        }
    }
}

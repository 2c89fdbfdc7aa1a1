//! Profiles of the server while a load is on it: the flags, and what becomes of what was taken.
//!
//! A profile costs the server a little, so nobody gets one without asking. One that cannot be had is no reason not to measure: it is a
//! warning of the result, as with everything else that is seen of the server's side.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{ArgAction, Args};
use measure::SummaryBuilder;
use observe::NotFound;
use observe::profiling::{self, FORMS, Had, ProfileSource};
use plan::{Plan, PlanError, PlanErrors};
use resolve::KnownSecrets;

use crate::exit::{Exit, Failed};
use crate::inputs::plainly;

/// Which profiles of the server are taken.
#[derive(Debug, Clone, Default, Args)]
pub struct Profiling {
    /// Take a profile of the server under this load: the URL of Go's net/http/pprof (also /heap, /mutex, /block, /goroutine), or pid:N or auto (who listens) by py-spy, Node's inspector or perf (repeatable)
    #[arg(long, value_name = "WHAT", action = ArgAction::Append, help_heading = "Server's side")]
    profile: Vec<String>,

    /// Write the profiles into this directory too, as they were taken
    #[arg(long, value_name = "DIR", help_heading = "Server's side")]
    profile_out: Option<PathBuf>,
}

/// What is taken of every run that has profiles.
#[derive(Debug, Clone)]
pub struct Profilers {
    asked: Vec<ProfileSource>,
    out: Option<PathBuf>,
    /// What is left out of what is told of them.
    known: KnownSecrets,
}

/// Files of one directory and one kind are told apart by numbers up to this.
const FILES_MAX: u32 = 10_000;

/// The sides of a comparison as they stand before a profile of one of them.
const SIDES: [&str; 2] = ["a=", "b="];

impl Profiling {
    /// Reads what is asked for. Every mistake goes to `errors`.
    pub fn decide(self, known: &KnownSecrets, errors: &mut PlanErrors) -> Profilers {
        let asked = asked(self.profile.iter().map(String::as_str), known, errors);
        self.make_folder(errors);
        Profilers { asked, out: self.profile_out, known: known.clone() }
    }

    /// The same of the two sides of a comparison: what has no side is taken of both.
    pub fn decide_of_sides(self, known: &KnownSecrets, errors: &mut PlanErrors) -> [Profilers; 2] {
        // What is wrong with both is said once.
        let both = self.profile.iter().map(String::as_str).filter(|text| !SIDES.iter().any(|side| text.starts_with(side)));
        let both = asked(both, known, errors);
        let sides = SIDES.map(|side| {
            let own = asked(self.profile.iter().filter_map(|text| text.strip_prefix(side)), known, errors);
            both.iter().filter(|one| !own.contains(one)).chain(&own).cloned().collect::<Vec<ProfileSource>>()
        });
        self.make_folder(errors);
        sides.map(|asked| Profilers { asked, out: self.profile_out.clone(), known: known.clone() })
    }

    /// Makes the directory for what is taken.
    fn make_folder(&self, errors: &mut PlanErrors) {
        if let Some(out) = &self.profile_out {
            if self.profile.is_empty() {
                errors.push(PlanError::new(
                    "profile_out",
                    format!("--profile-out {} has no profile to hold", out.display()),
                    "say which with --profile",
                ));
            } else if let Err(why) = fs::create_dir_all(out) {
                errors.push(PlanError::new(
                    "profile_out",
                    format!("--profile-out {} cannot be made: {}", out.display(), plainly(&why)),
                    "give a directory that can be written to",
                ));
            }
        }
    }
}

fn asked<'a>(texts: impl Iterator<Item = &'a str>, known: &KnownSecrets, errors: &mut PlanErrors) -> Vec<ProfileSource> {
    let mut asked = Vec::new();
    for text in texts {
        if !text.starts_with("pid:") {
            known.learn_address(text);
        }
        match text.parse::<ProfileSource>() {
            Ok(one) if asked.contains(&one) => {}
            Ok(one) => asked.push(one),
            Err(why) => errors.push(PlanError::new("profile", why.under("--profile"), format!("give {FORMS}"))),
        }
    }
    asked
}

/// Profiles that are being taken of one run.
pub struct ProfilingSession<'a> {
    profiling: profiling::Profiling,
    out: Option<&'a Path>,
    known: &'a KnownSecrets,
}

impl Profilers {
    /// None are taken.
    pub fn none() -> Self {
        Self { asked: Vec::new(), out: None, known: KnownSecrets::default() }
    }

    /// The same, with these secrets left out of what is told.
    pub fn leaving_out(self, known: &KnownSecrets) -> Self {
        Self { known: known.clone(), ..self }
    }

    /// Whether there is nothing to take.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Whether they can be had under this plan, before anything is sent.
    ///
    /// # Errors
    /// If the server is out of reach.
    pub fn check(&self, plan: &Plan) -> Result<(), Failed> {
        let failed = |why: NotFound| Failed::new(Exit::Usage, format_args!("--profile auto: {}", why.message), why.help);
        profiling::check(&self.asked, plan).map_err(failed)
    }

    /// What is not there as things are: said at once where a profile is taken only at the end of a long measurement.
    pub fn doubts(&self) -> Vec<String> {
        let when = "it is not there now, and is asked for again at the end";
        profiling::doubts(&self.asked).into_iter().map(|doubt| format!("warning: {}; {when}", self.known.conceal(&doubt))).collect()
    }

    /// Begins with a run of this plan.
    pub fn open(&self, plan: &Plan) -> ProfilingSession<'_> {
        ProfilingSession { profiling: profiling::Profiling::start(&self.asked, plan), out: self.out.as_deref(), known: &self.known }
    }
}

impl ProfilingSession<'_> {
    /// The run, which began at `origin`, is over: what was taken goes into its result. `name` begins the names of files.
    pub fn close(self, origin: Instant, name: &str, run: &mut SummaryBuilder) {
        let profiling::Outcome { had, warnings } = self.profiling.stop(origin);
        run.add_warnings(warnings.iter().map(|warning| self.known.conceal(warning)));
        for Had { mut profiled, bytes, file } in had {
            if let Some(out) = self.out
                && let Err(why) = write(out, &format!("{name}{file}"), &bytes)
            {
                run.add_warnings([format!("--profile-out {}: {} could not be written: {}", out.display(), file, plainly(&why))]);
            }
            profiled.asked = self.known.conceal(&profiled.asked);
            run.add_profile(profiled);
        }
    }
}

/// Writes a file that is not there yet: what another run left is not replaced.
fn write(folder: &Path, file: &str, bytes: &[u8]) -> io::Result<()> {
    // A kind of values is a word of the profile's own.
    let plain: String =
        file.chars().map(|letter| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '-' }).collect();
    let (stem, ending) = plain.rsplit_once('.').unwrap_or((&plain, "profile"));
    let stem = stem.trim_start_matches('.');
    for number in 1..FILES_MAX {
        let name = if number == 1 { format!("{stem}.{ending}") } else { format!("{stem}-{number}.{ending}") };
        match OpenOptions::new().write(true).create_new(true).open(folder.join(name)) {
            Ok(mut file) => return file.write_all(bytes),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(why),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(profile: &[&str], out: Option<&Path>) -> Result<Profilers, String> {
        let mut errors = PlanErrors::default();
        let flags = Profiling { profile: profile.iter().map(|text| (*text).to_owned()).collect(), profile_out: out.map(Path::to_owned) };
        let probes = flags.decide(&KnownSecrets::default(), &mut errors);
        if errors.is_empty() { Ok(probes) } else { Err(errors.spelt(plan::Spelling::Flags)) }
    }

    #[test]
    fn every_mistake_is_told_and_nothing_is_asked_twice() {
        assert!(decided(&[], None).unwrap().is_empty());
        assert_eq!(decided(&["pid:7", "localhost:1", "http://localhost:1/debug/pprof/profile"], None).unwrap().asked.len(), 2);
        let told = decided(&["pid:x", "ftp://x/"], None).unwrap_err();
        assert!(told.contains("no process number") && told.contains("no http or https URL"), "{told}");
        assert!(decided(&[], Some(Path::new("there"))).unwrap_err().contains("no profile to hold"));
        assert!(decided(&["pid:7"], Some(Path::new("/dev/null/there"))).unwrap_err().contains("cannot be made"));
    }

    #[test]
    fn a_profile_is_of_both_sides_or_of_the_one_that_is_named() {
        let mut errors = PlanErrors::default();
        let profile = ["localhost:1", "a=pid:7", "b=http://new:6060/", "b=localhost:1"].map(str::to_owned).to_vec();
        let [a, b] = Profiling { profile, profile_out: None }.decide_of_sides(&KnownSecrets::default(), &mut errors);
        let told = |probes: &Profilers| probes.asked.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(errors.is_empty());
        assert_eq!(told(&a), ["http://localhost:1/debug/pprof/profile", "pid:7"]);
        assert_eq!(told(&b), ["http://new:6060/debug/pprof/profile", "http://localhost:1/debug/pprof/profile"]);
        let profile = ["pid:x", "a=pid:y"].map(str::to_owned).to_vec();
        Profiling { profile, profile_out: None }.decide_of_sides(&KnownSecrets::default(), &mut errors);
        assert_eq!(errors.0.len(), 2, "each once: {errors:?}");
    }

    #[test]
    fn a_file_that_is_there_is_not_replaced_and_a_name_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        for content in ["1", "2"] {
            write(folder.path(), "at 10 users, ../../cpu.pprof", content.as_bytes()).unwrap();
        }
        let mut names: Vec<String> =
            fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["at-10-users--..-..-cpu-2.pprof", "at-10-users--..-..-cpu.pprof"]);
        assert_eq!(fs::read_to_string(folder.path().join(&names[1])).unwrap(), "1");
    }
}

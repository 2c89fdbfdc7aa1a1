//! A command whose flags are described when it is asked for.
//!
//! Some thirty commands have some five hundred flags, and describing one costs memory and a moment. Whoever runs one of them waits for
//! the descriptions of all, and keeps them beside ten thousand connections. So the table of commands holds their names and what they
//! are about, and the flags of one are put in when its name was read. Matching names by hand, before the table is made, was the
//! alternative: then help, completions and the man pages would come from another table than parsing.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use super::help;

/// The flags of a command.
#[derive(Debug)]
pub struct Later<T>(pub Box<T>);

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(described::<T>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// With the flags and the examples; what stands in the table about the command goes before what the flags' type says of itself.
fn described<T: Args>(command: Command) -> Command {
    let (about, examples) = (command.get_about().cloned(), help::examples(command.get_name()));
    let described = T::augment_args(command);
    let described = about.into_iter().fold(described, Command::about);
    examples.into_iter().fold(described, Command::after_help)
}

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|flags| Self(Box::new(flags)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

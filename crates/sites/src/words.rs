//! Words that came from elsewhere, as they are shown to people here.

/// More letters of a name or a reason are left out.
const LETTERS_MAX: usize = 100;
/// More of several are counted.
const SHOWN_MAX: usize = 4;

/// The text without what steers a terminal or turns the direction of writing, and cut where it is long.
pub(crate) fn harmless(text: &str) -> String {
    plain_letters(text).take(LETTERS_MAX).collect()
}

/// The letters of a text without what steers a terminal or turns the direction of writing.
pub(crate) fn plain_letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|letter| !letter.is_control() && !plan::steers(*letter))
}

/// The first of several with this between them, and how many more there are.
pub(crate) fn first_of(several: &[String], between: &str) -> String {
    let shown = several[..several.len().min(SHOWN_MAX)].join(between);
    match several.len().saturating_sub(SHOWN_MAX) {
        0 => shown,
        more => format!("{shown}{between}and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_left_out_and_what_is_long_is_cut() {
        assert_eq!(harmless("a\u{1b}[2J\r\nb\u{202e}c\u{2066}é\u{9b}"), "a[2Jbcé");
        assert_eq!(harmless(&"é".repeat(1000)), "é".repeat(LETTERS_MAX));
    }

    #[test]
    fn the_first_of_several_are_shown_and_the_others_counted() {
        let several = |count: u32| (1..=count).map(|number| number.to_string()).collect::<Vec<_>>();
        assert_eq!((first_of(&several(4), "; "), first_of(&[], "; ")), ("1; 2; 3; 4".to_owned(), String::new()));
        assert_eq!(first_of(&several(10_000), ", "), "1, 2, 3, 4, and 9996 more");
    }
}

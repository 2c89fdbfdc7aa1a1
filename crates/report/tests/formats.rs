//! Every format of a run, for every fixture, kept as it reads.

use insta::assert_snapshot;
use measure::{Summary, fixtures};
use report::{Colour, FORMATS, Style, format};

fn rendered(name: &str, summary: &Summary, style: &Style) -> String {
    let mut bytes = Vec::new();
    (format(name).unwrap().render)(summary, style, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The compressed buckets depend on the version of the compressing crate and tell a reader nothing.
fn without_buckets(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once("\"hdr\": \"") {
        Some((before, _)) => format!("{before}\"hdr\": \"…\""),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn every_format_of_every_fixture_reads_as_it_did() {
    for format in FORMATS {
        for (name, summary) in fixtures::summaries() {
            let text = rendered(format.name, &summary, &Style::PLAIN);
            assert!(text.ends_with('\n') && !text.contains('\x1b') && !text.contains("NaN"), "{}: {name}", format.name);
            assert_snapshot!(format!("{}__{name}", format.name), without_buckets(&text));
        }
    }
}

#[test]
fn the_same_run_in_the_same_style_gives_the_same_bytes() {
    for format in FORMATS {
        for ((name, first), (_, second)) in fixtures::summaries().iter().zip(&fixtures::summaries()) {
            assert_eq!(rendered(format.name, first, &Style::PLAIN), rendered(format.name, second, &Style::PLAIN), "{name}");
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let ansi = Style { colour: Colour::Ansi, ..Style::PLAIN };
    for (name, summary) in fixtures::summaries() {
        let coloured = rendered("text", &summary, &ansi);
        assert!(coloured.contains('\x1b'), "{name}");
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            plain.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        plain.push_str(rest);
        assert_eq!(plain, rendered("text", &summary, &Style::PLAIN), "{name}");
    }
}

#[test]
fn the_text_keeps_to_its_width() {
    for width in [60, 80, 100, 140] {
        for (name, summary) in fixtures::summaries() {
            let text = rendered("text", &summary, &Style { colour: Colour::Plain, width });
            // Tables of figures have a width of their own.
            let allowed = usize::from(width).max(83);
            for line in text.lines() {
                assert!(line.chars().count() <= allowed, "{name} at {width}: {line}");
                assert!(!line.ends_with(' '), "{name}: {line:?}");
            }
        }
    }
}

#[test]
fn what_a_server_sends_cannot_steer_the_terminal() {
    let (_, mut summary) = fixtures::summaries().into_iter().find(|(name, _)| *name == "failures_of_every_side").unwrap();
    for failure in &mut summary.failures {
        if let Some(example) = &mut failure.example {
            example.text = "\x1b[2J\x1b]0;owned\x07\r\n  failed           none\u{202e}".to_owned();
        }
    }
    summary.warnings.push("\x1b[1A\u{9b}2K".to_owned());
    summary.resolution.addresses.push("\x1bc".to_owned());
    for name in ["text"] {
        let text = rendered(name, &summary, &Style::PLAIN);
        assert!(!text.chars().any(|letter| (letter.is_control() && letter != '\n') || letter == '\u{202e}'), "{name}: {text}");
        assert!(!text.lines().any(|line| line == "  failed           none"), "{name}");
    }
}

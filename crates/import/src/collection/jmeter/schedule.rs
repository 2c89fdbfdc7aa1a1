//! The Throughput Shaping Timer of jmeter-plugins (tst 2.5): a rate over the time of the whole test, which ends with it.
//!
//! It is the one timer that many plans rest on: threads are plenty, and it says how many requests they send in each second. Here that is a
//! pace of all users at a rate that changes. The plugin lets the requests of a second go on evenly from its first moment on, and takes the
//! rate at that moment; here the rate changes all the time.

use plan::work::{Item, PacedUsers, Pacing};
use plan::{Nanos, Timetable};

use super::Reading;
use super::loads::plain;
use super::tree::{Element, Property};

/// What the timer is called in plans.
pub(super) const CLASS: &str = "VariableThroughputTimer";
/// The property of the timer, and that of JMeter which takes its place.
const PROFILE: &str = "load_profile";

/// Requests a second at its beginning and its end, and how many seconds it lasts.
type Row = [f64; 3];

impl Reading<'_> {
    /// When the first schedule of the plan is over, which ends the test.
    pub(super) fn end_of_schedules(&self) -> Option<Nanos> {
        let mut ends = Vec::new();
        for root in self.roots() {
            super::each(root, &mut |element| {
                if element.class == CLASS {
                    ends.extend(self.schedule(element).ok().and_then(|rates| rates.length()));
                }
            });
        }
        ends.into_iter().min()
    }

    /// The pace before a sampler in the scope of such a timer.
    ///
    /// # Errors
    /// In words, if its schedule is none.
    pub(super) fn shaped(&self, timer: &Element) -> Result<Vec<Item>, String> {
        let rates = self.schedule(timer)?.scaled(f64::from(self.servers), 0.0);
        Ok(vec![Item::Pacing(Pacing { name: self.pace_name(timer), ..Pacing::at(rates, PacedUsers::All) })])
    }

    fn schedule(&self, timer: &Element) -> Result<Timetable, String> {
        let of_timer = format!("{}.{PROFILE}", timer.name);
        let said = [of_timer.as_str(), PROFILE].into_iter().find_map(|name| self.names.properties.get(name));
        let rows = match said.map(|text| text.trim()).filter(|text| !text.is_empty()) {
            Some(text) => rows_of(text).ok_or_else(|| format!("the property {PROFILE} '{text}' is no schedule"))?,
            None => timer.list(PROFILE).iter().map(|row| self.row_of_profile(row)).collect::<Result<_, _>>()?,
        };
        let stages = rows.iter().filter(|[.., seconds]| *seconds > 0.0).map(|[from, to, seconds]| {
            let rate = if from == to { format!("{}/s", plain(*from)) } else { format!("{}/s to {}/s", plain(*from), plain(*to)) };
            format!("{rate} for {}s", plain(*seconds))
        });
        let text = stages.collect::<Vec<_>>().join(", ");
        let rates: Option<Timetable> = text.parse().ok();
        rates.filter(|rates| rates.peak().as_per_second() > 0.0).ok_or_else(|| "its schedule lets nobody go on".to_owned())
    }

    fn row_of_profile(&self, row: &Property) -> Result<Row, String> {
        let mut numbers: Row = [0.0; 3];
        for (number, text) in numbers.iter_mut().zip(row.own().iter().filter_map(Property::text)) {
            *number = self
                .names
                .number(text)
                .filter(|number| *number >= 0.0)
                .ok_or_else(|| format!("'{text}' in its schedule is no number that is known before the load"))?;
        }
        Ok(numbers)
    }
}

/// The rows of `const(10,60s) line(10,50,5m) step(5,25,5,1h)`; nothing if the text is none.
fn rows_of(text: &str) -> Option<Vec<Row>> {
    let mut rows = Vec::new();
    for chunk in text.split(')').map(str::trim).filter(|chunk| !chunk.is_empty()) {
        let (kind, values) = chunk.split_once('(')?;
        let values: Vec<&str> = values.split(',').map(str::trim).collect();
        let number = |place: usize| values.get(place)?.parse::<f64>().ok().filter(|number| *number >= 0.0);
        match (kind.trim().to_ascii_lowercase().as_str(), values.len()) {
            ("const", 2) => rows.push([number(0)?, number(0)?, seconds(values[1])?]),
            ("line", 3) => rows.push([number(0)?, number(1)?, seconds(values[2])?]),
            ("step", 4) => {
                let (from, to, by, each) = (number(0)?, number(1)?, number(2)?, seconds(values[3])?);
                let count = if by > 0.0 { ((to - from).abs() / by) as usize } else { return None };
                // Upwards the last one is part of it, downwards it is not, as there.
                let count = if from <= to { count.saturating_add(1) } else { count };
                let sign = if from <= to { by } else { -by };
                (count <= STEPS_MAX).then_some(())?;
                rows.extend((0..count).map(|step| from + sign * step as f64).map(|rate| [rate, rate, each]));
            }
            _ => return None,
        }
    }
    Some(rows)
}

/// Of one part of a schedule; one with more is none.
const STEPS_MAX: usize = 1000;

/// `90`, `60s`, `1h30m` in seconds.
fn seconds(text: &str) -> Option<f64> {
    let (mut sum, mut number) = (0.0, String::new());
    for letter in text.chars() {
        if letter.is_ascii_digit() {
            number.push(letter);
            continue;
        }
        let unit = match letter.to_ascii_lowercase() {
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            'd' => 86_400.0,
            _ => return None,
        };
        sum += unit * number.parse::<f64>().ok()?;
        number.clear();
    }
    if number.is_empty() { Some(sum) } else { Some(sum + number.parse::<f64>().ok()?) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_that_properties_say_are_read() {
        assert_eq!(
            rows_of("const(10,60s) line(1,50,5m) step(5,25,10,1h30m)"),
            Some(vec![[10.0, 10.0, 60.0], [1.0, 50.0, 300.0], [5.0, 5.0, 5400.0], [15.0, 15.0, 5400.0], [25.0, 25.0, 5400.0]])
        );
        assert_eq!(rows_of("step(4,0,2,90)"), Some(vec![[4.0, 4.0, 90.0], [2.0, 2.0, 90.0]]));
        for none in ["const(10)", "wave(1,2,3s)", "const(x,1s)", "const(1,1week)", "step(1,2,0,1s)", "step(0,1e300,1,1s)"] {
            assert_eq!(rows_of(none), None, "{none}");
        }
    }
}

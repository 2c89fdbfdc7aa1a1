//! The course as a part of a survey has it: of each hour the seconds in which something came.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Counter, Figures, HOUR_S, HOURS_EVER, HOURS_MOST, Hour, SECOND_NS};

#[derive(Serialize, Deserialize)]
struct WrittenCourse {
    span_ns: Option<(i64, i64)>,
    time_of_day: [u64; 24],
    hours: Vec<WrittenHour>,
}

#[derive(Serialize, Deserialize)]
struct WrittenHour {
    /// Since 1970.
    hour: i64,
    requests: u64,
    /// Of these, those whose seconds are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    late: Option<u64>,
    /// How many seconds lie between one with requests and the one before it, and its requests; absent where only figures are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds: Option<Vec<(u16, u32)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    figures: Option<Figures>,
}

impl Serialize for Counter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hours: Vec<WrittenHour> = self.hours.iter().map(|(hour, it)| written(*hour, it)).collect();
        hours.sort_unstable_by_key(|it| it.hour);
        WrittenCourse { span_ns: self.span_ns, time_of_day: self.time_of_day, hours }.serialize(serializer)
    }
}

fn written(hour: i64, it: &Hour) -> WrittenHour {
    let seconds = it.seconds.as_deref().map(|seconds| {
        let mut next = 0;
        let busy = seconds.iter().enumerate().filter(|(_, requests)| **requests > 0);
        busy.map(|(at, requests)| ((at - std::mem::replace(&mut next, at + 1)) as u16, *requests)).collect()
    });
    let late = Some(it.late).filter(|late| *late > 0);
    WrittenHour { hour, requests: it.requests, late, figures: seconds.is_none().then_some(it.figures), seconds }
}

impl<'de> Deserialize<'de> for Counter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WrittenCourse { span_ns, time_of_day, hours } = WrittenCourse::deserialize(deserializer)?;
        let mut counter = Self { span_ns, time_of_day, ..Self::default() };
        let wrong = || serde::de::Error::custom("an hour of it is none");
        if hours.len() > HOURS_EVER || hours.iter().filter(|hour| hour.seconds.is_some()).count() > HOURS_MOST {
            return Err(serde::de::Error::custom("it has more hours than are kept"));
        }
        for WrittenHour { hour, requests, late, seconds, figures } in hours {
            let late = late.unwrap_or(0);
            // As far as times in nanoseconds go.
            if counter.places.contains_key(&hour) || hour.unsigned_abs() > (i64::MAX / 1_000_000_000 / HOUR_S) as u64 {
                return Err(wrong());
            }
            match (seconds, figures) {
                (Some(written), None) if late == 0 => {
                    let place = counter.new_place(hour);
                    let it = &mut counter.hours[place].1;
                    it.requests = requests;
                    let all = it.seconds.as_deref_mut().ok_or_else(wrong)?;
                    let mut next = 0;
                    for (gap, requests) in written {
                        let second = all.get_mut(next + usize::from(gap)).ok_or_else(wrong)?;
                        *second = requests;
                        next += usize::from(gap) + 1;
                    }
                    // A second that had too many to count says as many as it could.
                    if all.iter().map(|requests| u64::from(*requests)).sum::<u64>() > requests {
                        return Err(wrong());
                    }
                }
                (None, Some(figures)) if late <= requests => {
                    counter.push(hour, Hour { requests, late, seconds: None, figures });
                }
                _ => return Err(wrong()),
            }
        }
        // The first and the last request are of the first and the last hour.
        let busy = || counter.hours.iter().filter(|(_, hour)| hour.requests > 0).map(|(hour, _)| *hour);
        let hour_of = |ns: i64| ns.div_euclid(SECOND_NS * HOUR_S);
        let of_hours = busy().min().zip(busy().max());
        if of_hours != span_ns.map(|(first, last)| (hour_of(first), hour_of(last))) || span_ns.is_some_and(|(first, last)| first > last) {
            return Err(wrong());
        }
        Ok(counter)
    }
}

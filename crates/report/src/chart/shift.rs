//! How much every percentile of the response time moved from A to B.
//!
//! One figure for a change hides where it is. Here each percentile has its own, with its interval as a bar: a level row of
//! points is slower code, a row that rises at its end is a tail. The line at zero is no change, and the band around it is what
//! does not matter.

use super::ticks::{Scale, Tick};
use super::{Axis, Chart, Dash, Fill, Ink, Marker, Marks, Note, Point, Series, Side, Start};
use analysis::compare::{Metric, QuantileShift};
use analysis::comparison::Comparison;
use analysis::quantity::{self, counted, decimal, signed};

use crate::visible;

/// Beyond this the axis ends: a bar that goes on tells no more.
const PERCENT_MAX: f64 = 1_000.0;

/// The chart of a comparison.
#[must_use]
pub fn shift(compared: &Comparison) -> Chart {
    let shifts = &compared.shifts;
    let held = |share: f64| (share * 100.0).clamp(-100.0, PERCENT_MAX);
    let at = |index: usize| index as f64 + 1.0;
    let ends = 0.5..=shifts.len().max(1) as f64 + 0.5;
    let (first, last) = (*ends.start(), *ends.end());
    let margin = |q: f64| compared.margins.of(Metric::of_quantile(q));
    let lowest = shifts.iter().map(|shift| held(shift.interval.low)).fold(-5.0, f64::min);
    let highest = shifts.iter().map(|shift| held(shift.interval.high)).fold(5.0, f64::max);
    let (scale, ticks) = around_zero(lowest, highest);
    let band: Vec<(f64, f64, f64)> = shifts
        .iter()
        .enumerate()
        .flat_map(|(index, shift)| {
            let (from, to) = (at(index) - 0.5, at(index) + 0.5);
            let margin = margin(shift.q) * 100.0;
            [(from, -margin, margin), (to, -margin, margin)]
        })
        .collect();
    let bars: Vec<(f64, Option<f64>)> = shifts
        .iter()
        .enumerate()
        .flat_map(|(index, shift)| {
            let x = at(index);
            [(x, Some(held(shift.interval.low))), (x, Some(held(shift.interval.high))), (x, None)]
        })
        .collect();
    let points =
        shifts.iter().enumerate().map(|(index, shift)| Point { x: at(index), y: Some(held(shift.change)), fill: Fill::Solid }).collect();
    let series = |name: &str, ink, marks| Series { name: name.to_owned(), side: Side::Left, ink, marks };
    // What is pointed out should be sure, if anything is.
    let is_sure = |shift: &QuantileShift| !shift.interval.contains(0.0);
    let greatest =
        shifts.iter().enumerate().max_by(|(_, a), (_, b)| is_sure(a).cmp(&is_sure(b)).then(a.change.abs().total_cmp(&b.change.abs())));
    Chart {
        title: format!("Shift by percentile: {}", visible(&compared.name)),
        subtitle: vec![
            vec![format!("A: {}", visible(&compared.a.name))],
            vec![format!("B: {}", visible(&compared.b.name)), counted(compared.sound().count() as u64, "pair")],
        ],
        description: description(compared),
        x: Axis {
            title: "Percentile of the response time".to_owned(),
            scale: Scale::linear(first, last),
            ticks: shifts
                .iter()
                .enumerate()
                .map(|(index, shift)| Tick { value: at(index), label: Some(quantity::quantile(shift.q)) })
                .collect(),
            start: Start::Whole,
            ink: None,
        },
        y: Axis { title: "Change from A to B, % (above 0: B is slower)".to_owned(), scale, ticks, start: Start::Whole, ink: None },
        y2: None,
        strip: None,
        series: vec![
            series("what does not matter (margin)", Ink::Green, Marks::Band { points: band }),
            series("no change", Ink::Black, Marks::Line { points: vec![(first, Some(0.0)), (last, Some(0.0))], dash: Dash::Dashed }),
            series("95 % interval", Ink::Vermillion, Marks::Line { points: bars, dash: Dash::Solid }),
            series("change from A to B", Ink::Blue, Marks::Points { points, marker: Marker::Circle, dash: Dash::Dotted }),
        ],
        notes: greatest
            .map(|(index, shift)| Note::Value {
                x: at(index),
                y: held(shift.change),
                side: Side::Left,
                text: in_words(shift),
                ink: Ink::Black,
            })
            .into_iter()
            .collect(),
        hollow: None,
        empty: shifts.is_empty().then(|| "Too few pairs or requests to tell".to_owned()),
    }
}

/// `99 %: +31 % (+24 … +39)`.
fn in_words(shift: &QuantileShift) -> String {
    format!(
        "{}: {} % ({} … {})",
        quantity::quantile(shift.q),
        signed(shift.change),
        signed(shift.interval.low),
        signed(shift.interval.high)
    )
}

fn description(compared: &Comparison) -> String {
    let mut text = format!(
        "How much each percentile of the response time changed from A ({}) to B ({}), with 95 % intervals.",
        compared.a.name, compared.b.name
    );
    for shift in &compared.shifts {
        text += &format!(" {}.", in_words(shift));
    }
    for sentence in &compared.reading {
        text += &format!(" {sentence}");
    }
    text
}

/// A linear axis that holds both and zero, in round steps that meet zero.
fn around_zero(lowest: f64, highest: f64) -> (Scale, Vec<Tick>) {
    let span = (highest - lowest).max(1.0) * 1.15;
    let step =
        [1.0, 2.0, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0, 200.0, 250.0, 500.0].into_iter().find(|step| span / step <= 8.0).unwrap_or(500.0);
    let (from, to) = ((lowest * 1.07 / step).floor(), (highest * 1.07 / step).ceil());
    let ticks = (from as i64..=to as i64)
        .map(|count| {
            let value = count as f64 * step;
            let sign = if value > 0.0 { "+" } else { "" };
            Tick { value, label: Some(format!("{sign}{}", decimal(value, 0))) }
        })
        .collect();
    (Scale::linear(from * step, to * step), ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_holds_its_values_and_a_mark_at_zero() {
        for (low, high) in [(-5.0, 5.0), (-100.0, 5.0), (-5.0, 1_000.0), (-37.0, 212.0)] {
            let (scale, ticks) = around_zero(low, high);
            assert!(scale.from() <= low && scale.to() >= high, "{low} {high}: {scale:?}");
            assert!(ticks.iter().any(|tick| tick.value == 0.0) && (3..=11).contains(&ticks.len()), "{low} {high}: {ticks:?}");
        }
    }
}

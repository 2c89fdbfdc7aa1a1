//! What a reader can rely on in every chart of a sweep: all of it is there, in words and in pixels, and nothing invented.

use proptest::prelude::*;
use report::chart::scene::Shape;
use report::chart::sweep::{Fit, JourneyLevel, Ladder, SweepCurve, SweepPoint, qps_ttlb, qps_ttlb_diff, success_rate, success_rate_diff};
use report::chart::ticks::Growth;
use report::chart::{Chart, Dash, Fill, Ink, Marks, Note, Point, Series, Side, Start};
use report::png::Density;

fn point(level: f64, qps: f64, ttlb_ms: f64, success_percent: f64) -> SweepPoint {
    SweepPoint { level, qps, ttlb_ms: Some(ttlb_ms), success_percent, journeys: None, events: None, generator_limited: false }
}

fn curve(name: &str, points: Vec<SweepPoint>) -> SweepCurve {
    SweepCurve {
        name: name.to_owned(),
        target: Some("http://127.0.0.1:8080/get_result?a=1&b=2".to_owned()),
        level_seconds: Some(10.0),
        threads: Some(2),
        ladder: Ladder::Users,
        points,
        fit: None,
    }
}

fn checkout() -> SweepCurve {
    curve(
        "checkout",
        vec![
            point(1.0, 3_812.0, 0.26, 100.0),
            point(20.0, 39_400.0, 0.51, 100.0),
            point(200.0, 51_010.0, 3.92, 100.0),
            point(1_000.0, 48_700.0, 20.5, 99.98),
            point(5_000.0, 37_800.0, 132.0, 97.25),
        ],
    )
}

fn points(chart: &Chart, series: usize) -> &[Point] {
    match &chart.series[series].marks {
        Marks::Points { points, .. } => points,
        other => panic!("measured values have markers, not {other:?}"),
    }
}

fn texts(chart: &Chart) -> Vec<&str> {
    chart
        .notes
        .iter()
        .map(|note| match note {
            Note::Value { text, .. } | Note::Place { text, .. } => text.as_str(),
        })
        .collect()
}

/// Width, height and the red, green and blue of every pixel.
fn decoded(bytes: &[u8]) -> (u32, u32, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("a picture");
    assert_eq!(info.color_type, png::ColorType::Rgb);
    let pixels = pixels.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect();
    (info.width, info.height, pixels)
}

#[test]
fn the_peak_and_the_first_failures_are_pointed_out() {
    let chart = qps_ttlb(&checkout());
    assert_eq!(texts(&chart), ["highest QPS 51,010 at 200", "first failures at 1,000"]);
    assert_eq!(texts(&success_rate(&checkout())), ["first failures at 1,000: 99.98 % succeed"]);
}

#[test]
fn a_model_is_drawn_with_its_band_and_named_in_the_legend() {
    let fit =
        Fit { name: "ceiling at about 8 requests at once".to_owned(), points: vec![(1.0, 3e3, 3.5e3, 4e3), (200.0, 5e4, 5.1e4, 9e9)] };
    let alone = SweepCurve { fit: Some(fit), ..checkout() };
    let chart = qps_ttlb(&alone);
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["QPS", "Mean latency", "fit: ceiling at about 8 requests at once", "95 % band of the fit"]);
    assert!(matches!(chart.series[2].marks, Marks::Line { dash: Dash::Dotted, .. }));
    assert!(chart.y.scale.to() < 1e5, "a band without end does not flatten what was measured");
    assert!(chart.description.contains("Fitted: ceiling at about 8 requests at once."), "{}", chart.description);
    assert_eq!(qps_ttlb(&checkout()).series.len(), 2, "without a model nothing is drawn of one");
    assert_eq!(qps_ttlb_diff(&alone, &checkout()).series.len(), 4, "two curves are compared as measured");
}

/// The same requests as parts of journeys, of so many each.
fn travelled(requests_each: f64) -> SweepCurve {
    let mut curve = checkout();
    for point in &mut curve.points {
        point.journeys = Some(JourneyLevel { tps: point.qps / requests_each, requests_each: Some(requests_each) });
    }
    curve
}

#[test]
fn journeys_stand_in_a_strip_of_their_own_scale_below_their_requests() {
    for requests_each in [5.0, 3_001.0] {
        let chart = qps_ttlb(&travelled(requests_each));
        let strip = chart.strip.as_ref().expect("journeys are drawn");
        assert_eq!((chart.title.as_str(), strip.y.title.as_str()), ("QPS, TPS & latency: checkout", "TPS, journeys a second"));
        let highest = 51_010.0 / requests_each;
        let place = strip.y.scale.place(highest);
        assert!((0.5..1.0).contains(&place), "{requests_each}: the highest TPS stands at {place} of the strip");
        let Note::Value { text, x, .. } = &strip.notes[0] else { panic!("{:?}", strip.notes) };
        assert!(*x == 200.0 && text.starts_with("highest TPS ") && text.contains(" at 200, of "), "{text}");
        assert_eq!(chart.y, qps_ttlb(&checkout()).y, "requests keep their axis");
        assert!(chart.description.contains("At 200 users: QPS 51,010, TPS "), "{}", chart.description);
        assert!(chart.description.contains("requests each."), "{}", chart.description);
    }
    let chart = qps_ttlb(&travelled(5.0));
    assert_eq!(texts(&chart), texts(&qps_ttlb(&checkout())), "what is pointed out of requests stays");
    assert_eq!(qps_ttlb(&checkout()).strip, None);
    assert_eq!(success_rate(&travelled(5.0)).strip, None);
    let (_, _, pixels) = decoded(&chart.png(Density::DOCUMENT));
    let colour = Ink::Green.colour();
    let found = pixels.iter().filter(|pixel| **pixel == [colour.0, colour.1, colour.2]).count();
    assert!(found > 2_000, "{found} pixels");
}

#[test]
fn a_strip_stands_over_the_levels_of_its_chart_and_names_its_curves() {
    let labels = |chart: &Chart| chart.scene().shapes.iter().filter(|shape| matches!(shape, Shape::Text { .. })).count();
    let (with, without) = (qps_ttlb(&travelled(5.0)), qps_ttlb(&checkout()));
    let strip = with.strip.as_ref().unwrap();
    let more = labels(&with) - labels(&without);
    assert_eq!(more, 1 + strip.y.ticks.len() + strip.notes.len(), "its title, its ticks, its note, and no level twice");
    let mut cached = travelled(5.0);
    cached.name = "cached".to_owned();
    let both = qps_ttlb_diff(&travelled(5.0), &cached).strip.expect("journeys are drawn");
    let names: Vec<&str> = both.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!((names, both.y.title.as_str()), (vec!["checkout TPS", "cached TPS"], "TPS, journeys a second"));
    assert!(both.notes.is_empty(), "two notes would hide the curves");
    let one = qps_ttlb_diff(&checkout(), &cached).strip.expect("one side has journeys");
    assert_eq!((one.series.len(), one.y.title.as_str()), (1, "cached TPS, journeys a second"));
}

#[test]
fn levels_without_a_whole_journey_point_nothing_out() {
    let mut none = travelled(5.0);
    none.points.iter_mut().for_each(|point| point.journeys = Some(JourneyLevel { tps: 0.0, requests_each: None }));
    let strip = qps_ttlb(&none).strip.expect("no journey is a figure too");
    assert!(strip.notes.is_empty() && strip.y.ticks.len() > 2);
}

#[test]
fn titles_name_what_was_measured_and_axes_their_units() {
    let chart = qps_ttlb(&checkout());
    assert_eq!(chart.title, "QPS & latency: checkout");
    assert_eq!(chart.subtitle, [["http://127.0.0.1:8080/get_result?a=1&b=2", "10 s a level", "2 threads"]]);
    assert_eq!(chart.x.title, "Concurrent users (log scale)");
    assert_eq!(chart.x.scale.growth(), Growth::Logarithmic);
    let ttlb = chart.y2.expect("an axis for the latency");
    assert_eq!(ttlb.title, "Mean latency, ms, log scale (dashed)");
    assert_eq!(ttlb.scale.growth(), Growth::Logarithmic);
}

#[test]
fn an_open_ladder_is_not_called_concurrency() {
    let mut offered = checkout();
    offered.ladder = Ladder::OfferedRate;
    let chart = qps_ttlb(&offered);
    assert_eq!(chart.x.title, "Requests a second offered (log scale)");
    assert_eq!(texts(&chart)[0], "highest QPS 51,010 at 200/s");
}

#[test]
fn a_cut_axis_says_so_in_words_and_is_drawn_broken() {
    let chart = success_rate(&checkout());
    assert_eq!(chart.y.start, Start::Cut);
    assert!(chart.y.title.contains("starts at 95 %, not at 0"), "{}", chart.y.title);
    let mut failing = checkout();
    failing.points[4].success_percent = 40.0;
    let chart = success_rate(&failing);
    assert_eq!(chart.y.start, Start::Whole);
    assert_eq!(chart.y.scale.from(), 0.0);
}

#[test]
fn levels_the_generator_limited_are_hollow_and_the_legend_says_why() {
    let mut limited = checkout();
    limited.points[2].generator_limited = true;
    let chart = qps_ttlb(&limited);
    let hollow: Vec<f64> = points(&chart, 0).iter().filter(|point| point.fill == Fill::Hollow).map(|point| point.x).collect();
    assert_eq!(hollow, [200.0]);
    assert!(chart.hollow.as_ref().is_some_and(|words| words.contains("load generator")));
    assert_eq!(texts(&chart)[0], "highest QPS 51,010 at 200 (the generator's limit)");
    let labels = |chart: &Chart| {
        let is_text = |shape: &&Shape| matches!(shape, Shape::Text { .. });
        chart.scene().shapes.iter().filter(is_text).count()
    };
    assert_eq!(labels(&chart), labels(&qps_ttlb(&checkout())) + 1, "the legend has one entry more");
}

#[test]
fn a_level_only_one_side_has_is_a_gap_in_the_line_of_the_other() {
    let a = checkout();
    let mut b = checkout();
    b.name = "cached".to_owned();
    b.points.remove(2);
    b.points.push(point(10_000.0, 30_000.0, 300.0, 95.0));
    let chart = qps_ttlb_diff(&a, &b);
    let levels = |series| points(&chart, series).iter().map(|p| p.x).collect::<Vec<_>>();
    assert_eq!(levels(0), [1.0, 20.0, 200.0, 1_000.0, 5_000.0, 10_000.0]);
    assert_eq!(levels(0), levels(1));
    assert_eq!(points(&chart, 0)[5].y, None);
    assert_eq!(points(&chart, 1)[2].y, None);
    assert_eq!(chart.x.ticks.len(), 6);
}

#[test]
fn two_sweeps_that_look_alike_by_name_are_told_apart() {
    let chart = qps_ttlb_diff(&curve("価格", vec![]), &curve("商店", vec![]));
    assert_eq!(chart.series[0].name, "A: 価格 QPS");
    assert_eq!(chart.series[1].name, "B: 商店 QPS");
    let chart = success_rate_diff(&curve("old", vec![]), &curve("new", vec![]));
    assert_eq!(chart.series[0].name, "old success rate");
}

#[test]
fn no_two_series_of_a_chart_differ_by_colour_alone() {
    let a = checkout();
    for chart in [qps_ttlb(&a), success_rate(&a), qps_ttlb_diff(&a, &a), success_rate_diff(&a, &a)] {
        let markers: Vec<String> = chart
            .series
            .iter()
            .map(|series| match &series.marks {
                Marks::Points { marker, .. } => format!("{marker:?}"),
                other => panic!("{other:?}"),
            })
            .collect();
        for (index, marker) in markers.iter().enumerate() {
            assert!(!markers[..index].contains(marker), "{}: {markers:?}", chart.title);
        }
    }
}

#[test]
fn a_reply_that_never_came_leaves_a_gap_and_is_named() {
    let mut dead = checkout();
    for point in &mut dead.points {
        (point.qps, point.ttlb_ms, point.success_percent) = (0.0, None, 0.0);
    }
    let chart = qps_ttlb(&dead);
    assert_eq!(chart.y2, None);
    assert_eq!(chart.series[1].name, "Mean latency (no reply to time)");
    assert_eq!(chart.empty.as_deref(), Some("No request succeeded"));
    assert_eq!(texts(&chart), ["first failures at 1"]);
}

#[test]
fn lines_break_where_there_is_no_value_and_bands_let_the_grid_through() {
    let mut chart = qps_ttlb(&checkout());
    let shapes_before = chart.scene().shapes.len();
    let values = [Some(1.0), Some(2.0), None, Some(3.0), Some(4.0)];
    chart.series.push(Series {
        name: "fitted".to_owned(),
        side: Side::Left,
        ink: Ink::Green,
        marks: Marks::Line { points: (1..).map(f64::from).zip(values).collect(), dash: Dash::Dotted },
    });
    // In the legend a sample and its name, in the plot two pieces of line.
    assert_eq!(chart.scene().shapes.len(), shapes_before + 4);
    chart.series.push(Series {
        name: "interval".to_owned(),
        side: Side::Left,
        ink: Ink::Purple,
        marks: Marks::Band { points: vec![(1.0, 0.0, 10_000.0), (5_000.0, 5_000.0, 30_000.0)] },
    });
    let translucent = |shape: &Shape| matches!(shape, Shape::Path { fill: Some(fill), .. } if fill.3 < 128);
    let bands = chart.scene().shapes.iter().filter(|shape| translucent(shape)).count();
    assert_eq!(bands, 2, "one in the legend, one in the plot");
}

#[test]
fn the_picture_can_be_read_without_seeing_it() {
    let svg = qps_ttlb(&checkout()).svg();
    assert!(svg.contains("role=\"img\"") && svg.contains("<title id=\"title\">QPS &amp; latency: checkout"));
    for words in [
        "At 200 users: QPS 51,010, mean latency 3.92 ms, success 100 %.",
        "QPS and mean latency (TTLB) of checkout",
        "In short: highest QPS 51,010 at 200.",
        "First failures at 1,000 users.",
    ] {
        assert!(svg.contains(words), "{words}");
    }
}

#[test]
fn the_svg_depends_on_nothing_outside_itself() {
    let svg = qps_ttlb_diff(&checkout(), &checkout()).svg();
    for foreign in ["<text", "font", "<style", "<script", "<image", "href=\"http", "url("] {
        assert!(!svg.contains(foreign), "{foreign}");
    }
    assert!(svg.len() < 150 * 1024, "{} bytes", svg.len());
    for reference in svg.split("xlink:href=\"#").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(svg.contains(&format!("<path id=\"{name}\"")), "{name}");
    }
}

#[test]
fn the_png_holds_every_series_on_white_at_its_density() {
    let chart = qps_ttlb(&checkout());
    let (width, height, pixels) = decoded(&chart.png(Density::DOCUMENT));
    assert_eq!((width, height), (2_400, 1_500));
    assert_eq!(pixels[0], [255, 255, 255]);
    for ink in [Ink::Blue, Ink::Vermillion] {
        let colour = ink.colour();
        let wanted = [colour.0, colour.1, colour.2];
        let found = pixels.iter().filter(|pixel| **pixel == wanted).count();
        assert!(found > 2_000, "{ink:?}: {found} pixels");
    }
    let (width, height, _) = decoded(&chart.png(Density::SCREEN));
    assert_eq!((width, height), (1_200, 750));
}

#[test]
fn the_same_sweep_gives_the_same_bytes() {
    let (first, second) = (qps_ttlb(&checkout()), qps_ttlb(&checkout()));
    assert_eq!(first.svg(), second.svg());
    assert_eq!(first.png(Density::SCREEN), second.png(Density::SCREEN));
}

#[test]
fn the_order_of_the_levels_in_a_file_does_not_matter() {
    let mut shuffled = checkout();
    shuffled.points.reverse();
    assert_eq!(qps_ttlb(&shuffled), qps_ttlb(&checkout()));
}

#[test]
fn a_name_with_markup_stays_a_name() {
    let mut sweep = checkout();
    sweep.name = "a<b>&\"c\"\u{0}".to_owned();
    let svg = qps_ttlb(&sweep).svg();
    assert!(svg.contains("<title id=\"title\">QPS &amp; latency: a&lt;b&gt;&amp;\"c\"</title>"));
    assert!(!svg.contains('\u{0}'));
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0f64..1e7,
        2 => (-6.0f64..12.0).prop_map(|exponent| 10f64.powf(exponent)),
        1 => prop_oneof![
            Just(0.0), Just(-1.0), Just(f64::NAN), Just(f64::INFINITY), Just(f64::MAX), Just(f64::MIN_POSITIVE)
        ],
    ]
}

fn any_curve() -> impl Strategy<Value = SweepCurve> {
    let journeys = (any_value(), proptest::option::of(any_value())).prop_map(|(tps, requests_each)| JourneyLevel { tps, requests_each });
    let journeys = proptest::option::of(journeys);
    let point = (any_value(), any_value(), proptest::option::of(any_value()), any_value(), journeys, any::<bool>()).prop_map(
        |(level, qps, ttlb_ms, success_percent, journeys, generator_limited)| SweepPoint {
            level,
            qps,
            ttlb_ms,
            success_percent,
            journeys,
            events: None,
            generator_limited,
        },
    );
    let fit = proptest::collection::vec((any_value(), any_value(), any_value(), any_value()), 0..9)
        .prop_map(|points| Fit { name: "made up".to_owned(), points });
    (
        "\\PC{0,60}",
        proptest::option::of("\\PC{0,300}"),
        proptest::option::of(any_value()),
        proptest::collection::vec(point, 0..20),
        proptest::option::of(fit),
    )
        .prop_map(|(name, target, level_seconds, points, fit)| SweepCurve {
            name,
            target,
            level_seconds,
            threads: Some(4),
            ladder: Ladder::Users,
            points,
            fit,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_was_measured_can_be_drawn(a in any_curve(), b in any_curve()) {
        for chart in [
            qps_ttlb(&a),
            success_rate(&a),
            qps_ttlb_diff(&a, &b),
            success_rate_diff(&a, &b),
        ] {
            let svg = chart.svg();
            let numbers = svg.split("<defs>").nth(1).unwrap();
            for nonsense in ["NaN", "inf", "–"] {
                prop_assert!(!numbers.contains(nonsense), "{} in {}", nonsense, chart.title);
            }
            for axis in [Some(&chart.y), chart.y2.as_ref(), chart.strip.as_ref().map(|strip| &strip.y)].into_iter().flatten() {
                prop_assert!(axis.ticks.iter().filter(|tick| tick.label.is_some()).count() >= 2);
            }
        }
        prop_assert!(!qps_ttlb_diff(&a, &b).png(Density::SCREEN).is_empty());
    }
}

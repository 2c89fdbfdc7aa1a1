//! Draws one chart of every kind into `target/gallery/`, to be looked at.
//!
//! Whether labels collide or a picture pleases, no assertion can say. `cargo run -p loadline-report --example gallery`
//! renders ordinary sweeps and awkward ones, as PNG and SVG.

use report::chart::find::{FoundLine, LoadCurve, LoadPoint, offered_load};
use report::chart::sweep::{JourneyLevel, Ladder, SweepCurve, SweepPoint, qps_ttlb, qps_ttlb_diff, success_rate, success_rate_diff};
use report::chart::{Axis, Chart, Dash, Ink, Marks, Note, Series, Side, Start, ticks};
use report::png::Density;
use std::path::Path;

/// Level, QPS, mean TTLB in ms, success in percent.
type Row = (f64, f64, f64, f64);

const DEFAULT: [Row; 12] = [
    (1.0, 3_812.4, 0.26, 100.0),
    (2.0, 7_420.0, 0.27, 100.0),
    (5.0, 16_830.0, 0.30, 100.0),
    (10.0, 28_960.0, 0.34, 100.0),
    (20.0, 39_400.0, 0.51, 100.0),
    (50.0, 47_230.0, 1.06, 100.0),
    (100.0, 49_980.0, 2.00, 100.0),
    (200.0, 51_010.0, 3.92, 100.0),
    (500.0, 50_340.0, 9.93, 100.0),
    (1_000.0, 48_700.0, 20.5, 99.98),
    (2_000.0, 44_120.0, 45.3, 99.41),
    (5_000.0, 37_800.0, 132.0, 97.25),
];
const WRKTEST: [Row; 10] = [
    (200.0, 41_200.0, 4.85, 100.0),
    (500.0, 44_870.0, 11.1, 100.0),
    (1_000.0, 45_300.0, 22.0, 100.0),
    (3_000.0, 42_750.0, 70.1, 100.0),
    (5_000.0, 39_600.0, 126.0, 99.9996),
    (10_000.0, 33_120.0, 301.0, 99.2),
    (15_000.0, 28_400.0, 520.0, 97.1),
    (20_000.0, 25_010.0, 790.0, 95.4),
    (25_000.0, 22_700.0, 1_090.0, 93.0),
    (50_000.0, 12_300.0, 3_900.0, 71.4),
];

fn sweep(name: &str, rows: &[Row]) -> SweepCurve {
    SweepCurve {
        name: name.to_owned(),
        target: Some("http://127.0.0.1:8080/get_result?a=1&b=2".to_owned()),
        level_seconds: Some(10.0),
        threads: Some(2),
        ladder: Ladder::Users,
        points: rows
            .iter()
            .map(|&(level, qps, ttlb, success_percent)| SweepPoint {
                level,
                qps,
                ttlb_ms: Some(ttlb).filter(|ttlb| *ttlb > 0.0),
                success_percent,
                journeys: None,
                events: None,
                generator_limited: false,
            })
            .collect(),
        fit: None,
    }
}

fn charts() -> Vec<(&'static str, Chart)> {
    let default = sweep("checkout", &DEFAULT);
    let wrktest = sweep("orders", &WRKTEST);
    let mut limited = sweep("static page", &DEFAULT[..9]);
    for point in &mut limited.points[6..] {
        point.generator_limited = true;
        point.success_percent = 100.0;
    }
    let mut single = sweep("one level", &DEFAULT[7..8]);
    single.threads = Some(1);
    let better: Vec<Row> = DEFAULT
        .iter()
        .filter(|row| row.0 != 20.0 && row.0 != 500.0)
        .map(|&(level, qps, ttlb, success)| (level, qps * 1.21, ttlb / 1.18, (success + 0.9).min(100.0)))
        .chain([(10_000.0, 36_100.0, 270.0, 98.8)])
        .collect();
    let mut b = sweep("checkout-cached", &better);
    b.points[9].generator_limited = true;
    let tiny = sweep(
        "slow report",
        &[
            (1.0, 0.1, 9_800.0, 100.0),
            (2.0, 0.2, 10_100.0, 100.0),
            (5.0, 0.3, 16_400.0, 99.0),
            (10.0, 0.28, 35_000.0, 91.0),
            (20.0, 0.21, 60_000.0, 40.0),
        ],
    );
    let huge = sweep(
        "Größenrechner Ωmega 価格",
        &[
            (10.0, 190_000.0, 0.05, 100.0),
            (100.0, 1_500_000.0, 0.07, 100.0),
            (1_000.0, 3_000_000.0, 0.33, 100.0),
            (10_000.0, 2_700_000.0, 3.7, 100.0),
            (50_000.0, 900_000.0, 60_000.0, 100.0),
        ],
    );
    let mut journeys = sweep("a shop's journeys", &DEFAULT);
    let mut others = sweep("a shop's journeys, cached", &better);
    for (curve, each) in [(&mut journeys, 5.0), (&mut others, 5.02)] {
        for point in &mut curve.points {
            point.journeys = Some(JourneyLevel { tps: point.qps / each, requests_each: Some(each) });
        }
    }
    let mut few = sweep("a long visit", &DEFAULT[3..4]);
    few.points[0].journeys = Some(JourneyLevel { tps: 9.65, requests_each: Some(3_001.0) });
    let mut none = sweep("no journey ended", &DEFAULT);
    none.points.iter_mut().for_each(|point| point.journeys = Some(JourneyLevel { tps: 0.0, requests_each: None }));
    let dead = sweep("dead", &[(1.0, 0.0, 0.0, 0.0), (10.0, 0.0, 0.0, 0.0), (100.0, 0.0, 0.0, 0.0)]);
    let mut long = sweep("checkout", &DEFAULT);
    long.name = format!("a name that somebody let run on and on {}", "and on ".repeat(20));
    long.target = Some(format!("https://api.shop.example.com/v2/{}orders?customer=42&sort=asc", "very/deep/path/".repeat(12)));
    let mut offered = sweep(
        "open load",
        &[
            (1_000.0, 1_000.0, 1.1, 100.0),
            (2_000.0, 2_000.0, 1.2, 100.0),
            (3_000.0, 3_000.0, 1.3, 100.0),
            (4_000.0, 3_999.0, 1.9, 100.0),
            (5_000.0, 4_950.0, 8.0, 100.0),
            (6_000.0, 5_010.0, 480.0, 88.0),
            (7_000.0, 4_900.0, 900.0, 71.0),
        ],
    );
    offered.ladder = Ladder::OfferedRate;
    offered.level_seconds = Some(300.0);
    let mut dense = sweep("dense", &[]);
    dense.points = (1..=80)
        .map(|step| SweepPoint {
            level: f64::from(step * 25),
            qps: 20_000.0 * (1.0 - (-f64::from(step) / 12.0).exp()),
            ttlb_ms: Some(0.8 + f64::from(step * step) / 400.0),
            success_percent: 100.0,
            journeys: None,
            events: None,
            generator_limited: false,
        })
        .collect();
    let same = sweep("orders", &WRKTEST[..6]);
    let empty = sweep("nothing", &[]);
    let mut data_only = default.clone();
    data_only.target = None;
    data_only.level_seconds = None;
    data_only.threads = None;
    vec![
        ("default_qps_ttlb", qps_ttlb(&default)),
        ("default_successrate", success_rate(&default)),
        ("wrktest_qps_ttlb", qps_ttlb(&wrktest)),
        ("wrktest_successrate", success_rate(&wrktest)),
        ("limited_qps_ttlb", qps_ttlb(&limited)),
        ("limited_successrate", success_rate(&limited)),
        ("single_qps_ttlb", qps_ttlb(&single)),
        ("single_successrate", success_rate(&single)),
        ("diff_qps_ttlb", qps_ttlb_diff(&default, &b)),
        ("diff_successrate", success_rate_diff(&default, &b)),
        ("diff_ladders_qps_ttlb", qps_ttlb_diff(&default, &wrktest)),
        ("diff_same_name_qps_ttlb", qps_ttlb_diff(&wrktest, &same)),
        ("tiny_qps_ttlb", qps_ttlb(&tiny)),
        ("tiny_successrate", success_rate(&tiny)),
        ("huge_qps_ttlb", qps_ttlb(&huge)),
        ("dead_qps_ttlb", qps_ttlb(&dead)),
        ("dead_successrate", success_rate(&dead)),
        ("long_qps_ttlb", qps_ttlb(&long)),
        ("long_diff_qps_ttlb", qps_ttlb_diff(&long, &huge)),
        ("offered_qps_ttlb", qps_ttlb(&offered)),
        ("journeys_qps_ttlb", qps_ttlb(&journeys)),
        ("journeys_diff_qps_ttlb", qps_ttlb_diff(&journeys, &others)),
        ("journeys_single_qps_ttlb", qps_ttlb(&few)),
        ("journeys_none_qps_ttlb", qps_ttlb(&none)),
        ("dense_qps_ttlb", qps_ttlb(&dense)),
        ("dense_successrate", success_rate(&dense)),
        ("fitted", fitted(&default)),
        ("over_time", over_time()),
        ("empty_qps_ttlb", qps_ttlb(&empty)),
        ("dat_qps_ttlb", qps_ttlb(&data_only)),
        ("find_knee", offered_load(&knee())),
        ("find_limited", offered_load(&limited_search())),
        ("find_failing", offered_load(&failing_search())),
        ("find_inversion", offered_load(&inversion())),
        ("find_single", offered_load(&LoadCurve { points: knee().points[..1].to_vec(), ..knee() })),
    ]
}

/// Rate, throughput, goodput, p99 in ms.
type Tried = (f64, f64, f64, f64);

fn search(name: &str, tried: &[Tried], found: FoundLine) -> LoadCurve {
    LoadCurve {
        rated: analysis::found::RateUnit::Requests,
        name: name.to_owned(),
        target: Some("http://127.0.0.1:8080/get_result?a=1&b=2".to_owned()),
        promise: "failed < 0.1% and p99 < 50ms".to_owned(),
        quantile: 0.99,
        limit_ms: Some(50.0),
        found,
        points: tried
            .iter()
            .map(|&(rate, throughput, goodput, p99)| LoadPoint {
                rate,
                throughput,
                goodput,
                quantile_ms: Some(p99).filter(|p99| *p99 > 0.0),
                generator_limited: false,
            })
            .collect(),
    }
}

/// An ordinary search: a ramp, and many trials around the knee.
fn knee() -> LoadCurve {
    let tried = [
        (10.0, 10.2, 10.2, 11.0),
        (20.0, 19.8, 19.8, 10.9),
        (40.0, 40.3, 40.3, 11.3),
        (80.0, 79.5, 79.5, 11.2),
        (160.0, 160.8, 160.8, 11.9),
        (320.0, 320.2, 320.2, 12.4),
        (640.0, 640.9, 640.0, 16.0),
        (783.0, 783.0, 781.0, 31.0),
        (804.0, 804.0, 800.0, 39.0),
        (812.0, 811.0, 806.0, 44.0),
        (828.0, 818.0, 795.0, 190.0),
        (905.0, 820.0, 310.0, 870.0),
        (1_280.0, 819.0, 12.0, 2_900.0),
    ];
    search("checkout", &tried, FoundLine { rate: Some(812.0), low: 804.0, high: Some(820.0), by_generator: false })
}

/// The generator gave up before the server.
fn limited_search() -> LoadCurve {
    let tried = [
        (10.0, 9.0, 9.0, 1.0),
        (640.0, 640.0, 640.0, 1.1),
        (5_120.0, 5_118.0, 5_118.0, 1.3),
        (20_480.0, 20_470.0, 20_470.0, 2.0),
        (31_000.0, 30_950.0, 30_900.0, 4.4),
        (40_960.0, 35_100.0, 20_000.0, 160.0),
    ];
    let mut curve = search("healthz", &tried, FoundLine { rate: Some(31_000.0), low: 31_000.0, high: None, by_generator: true });
    curve.points[5].generator_limited = true;
    curve
}

/// Nothing was answered well at any rate.
fn failing_search() -> LoadCurve {
    let tried = [(0.625, 0.6, 0.0, 0.0), (2.5, 2.4, 0.0, 0.0), (10.0, 10.0, 0.0, 0.0)];
    search("broken", &tried, FoundLine { rate: None, low: 0.0, high: Some(0.625), by_generator: false })
}

/// A rate failed, and a higher one passed.
fn inversion() -> LoadCurve {
    let tried = [
        (100.0, 100.0, 100.0, 12.0),
        (200.0, 200.0, 200.0, 14.0),
        (380.0, 380.0, 379.0, 30.0),
        (420.0, 415.0, 300.0, 0.0),
        (500.0, 500.0, 499.0, 33.0),
        (800.0, 610.0, 90.0, 700.0),
    ];
    search("resonance", &tried, FoundLine { rate: Some(380.0), low: 372.0, high: Some(420.0), by_generator: false })
}

/// A measured sweep with a fitted curve and the interval around it.
fn fitted(sweep: &SweepCurve) -> Chart {
    let mut chart = qps_ttlb(sweep);
    let throughput = |users: f64| 4_000.0 * users / (1.0 + 0.068 * (users - 1.0) + 0.000_004 * users * (users - 1.0));
    let steps = (0..=120).map(|step| 10f64.powf(f64::from(step) / 120.0 * 3.7));
    let curve: Vec<(f64, f64)> = steps.map(|users| (users, throughput(users))).collect();
    let series = |name: &str, marks| Series { name: name.to_owned(), side: Side::Left, ink: Ink::Green, marks };
    chart.series = vec![
        series("95 % interval", Marks::Band { points: curve.iter().map(|&(x, y)| (x, y * 0.94, y * 1.05)).collect() }),
        series("fitted", Marks::Line { points: curve.iter().map(|&(x, y)| (x, Some(y))).collect(), dash: Dash::Dotted }),
        chart.series.swap_remove(0),
    ];
    chart.y2 = None;
    chart.title = "A fitted curve and its interval".to_owned();
    chart
}

/// One value a second, with a hole.
fn over_time() -> Chart {
    let rate = |second: u32| 900.0 + 80.0 * (f64::from(second) / 9.0).sin();
    let points: Vec<(f64, Option<f64>)> = (0..300)
        .map(|second| {
            let measured = !(120..150).contains(&second);
            (f64::from(second), measured.then(|| rate(second)))
        })
        .collect();
    let (y, y_ticks) = ticks::from_zero(980.0);
    let (x, x_ticks) = ticks::from_zero(275.0);
    let axis = |title: &str, scale, ticks| Axis { title: title.to_owned(), scale, ticks, start: Start::Whole, ink: None };
    Chart {
        title: "Values over time".to_owned(),
        subtitle: vec![vec!["one a second, none from 120 s to 150 s".to_owned()]],
        description: "Values over time".to_owned(),
        x: axis("Seconds since the start", x, x_ticks),
        y: axis("Requests a second", y, y_ticks),
        y2: None,
        strip: None,
        series: vec![Series {
            name: "QPS".to_owned(),
            side: Side::Left,
            ink: Ink::Purple,
            marks: Marks::Line { points, dash: Dash::Solid },
        }],
        notes: vec![Note::Place { x: 120.0, text: "the server was restarted".to_owned(), ink: Ink::Black }],
        hollow: None,
        empty: None,
    }
}

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/gallery");
    std::fs::create_dir_all(&folder)?;
    for (name, chart) in charts() {
        let svg = chart.svg();
        let png = chart.png(Density::DOCUMENT);
        println!("{name}: SVG {} bytes, PNG {} bytes", svg.len(), png.len());
        std::fs::write(folder.join(format!("{name}.svg")), svg)?;
        std::fs::write(folder.join(format!("{name}.png")), png)?;
    }
    println!("in {}", folder.display());
    Ok(())
}

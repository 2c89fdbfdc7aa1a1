//! Made-up series: each cause is named where it is, and is not where only some of its signs are.

use super::*;
use crate::{ConnectionsLimit, Freezes};
use plan::Nanos;

/// A server with four cores and little to do on them, on a machine of its own.
fn idle() -> ServerFigures {
    ServerFigures {
        shares_machine: false,
        cores: Some(4.0),
        cpu: Some(0.2),
        busiest: vec![("app 11".to_owned(), 0.06), ("app 12".to_owned(), 0.05), ("app 13".to_owned(), 0.05)],
        threads: Some(8.0),
        processes: Some(1.0),
        waiting: Some(0.02),
        switches_voluntary: Some(500.0),
        accept_queue: Some(0.0),
        machine_cpu: Some(0.4),
        steal: Some(0.0),
        storage_wait: Some(0.01),
        disk_busy: Some(0.02),
        storage: Some(2_000.0),
        ..ServerFigures::default()
    }
}

/// A closed load: users, requests a second, mean service time in milliseconds.
fn closed(users: f64, rate: f64, service_ms: f64, seen: ServerFigures) -> Point {
    Point {
        level: users,
        requests: rate * 5.0,
        due: rate,
        answered: rate,
        good: rate,
        service_s: Some(service_ms / 1e3),
        quickest_s: Some(service_ms / 2e3),
        succeeded: rate * 5.0,
        timeout_s: 30.0,
        generator_cores: 0.2,
        server: Some(seen),
        ..Point::default()
    }
}

/// An open load that is kept up with.
fn offered(rate: f64, service_ms: f64, seen: ServerFigures) -> Point {
    Point { open: true, ..closed(rate, rate, service_ms, seen) }
}

/// A ladder on which the server's use of its processors grows with throughput.
fn ladder(rates: [f64; 4], services_ms: [f64; 4], seen: impl Fn(f64) -> ServerFigures) -> Vec<Point> {
    let users = [1.0, 4.0, 16.0, 64.0];
    (0..4).map(|at| closed(users[at], rates[at], services_ms[at], seen(rates[at]))).collect()
}

/// Throughput that ends at 200 a second, four at a time for 20 ms each.
fn pooled(seen: impl Fn(f64) -> ServerFigures) -> Vec<Point> {
    ladder([50.0, 199.0, 200.0, 200.0], [20.0, 20.1, 80.0, 320.0], seen)
}

/// Throughput that grows with the users.
fn growing(seen: impl Fn(f64) -> ServerFigures) -> Vec<Point> {
    ladder([50.0, 200.0, 800.0, 3_150.0], [20.0, 20.0, 20.0, 20.3], seen)
}

#[track_caller]
fn first(points: &[Point], kind: Kind) -> Finding {
    let found = findings(points, None);
    assert_eq!(found.first().map(|first| first.kind), Some(kind), "{found:#?}");
    let first = found[0].clone();
    assert!(
        !first.sentence.is_empty() && !first.refuted_by.is_empty() && !first.remedy.is_empty() && !first.evidence.is_empty(),
        "{first:#?}"
    );
    let brief = first.brief.chars().count();
    assert!(brief > 0 && brief <= BRIEF_LETTERS_MAX && first.brief.starts_with(char::is_uppercase), "{first:#?}");
    assert!([&first.sentence, &first.brief, &first.refuted_by, &first.remedy].iter().all(|text| !text.ends_with('.')), "{first:#?}");
    first
}

#[track_caller]
fn not_named(points: &[Point], kind: Kind) {
    let found = findings(points, None);
    assert!(found.iter().all(|finding| finding.kind != kind || !finding.is_named()), "{found:#?}");
}

/// Named or not, it is not what the series speak for.
#[track_caller]
fn not_strong(points: &[Point], kind: Kind) {
    let found = findings(points, None);
    assert!(found.iter().all(|finding| finding.kind != kind || finding.strength < 0.7), "{found:#?}");
}

#[test]
fn a_server_below_saturation_is_limited_by_nothing_and_told_what_would_come_next() {
    let found = findings(
        &growing(|rate| ServerFigures { cpu: Some(0.02 + rate * 0.0005), machine_cpu: Some(0.3 + rate * 0.0005), ..idle() }),
        None,
    );
    assert_eq!((found[0].kind, found[1].kind), (Kind::None, Kind::Processor), "{found:#?}");
    let law = found[1].law.expect("four loads are a line");
    // (4 − 0.02) / 0.0005
    assert!((law.saturates_at - 7_960.0).abs() < 1.0 && (law.demand_s - 0.0005).abs() < 1e-9, "{law:?}");
    assert!(found[0].evidence.iter().any(|it| it.contains("next would come its processors") && it.contains("7,960")), "{found:#?}");
    assert!(found[0].sentence.contains("its processors have room (1.59 of 4 cores)"), "{found:#?}");
    first(&[offered(100.0, 2.0, idle())], Kind::None);
    first(&[closed(10.0, 500.0, 20.0, idle())], Kind::None);
}

#[test]
fn all_cores_busy_is_the_processor() {
    let busy = |rate: f64| ServerFigures {
        cpu: Some(rate * 0.002),
        machine_cpu: Some(rate * 0.002 + 0.1),
        busiest: vec![("app 11".to_owned(), rate * 0.0005); 4],
        waiting: Some(rate * 0.004),
        ..idle()
    };
    let found = first(&ladder([480.0, 1_400.0, 1_950.0, 1_940.0], [2.0, 2.8, 8.2, 33.0], busy), Kind::Processor);
    assert!(found.sentence.contains("3.90 of 4 cores"), "{found:#?}");
    first(&[closed(64.0, 1_950.0, 33.0, busy(1_950.0))], Kind::Processor);
    not_named(&growing(|rate| ServerFigures { cpu: Some(rate * 0.0007), ..idle() }), Kind::Processor);
}

#[test]
fn a_server_that_may_use_fewer_cores_than_there_are_is_told_so() {
    let kept = |allowed: f64| {
        move |rate: f64| ServerFigures {
            allowed: Some(allowed),
            cpu: Some(rate * 0.001 * allowed),
            machine_cpu: Some(rate * 0.001 * allowed + 0.1),
            busiest: vec![("app 11".to_owned(), rate * 0.001 * allowed / 4.0); 4],
            waiting: Some(if rate > 900.0 { 3.0 } else { 0.1 }),
            ..idle()
        }
    };
    let rates = [600.0, 960.0, 990.0, 985.0];
    let found = first(&ladder(rates, [1.6, 4.1, 16.0, 65.0], kept(2.0)), Kind::Processor);
    assert_eq!(found.sentence, "the server used 1.98 of 2 cores at 990 requests a second, and it may use no more of its machine's 4");
    assert!(found.refuted_by.contains("taskset"), "{found:#?}");
    // One thread on one core: more processes would not carry more.
    let alone = |rate: f64| ServerFigures { busiest: vec![("app 11".to_owned(), rate * 0.001)], ..kept(1.0)(rate) };
    first(&ladder(rates, [1.6, 4.1, 16.0, 65.0], alone), Kind::Processor);
}

#[test]
fn threads_that_wait_for_cores_beside_idle_ones_tell_nothing_of_processors() {
    // A Go program that writes to PostgreSQL: short turns on many cores, each of which waits for its turn.
    let seen = ServerFigures {
        cpu: Some(1.3),
        machine_cpu: Some(2.75),
        busiest: vec![("app 11".to_owned(), 0.24), ("app 12".to_owned(), 0.22), ("app 13".to_owned(), 0.2)],
        threads: Some(11.0),
        waiting: Some(1.6),
        ..idle()
    };
    first(&[closed(10.0, 9_241.0, 1.07, seen)], Kind::None);
}

#[test]
fn one_busy_thread_beside_idle_cores_is_named() {
    let single = |rate: f64| ServerFigures {
        cpu: Some(rate * 0.001 + 0.03),
        machine_cpu: Some(rate * 0.001 + 0.3),
        busiest: vec![("node 812".to_owned(), rate * 0.001), ("node 813".to_owned(), 0.03)],
        ..idle()
    };
    let found = first(&ladder([400.0, 700.0, 950.0, 980.0], [2.5, 5.7, 16.8, 65.0], single), Kind::Thread);
    assert!(
        found.sentence.contains("node 812 used 98 %") && found.law.is_some_and(|law| (law.saturates_at - 1_000.0).abs() < 1.0),
        "{found:#?}"
    );
    // At six tenths it is not at its end.
    not_named(&[closed(8.0, 600.0, 13.0, single(600.0))], Kind::Thread);
    // One that had to wait for its core wanted all of one.
    let crowded = ServerFigures { cpu: Some(0.72), busiest: vec![("node 812".to_owned(), 0.7)], waiting: Some(0.28), ..idle() };
    first(&[closed(8.0, 700.0, 11.0, crowded)], Kind::Thread);
    // Four of them on four cores are all its cores.
    let full = ServerFigures { cpu: Some(3.9), machine_cpu: Some(4.0), busiest: vec![("app 1".to_owned(), 0.97); 4], ..idle() };
    first(&[closed(8.0, 700.0, 11.0, full)], Kind::Processor);
    // Two of them on eight are two threads, and six idle cores.
    let two = ServerFigures {
        cores: Some(8.0),
        cpu: Some(1.97),
        machine_cpu: Some(2.1),
        busiest: vec![("worker 1".to_owned(), 0.98); 2],
        ..idle()
    };
    let found = first(&[closed(8.0, 700.0, 11.0, two)], Kind::Thread);
    assert!(found.sentence.contains("each of its 2 busy threads does all that one core can"), "{found:#?}");
}

#[test]
fn a_quota_that_is_used_up_is_named_however_idle_the_machine_is() {
    let limited = |rate: f64| ServerFigures {
        quota: Some(0.5),
        cpu: Some(rate * 0.001),
        cgroup_cpu: Some(rate * 0.001),
        throttled: Some(if rate > 400.0 { 0.95 } else { 0.0 }),
        machine_cpu: Some(0.7),
        ..idle()
    };
    let found = first(&ladder([200.0, 460.0, 490.0, 495.0], [5.0, 8.7, 32.0, 129.0], limited), Kind::Quota);
    assert!(found.sentence.contains("may use 0.5 cores"), "{found:#?}");
    // Its size may be hidden.
    let hidden = |rate: f64| ServerFigures {
        quota: None,
        cgroup_cpu: None,
        shares_machine: true,
        machine_cpu: Some(3.99),
        waiting: Some(20.0),
        ..limited(rate)
    };
    let stopped: Vec<Point> = ladder([200.0, 460.0, 490.0, 495.0], [5.0, 8.7, 32.0, 129.0], hidden);
    let stopped: Vec<Point> = stopped.into_iter().map(|it| Point { others_share: Some(0.8), ..it }).collect();
    let found = first(&stopped, Kind::Quota);
    assert!(found.sentence.contains("stopped it in 95 %"), "{found:#?}");
    // A burst now and then is stopped in any container.
    let burst = ServerFigures { quota: Some(0.5), cpu: Some(0.15), cgroup_cpu: Some(0.15), throttled: Some(0.05), ..idle() };
    not_named(&[closed(4.0, 100.0, 9.0, burst)], Kind::Quota);
}

#[test]
fn a_machine_that_load_and_server_fill_together_is_named_before_the_server() {
    let shared =
        ServerFigures { shares_machine: true, cores: Some(2.0), cpu: Some(1.1), machine_cpu: Some(1.98), waiting: Some(0.6), ..idle() };
    let beside = |generator_cores: f64| Point { generator_cores, ..closed(50.0, 20_000.0, 2.5, shared.clone()) };
    let found = first(&[beside(0.8)], Kind::SharedMachine);
    assert!(found.sentence.contains("share 2 cores") && found.sentence.contains("the server had 1.10"), "{found:#?}");
    // Next to nothing of it is loadline's.
    first(&[beside(0.06)], Kind::Processor);
    // The machine is full, and this server wants nothing of it.
    let unmoved = ServerFigures { cpu: Some(0.02), waiting: Some(0.01), ..shared.clone() };
    not_named(&[Point { others_share: Some(0.9), ..offered(50.0, 2.0, unmoved) }], Kind::SharedMachine);
    let stolen = |machine_cpu| ServerFigures { steal: Some(0.2), cpu: Some(1.0), machine_cpu: Some(machine_cpu), ..idle() };
    first(&[closed(50.0, 500.0, 10.0, stolen(3.1))], Kind::SharedMachine);
    // A core was free all the time.
    not_named(&[closed(50.0, 500.0, 10.0, stolen(1.4))], Kind::SharedMachine);
}

#[test]
fn others_that_fill_the_machine_are_not_to_blame_for_what_a_server_could_not_use() {
    // Two cores that a compiler keeps busy, and how much of them the server had.
    let crowded = |cpu: f64, waiting: f64| ServerFigures {
        shares_machine: true,
        cores: Some(2.0),
        cpu: Some(cpu),
        machine_cpu: Some(1.99),
        waiting: Some(waiting),
        threads: Some(34.0),
        ..idle()
    };
    let beside = |points: Vec<Point>| points.into_iter().map(|it| Point { others_share: Some(0.5), generator_cores: 0.03, ..it }).collect();
    let ladder_of = |rates, times, seen: &dyn Fn(f64) -> ServerFigures| -> Vec<Point> { beside(ladder(rates, times, seen)) };
    // One at a time holds the lock and is kept from its core at times; all others are not ready.
    let alike = |each: f64| vec![("app 11".to_owned(), each); 8];
    let locked = |_| ServerFigures { busiest: alike(0.025), ..crowded(0.78, 1.2) };
    first(&ladder_of([660.0, 820.0, 880.0, 750.0], [1.5, 4.9, 18.0, 85.0], &locked), Kind::Lock);
    // As its threads wait for what loadline asks, which has as much of the machine.
    let asking: Vec<Point> = ladder_of([9_000.0, 11_000.0, 11_100.0, 11_000.0], [0.1, 0.36, 1.4, 5.8], &locked)
        .into_iter()
        .map(|it| Point { generator_cores: 0.9, others_share: Some(0.1), ..it })
        .collect();
    first(&asking, Kind::SharedMachine);
    not_strong(&asking, Kind::Lock);
    // All are ready: it would use both cores.
    let busy = |_| ServerFigures { busiest: alike(0.03), ..crowded(0.95, 29.0) };
    first(&ladder_of([200.0, 320.0, 330.0, 320.0], [5.0, 12.0, 48.0, 200.0], &busy), Kind::SharedMachine);
    // It would use a quarter more.
    let most = |_| ServerFigures { busiest: alike(0.05), ..crowded(1.6, 28.0) };
    first(&ladder_of([300.0, 530.0, 540.0, 530.0], [3.3, 7.5, 30.0, 120.0], &most), Kind::Processor);
    // Waking up late now and then: a tenth of the time that an answer takes.
    let pool = |_| ServerFigures { busiest: vec![("app 11".to_owned(), 0.003); 4], threads: Some(5.0), ..crowded(0.02, 0.6) };
    let waiting: Vec<Point> = beside(pooled(pool));
    first(&waiting, Kind::WorkerPool);
    // One thread that has three quarters of its core.
    let single = |_| ServerFigures { busiest: vec![("node 812".to_owned(), 0.74), ("node 813".to_owned(), 0.01)], ..crowded(0.76, 0.3) };
    first(&ladder_of([500.0, 730.0, 740.0, 740.0], [2.0, 5.5, 21.0, 86.0], &single), Kind::Thread);
}

#[test]
fn a_machine_that_is_nearly_full_with_threads_that_wait_for_it_is_no_pool() {
    // Go's net/http on four cores, loadline beside it: 98,000 a second, and the machine is 89 % busy.
    let rates = [21_373.0, 45_256.0, 75_335.0, 98_540.0, 96_037.0, 98_196.0, 89_679.0];
    let points: Vec<Point> = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
        .into_iter()
        .zip(rates)
        .map(|(users, rate): (f64, f64)| {
            let seen = ServerFigures {
                shares_machine: true,
                cpu: Some((0.4 + rate * 2.2e-5_f64).min(2.55)),
                machine_cpu: Some((0.6 + rate * 3.1e-5_f64).min(3.58)),
                busiest: vec![("gin 11".to_owned(), 0.46), ("gin 12".to_owned(), 0.44), ("gin 13".to_owned(), 0.42)],
                threads: Some(9.0),
                waiting: Some(1.4),
                ..idle()
            };
            Point { generator_cores: 0.9, ..closed(users, rate, users / rate * 980.0, seen) }
        })
        .collect();
    not_named(&points, Kind::WorkerPool);
    not_named(&points, Kind::Lock);
}

#[test]
fn loadline_at_its_own_limit_is_named_before_the_server() {
    let at_its_end =
        Point { generator_limit: Some("its busiest thread used 97 % of a core".to_owned()), ..closed(100.0, 90_000.0, 1.1, idle()) };
    first(std::slice::from_ref(&at_its_end), Kind::Generator);
    // Below the load that carried most it was no limit.
    let lower = Point { level: 1.0, good: 9_000.0, ..at_its_end };
    not_named(&[lower, closed(200.0, 95_000.0, 2.1, idle())], Kind::Generator);
}

#[test]
fn an_accept_queue_that_overflows_all_the_time_is_named() {
    let full =
        |queued: f64, overflowing: f64| ServerFigures { accept_queue: Some(queued), overflows: 40.0 * overflowing, overflowing, ..idle() };
    let found = first(&[Point { connect_s: Some(1.02), ..closed(64.0, 95.0, 110.0, full(5.0, 0.9)) }], Kind::AcceptQueue);
    assert!(found.evidence.iter().any(|it| it.contains("1.02 s to open")), "{found:#?}");
    // That opening takes long is not the doing of a server that closes, where connections wait to be accepted.
    let between = Between { closed: 1.0, answers: 5_000.0, opening_s: 0.1, ..Between::default() };
    first(&[Point { connect_s: Some(1.02), between, ..closed(64.0, 95.0, 110.0, full(5.0, 0.9)) }], Kind::AcceptQueue);
    // Counted for the whole machine: it was another server's queue.
    not_named(&[closed(64.0, 3_000.0, 20.0, full(0.0, 0.9))], Kind::AcceptQueue);
    // As all connections were opened at once, and never again.
    not_named(&[closed(1_000.0, 3_000.0, 20.0, full(1.0, 0.1))], Kind::AcceptQueue);
}

#[test]
fn flat_throughput_beside_idle_cores_is_a_pool_of_the_size_that_littles_law_says() {
    let found = first(&pooled(|_| ServerFigures { threads: Some(5.0), ..idle() }), Kind::WorkerPool);
    assert!(found.sentence.contains("about 4 workers") && found.sentence.contains("200 requests a second"), "{found:#?}");
    first(&growing(|_| idle()), Kind::None);
    // Processes are workers too.
    let forked = |_| ServerFigures { threads: Some(20.0), processes: Some(5.0), ..idle() };
    first(&pooled(forked), Kind::WorkerPool);
    // What so little work shows of single threads is chance.
    let hardly = |_| ServerFigures {
        cpu: Some(0.11),
        busiest: vec![("app 11".to_owned(), 0.04), ("app 12".to_owned(), 0.0)],
        threads: Some(3.0),
        ..idle()
    };
    first(&pooled(hardly), Kind::WorkerPool);
    // Of a runtime's many threads, those of one name are the pool.
    let jvm = |names: &[&str]| {
        let mut busiest: Vec<(String, f64)> = names.iter().map(|name| ((*name).to_owned(), 0.012)).collect();
        busiest.push(("C2 CompilerThre 16241".to_owned(), 0.002));
        ServerFigures { threads: Some(28.0), busiest, ..idle() }
    };
    let four =
        ["pool-1-thread-3 16410", "pool-1-thread-1 16408", "HTTP-Dispatcher 16252", "pool-1-thread-4 16411", "pool-1-thread-2 16409"];
    first(&pooled(|_| jvm(&four)), Kind::WorkerPool);
    // More of them than requests that get on: then it is not they that are too few; and where none but they are listed, there may be more.
    first(&pooled(|_| jvm(&["pool-1-thread-1 16408"; 7])), Kind::NotVisible);
    first(
        &pooled(|_| ServerFigures { threads: Some(28.0), busiest: vec![("pool-1-thread-1 16408".to_owned(), 0.012); 4], ..idle() }),
        Kind::NotVisible,
    );
    // In open load: less is answered than falls due.
    let open = |rate: f64, answered: f64, ms: f64| Point {
        answered,
        good: answered,
        ..offered(rate, ms, ServerFigures { threads: Some(5.0), ..idle() })
    };
    first(&[open(100.0, 100.0, 20.0), open(180.0, 180.0, 24.0), open(400.0, 200.0, 900.0)], Kind::WorkerPool);
}

#[test]
fn threads_that_use_one_core_together_wait_for_a_lock() {
    let serial = |rate: f64| ServerFigures {
        cpu: Some(rate * 0.001),
        machine_cpu: Some(rate * 0.001 + 0.2),
        busiest: vec![("app 11".to_owned(), rate * 0.000_13); 8],
        threads: Some(66.0),
        waiting: Some(0.1),
        switches_voluntary: Some(3_000.0),
        ..idle()
    };
    let locked = ladder([850.0, 960.0, 980.0, 970.0], [1.1, 4.1, 16.3, 66.0], serial);
    let found = first(&locked, Kind::Lock);
    assert!(found.sentence.contains("64 threads use 0.97 of 4 cores together"), "{found:#?}");
    assert!(found.evidence.iter().any(|it| it.contains("% of the work is serial")), "{found:#?}");
    // A core's worth of work over eight threads, and more users bring more: a server at a quarter of its capacity.
    not_named(&ladder([62.0, 250.0, 990.0, 1_000.0], [16.0, 16.0, 16.1, 16.4], serial), Kind::Lock);
    // A thread for each connection, gone with it: what is listed has done next to nothing of the work. No pool, whatever fits.
    let passing = |rate: f64| ServerFigures {
        cpu: Some(rate * 0.001_17),
        busiest: std::iter::once(("app 11".to_owned(), rate * 0.000_15)).chain(vec![("app 12".to_owned(), 0.001); 7]).collect(),
        threads: Some(14.0),
        ..serial(rate)
    };
    let climbed = |levels: [(f64, f64, f64); 4]| levels.map(|(users, rate, ms)| closed(users, rate, ms, passing(rate)));
    let found = first(&climbed([(1.0, 45.0, 21.8), (8.0, 365.0, 21.8), (32.0, 920.0, 34.4), (64.0, 958.0, 65.8)]), Kind::Lock);
    assert!(found.sentence.starts_with("threads that come and go use 1.12 of 4 cores"), "{found:#?}");
    not_named(&climbed([(1.0, 45.0, 21.8), (8.0, 365.0, 21.8), (32.0, 560.0, 56.0), (64.0, 568.0, 112.0)]), Kind::WorkerPool);
    // A runtime that moves its work over a few threads, while one request at a time is worked on.
    let moving = |rate: f64| ServerFigures {
        busiest: vec![("app 11".to_owned(), rate * 0.000_4), ("app 12".to_owned(), rate * 0.000_35), ("app 13".to_owned(), rate * 0.000_2)],
        threads: Some(9.0),
        waiting: Some(0.05),
        ..serial(rate)
    };
    first(&ladder([900.0, 970.0, 980.0, 975.0], [1.05, 4.1, 16.3, 66.0], moving), Kind::Lock);
    // One at a time, and no processor: held while something is waited for.
    let waiting = |_| ServerFigures { threads: Some(66.0), ..idle() };
    let found = first(&ladder([98.0, 99.0, 100.0, 99.0], [10.0, 40.0, 160.0, 640.0], waiting), Kind::Lock);
    assert!(found.sentence.contains("one request at a time"), "{found:#?}");
}

#[test]
fn a_collector_that_takes_a_third_of_the_work_is_named() {
    let collecting = |share: f64| ServerFigures {
        cpu: Some(3.8),
        machine_cpu: Some(3.9),
        busiest: vec![("app 1".to_owned(), 0.9); 4],
        collecting: Some((3.8 * share, "jvm_gc_pause_seconds_sum".to_owned())),
        ..idle()
    };
    let found = first(&[closed(32.0, 900.0, 35.0, collecting(0.4))], Kind::GarbageCollection);
    assert!(found.sentence.contains("40 %") && found.evidence[0].contains("jvm_gc_pause_seconds_sum"), "{found:#?}");
    first(&[closed(32.0, 900.0, 35.0, collecting(0.05))], Kind::Processor);
    not_named(&[closed(32.0, 900.0, 35.0, collecting(0.05))], Kind::GarbageCollection);
}

#[test]
fn memory_that_grows_with_each_request_is_named_and_warming_up_is_not() {
    let grown = |last: f64, later: f64, r2: f64| ServerFigures {
        memory: Some(Growth { first: 40e6, last, per_request: 64e3, later_per_request: later, r2 }),
        ..idle()
    };
    let found = first(&[offered(200.0, 2.0, grown(120e6, 63e3, 0.99))], Kind::Memory);
    assert!(found.sentence.contains("64.0 kB") || found.sentence.contains("64 kB"), "{found:#?}");
    for (last, later, r2) in [(120e6, 4e3, 0.85), (42e6, 64e3, 0.99), (120e6, 63e3, 0.4)] {
        not_named(&[offered(200.0, 2.0, grown(last, later, r2))], Kind::Memory);
    }
    // In a ladder, more connections take more memory once.
    let once = [
        offered(100.0, 2.0, grown(40e6, 0.0, 0.1)),
        offered(200.0, 2.0, grown(40e6, 0.0, 0.1)),
        offered(400.0, 2.0, grown(60e6, 63e3, 0.9)),
    ];
    not_named(&once, Kind::Memory);
}

#[test]
fn a_server_that_waits_for_storage_is_told_from_one_that_writes_a_log() {
    let writing = |each: f64, waited: f64, busy: f64| {
        move |rate: f64| ServerFigures {
            storage: Some(rate * each),
            storage_wait: Some(waited),
            disk_busy: Some(busy),
            threads: Some(66.0),
            ..idle()
        }
    };
    first(&pooled(writing(65_536.0, 0.9, 0.4)), Kind::Disk);
    first(&pooled(writing(4_096.0, 0.1, 0.95)), Kind::Disk);
    // A line in a log, while others keep the disk busy.
    not_named(&pooled(writing(120.0, 0.9, 0.95)), Kind::Disk);
    // It writes much, and nobody waits for that.
    not_named(&pooled(writing(65_536.0, 0.02, 0.05)), Kind::Disk);
}

#[test]
fn a_rate_that_a_link_carries_is_the_network_only_where_throughput_ends() {
    let over = |bytes_s: f64| move |point: Point| Point { over_network: true, received: bytes_s * point.good / 200.0, ..point };
    let full: Vec<Point> = pooled(|_| ServerFigures { threads: Some(66.0), ..idle() }).into_iter().map(over(117.5e6)).collect();
    let found = first(&full, Kind::Network);
    assert!(found.sentence.contains("1 Gbit/s"), "{found:#?}");
    let half: Vec<Point> = pooled(|_| ServerFigures { threads: Some(66.0), ..idle() }).into_iter().map(over(60e6)).collect();
    not_named(&half, Kind::Network);
    // On this machine there is no link.
    let here: Vec<Point> = full.into_iter().map(|point| Point { over_network: false, ..point }).collect();
    not_named(&here, Kind::Network);
}

#[test]
fn refusals_by_rate_are_named_before_anything_that_is_busy() {
    let limited = |rate: f64, good: f64| Point {
        good,
        answered: rate,
        due: rate,
        too_many: 1.0 - good / rate,
        retry_after: true,
        ..closed(rate / 50.0, rate, 1.0, ServerFigures { cpu: Some(3.8), machine_cpu: Some(3.95), ..idle() })
    };
    let found = first(&[limited(80.0, 80.0), limited(400.0, 100.0), limited(9_000.0, 101.0)], Kind::RateLimit);
    assert!(
        found.sentence.contains("beyond about 101 a second") && found.evidence.iter().any(|it| it.contains("100 to 101")),
        "{found:#?}"
    );
    let shedding =
        Point { unavailable: 0.4, errors: 0.4, error: "status 503".to_owned(), retry_after: true, ..closed(50.0, 900.0, 1.0, idle()) };
    let found = first(std::slice::from_ref(&shedding), Kind::Overload);
    assert!(found.sentence.contains("503"), "{found:#?}");
    // 503 without a word is a failure.
    first(&[Point { retry_after: false, ..shedding }], Kind::Errors);
    not_named(&[Point { too_many: 0.002, ..closed(50.0, 900.0, 1.0, idle()) }], Kind::RateLimit);
}

/// Nothing but this status, as quickly as a server can say it.
fn refusing(users: f64, rate: f64, status: u16) -> Point {
    let busy = ServerFigures { cpu: Some(3.8), machine_cpu: Some(3.95), busiest: vec![("app 11".to_owned(), 0.95); 4], ..idle() };
    let (too_many, errors) = if status == 429 { (1.0, 0.0) } else { (0.0, 1.0) };
    Point { good: 0.0, refusals: vec![status], too_many, errors, error: format!("status {status}"), ..closed(users, rate, 1.0, busy) }
}

#[test]
fn a_server_that_refuses_everything_is_told_as_that_and_nothing_else() {
    let ladder = |status| [refusing(1.0, 6_000.0, status), refusing(4.0, 20_000.0, status), refusing(16.0, 24_000.0, status)];
    for loads in [&ladder(401)[..], &ladder(401)[2..]] {
        let found = first(loads, Kind::Refused);
        assert_eq!(found.sentence, "every request was refused with 401 Unauthorized: it is the credentials, not the load");
        assert!(found.is_named() && found.headline() == found.sentence && found.remedy.contains("--bearer"), "{found:#?}");
        assert_eq!(findings(loads, None).len(), 1, "what was busy was busy with refusing");
        let said = sentences(&findings(loads, None));
        assert!(said[0].starts_with("What was measured is not its capacity: every request was refused with 401"), "{said:#?}");
        assert!(!said.iter().any(|it| it.contains("next candidate") || it.contains("it fails")), "{said:#?}");
    }
    for (status, told) in [
        (403, "refused with 403 Forbidden: it is the credentials"),
        (404, "refused with 404 Not Found: it is the address"),
        (405, "refused with 405 Method Not Allowed: it is the method"),
        (422, "refused with 422 Unprocessable Content: it is the request"),
        (418, "refused with 418: it is the request"),
        (500, "answered with 500 Internal Server Error: it is a fault"),
        (502, "answered with 502 Bad Gateway: it is what is behind it"),
    ] {
        let found = first(&ladder(status), Kind::Refused);
        assert!(found.sentence.contains(told), "{status}: {}", found.sentence);
    }
    let plain = first(&[Point { wants_tls: true, ..refusing(1.0, 6_000.0, 400) }], Kind::Refused);
    let told = "every request was refused with 400 Bad Request: it is the scheme (http:// to a port that speaks TLS), not the load";
    assert!(plain.sentence == told && plain.remedy.contains("https://"), "{plain:#?}");
    let asked = Point { asks_for: Some("Bearer".to_owned()), ..refusing(1.0, 6_000.0, 401) };
    assert!(first(&[asked], Kind::Refused).evidence.iter().any(|it| it.contains("WWW-Authenticate: Bearer")));
}

#[test]
fn credentials_that_are_missing_stay_that_where_a_gateway_shuts_their_sender_out() {
    let locked = Point { refusals: vec![429, 401], too_many: 0.9, errors: 0.1, ..refusing(16.0, 24_000.0, 401) };
    let found = first(&[refusing(1.0, 6_000.0, 401), locked.clone()], Kind::Refused);
    assert!(found.sentence.contains("401 Unauthorized or 429"), "{}", found.sentence);
    // Forbidden here and unauthorized there.
    first(&[refusing(1.0, 6_000.0, 401), refusing(4.0, 9_000.0, 403)], Kind::Refused);
    // Not there here and broken there: not one reason.
    not_named(&[refusing(1.0, 6_000.0, 404), refusing(4.0, 9_000.0, 500)], Kind::Refused);
    // Too many at first: that is about how many.
    not_named(&[Point { refusals: vec![429, 401], ..locked }], Kind::Refused);
}

#[test]
fn who_refuses_by_rate_or_only_some_is_not_taken_for_one_that_refuses_everything() {
    // 429 stays a rate limit, even where nothing gets through.
    let found = first(&[refusing(1.0, 6_000.0, 429), refusing(4.0, 9_000.0, 429)], Kind::RateLimit);
    assert!(found.sentence.contains("turned every request away") && !found.sentence.contains("beyond"), "{found:#?}");
    let away = Point { retry_after: true, unavailable: 1.0, ..refusing(4.0, 9_000.0, 503) };
    first(&[away], Kind::RateLimit);
    // A token that holds for some routes, or runs out in the middle.
    let partial = |share: f64| Point {
        good: 900.0 * (1.0 - share),
        errors: share,
        error: "status 401".to_owned(),
        ..closed(50.0, 900.0, 1.0, idle())
    };
    let found = first(&[partial(0.4)], Kind::Errors);
    assert!(
        found.sentence == "40 % of requests failed, at 900 a second (status 401)" && found.remedy.contains("credentials ran out"),
        "{found:#?}"
    );
    let ran_out = [partial(0.0), Point { level: 100.0, ..refusing(100.0, 900.0, 401) }];
    let found = first(&ran_out, Kind::Errors);
    assert!(found.sentence.contains("from about 900 requests a second on"), "{found:#?}");
    // By a check of its own, 404 was what was wanted.
    not_named(&[Point { good: 900.0, ..refusing(1.0, 900.0, 404) }], Kind::Refused);
    // Where many connections fail besides, more is wrong.
    not_named(&[Point { due: 12_000.0, ..refusing(1.0, 6_000.0, 401) }], Kind::Refused);
}

#[test]
fn loads_at_which_nobody_answers_do_not_hide_that_all_others_were_refused() {
    let silent =
        Point { answered: 0.0, refusals: Vec::new(), timeouts: 1.0, errors: 0.0, service_s: None, ..refusing(64.0, 24_000.0, 401) };
    first(&[refusing(1.0, 6_000.0, 401), silent], Kind::Refused);
}

#[test]
fn who_breaks_down_beyond_a_full_pool_is_limited_by_the_pool() {
    // Eight workers of 5 ms carry 1,600 a second; with more than 150 requests at once nearly all are refused.
    let carried = |users: f64, rate: f64, service_ms: f64| closed(users, rate, service_ms, ServerFigures { threads: Some(9.0), ..idle() });
    let carried = [carried(1.0, 196.0, 5.1), carried(5.0, 978.0, 5.1), carried(10.0, 1_596.0, 6.2), carried(100.0, 1_596.0, 61.6)];
    let broken = Point {
        good: 150.0,
        answered: 32_000.0,
        due: 32_000.0,
        unavailable: 0.995,
        errors: 0.995,
        error: "status 503".to_owned(),
        // Refusing is work, on a machine that is full because of it.
        ..closed(
            200.0,
            32_000.0,
            6.2,
            ServerFigures {
                cpu: Some(1.9),
                busiest: vec![("app 11".to_owned(), 0.25); 8],
                machine_cpu: Some(4.0),
                waiting: Some(1.5),
                ..idle()
            },
        )
    };
    for retry_after in [true, false] {
        let broken = Point { retry_after, ..broken.clone() };
        let loads: Vec<Point> = carried.iter().cloned().chain([broken.clone()]).collect();
        let found = first(&loads, Kind::WorkerPool);
        assert!(found.sentence.contains("1,596 requests a second"), "{found:#?}");
        // What it used while the pool was full, and not while it refused.
        assert!(found.evidence.iter().any(|it| it.contains("0.20 of 4 cores")), "{found:#?}");
        not_named(&loads, Kind::RateLimit);
        // Where nothing was flat before, breaking down is what ends it, and no rate that it lets through.
        let loads = [carried[0].clone(), carried[1].clone(), broken];
        let found = first(&loads, if retry_after { Kind::Overload } else { Kind::Errors });
        assert!(!found.sentence.contains("150"), "{found:#?}");
        not_named(&loads, Kind::RateLimit);
    }
}

#[test]
fn failures_before_times_grow_are_named_and_those_at_every_load_are_not() {
    let failing = |users: f64, rate: f64, errors: f64| Point {
        errors,
        error: "status 500".to_owned(),
        good: rate * (1.0 - errors),
        ..closed(users, rate, 5.0, idle())
    };
    let found = first(
        &[failing(1.0, 200.0, 0.0), failing(4.0, 800.0, 0.0), failing(16.0, 3_200.0, 0.5), failing(64.0, 12_800.0, 0.9)],
        Kind::Errors,
    );
    assert!(found.sentence.contains("before it slows down, from about 3,200"), "{found:#?}");
    not_named(&[failing(1.0, 200.0, 0.1), failing(4.0, 800.0, 0.1), failing(16.0, 3_200.0, 0.11)], Kind::Errors);
}

#[test]
fn files_that_are_all_open_are_named() {
    first(&[closed(1_000.0, 900.0, 20.0, ServerFigures { files_share: Some(0.99), ..idle() })], Kind::OpenFiles);
    not_named(&[closed(1_000.0, 900.0, 20.0, ServerFigures { files_share: Some(0.6), ..idle() })], Kind::OpenFiles);
}

#[test]
fn many_threads_that_wait_beside_idle_cores_wait_for_something_elsewhere() {
    let found = first(&pooled(|_| ServerFigures { threads: Some(68.0), ..idle() }), Kind::NotVisible);
    assert!(found.evidence.iter().any(|it| it.contains("68 threads, and 4 requests get on at a time")), "{found:#?}");
    let all = findings(&pooled(|_| ServerFigures { threads: Some(68.0), ..idle() }), None);
    assert_eq!(all[1].kind, Kind::WorkerPool, "the runner-up: {all:#?}");
    let slower = ladder([50.0, 140.0, 380.0, 1_000.0], [20.0, 28.0, 42.0, 64.0], |_| ServerFigures { threads: Some(68.0), ..idle() });
    first(&slower, Kind::NotVisible);
}

#[test]
fn a_server_that_works_all_the_time_waits_for_nothing_behind_it() {
    // An interpreter with one lock: each request is work, and a core's worth of work is done, whoever does it.
    let one_core = |rate: f64| ServerFigures {
        cpu: Some(1.0),
        busiest: vec![("app 11".to_owned(), 0.2); 5],
        threads: Some(68.0),
        machine_cpu: Some(1.1 + rate / 1e6),
        ..idle()
    };
    let points = ladder([155.0, 162.0, 160.0, 163.0], [6.4, 24.7, 100.0, 392.0], one_core);
    let found = findings(&points, None);
    assert!(found.iter().all(|it| it.kind != Kind::NotVisible || !it.sentence.contains("behind it")), "{found:#?}");
}

#[test]
fn of_a_server_that_was_not_watched_only_its_end_is_said() {
    let unseen = |points: Vec<Point>| points.into_iter().map(|point| Point { server: None, ..point }).collect::<Vec<_>>();
    let found = first(&unseen(pooled(|_| idle())), Kind::NotVisible);
    assert!(found.remedy.contains("--observe"), "{found:#?}");
    assert!(findings(&unseen(growing(|_| idle())), None).is_empty());
    assert!(findings(&[], None).is_empty());
    assert!(findings(&[Point::default()], None).is_empty(), "nothing fell due");
}

#[test]
fn the_strongest_comes_first_and_is_said_with_its_evidence_and_the_next() {
    let found = findings(&pooled(|_| ServerFigures { threads: Some(5.0), ..idle() }), None);
    assert!(found.windows(2).all(|pair| pair[0].strength >= pair[1].strength) && found.len() <= SHOWN_MAX, "{found:#?}");
    let said = sentences(&found);
    assert!(
        said[0].starts_with("What limits it is a pool of workers: about 4 workers, all taken, let 200 requests a second through"),
        "{said:#?}"
    );
    assert!(said[1].starts_with("Evidence: ") && said[2].starts_with("How to check: ") && said[2].contains(" Fix: "), "{said:#?}");
    assert!(said[3].starts_with("The next candidate is something not visible from here: "), "{said:#?}");
    assert!(sentences(&[]).is_empty());
}

#[test]
fn the_keys_of_a_finding_are_those_of_the_guide() {
    let found = first(&pooled(|_| ServerFigures { threads: Some(5.0), ..idle() }), Kind::WorkerPool);
    let value = serde_json::to_value(&found).unwrap();
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["brief", "evidence", "kind", "law", "refuted_by", "remedy", "sentence", "strength"]);
    assert_eq!(value["kind"], "worker_pool");
}

#[test]
fn one_load_names_no_pool_and_no_lock() {
    let found = first(&[closed(10.0, 1_597.0, 6.2, ServerFigures { cpu: Some(0.09), ..idle() })], Kind::None);
    assert_eq!(found.sentence, "one load cannot show a limit; its processors are not it (0.09 of 4 cores)");
    assert!(found.remedy.contains("loadline sweep"), "{found:#?}");
    // What is said not to be it is no candidate either.
    let found = findings(&[closed(10.0, 10_357.0, 0.96, ServerFigures { cpu: Some(1.36), machine_cpu: Some(2.84), ..idle() })], None);
    let said = sentences(&found).join(" ");
    assert!(said.contains("processors are not it") && !said.contains("candidate is its processors"), "{said}");
    // However long everybody waits.
    let waiting = Point { quickest_s: Some(0.02), ..closed(50.0, 200.0, 250.0, ServerFigures { threads: Some(5.0), ..idle() }) };
    first(&[waiting], Kind::None);
    // A rate that is not kept up with shows that there is a limit, and not which.
    let behind = Point { answered: 1_600.0, good: 1_600.0, ..offered(2_000.0, 900.0, idle()) };
    let found = first(&[behind], Kind::None);
    assert!(found.sentence.starts_with("it answered 1,600 of 2,000 requests a second, and one load cannot show why"), "{found:#?}");
    // What may be full is not said not to be.
    let found = first(&[closed(10.0, 1_597.0, 6.2, ServerFigures { cpu: Some(3.1), ..idle() })], Kind::Processor);
    assert!(found.strength < 0.7, "{found:#?}");
}

#[test]
fn connections_that_are_too_few_for_the_rate_are_the_loads_own_limit() {
    let limit = |connections: u32, service_ms: u64| ConnectionsLimit {
        connections,
        busy: 0.99,
        wait_mean: Nanos::from_millis(2_690),
        service_mean: Nanos::from_millis(service_ms),
        carries: f64::from(connections) * 1e3 / service_ms as f64,
        needed: (200.0 * service_ms as f64 / 1e3).ceil(),
    };
    let capped = Point {
        connections: Some(limit(5, 50)),
        answered: 100.0,
        good: 100.0,
        quickest_s: Some(0.05),
        ..offered(200.0, 50.0, ServerFigures { threads: Some(5.0), ..idle() })
    };
    let found = first(std::slice::from_ref(&capped), Kind::OwnLoad);
    assert!(found.sentence.contains("all 5 connections (--connections 5) were busy"), "{found:#?}");
    assert!(found.remedy.contains("keep 10 busy, so --connections 20 leaves room"), "{found:#?}");
    assert_eq!(findings(std::slice::from_ref(&capped), None).len(), 1, "nothing else explains what this does");
    // Where answers wait in the server as well, it cannot be told which of the two it is.
    let found = first(&[Point { quickest_s: Some(0.005), ..capped.clone() }], Kind::None);
    assert!(found.sentence.starts_with("it answered 100 of 200 requests a second, and one load cannot show why"), "{found:#?}");
    // With room there is no line, and a server that hangs keeps connections busy with nothing.
    not_named(&[Point { connections: None, ..capped.clone() }], Kind::OwnLoad);
    not_named(&[Point { timeouts: 1.0, ..capped.clone() }], Kind::OwnLoad);
    // Over several rates the server's end showed before all connections were busy.
    let open = |rate: f64, answered: f64, ms: f64| Point {
        answered,
        good: answered,
        quickest_s: Some(0.02),
        ..offered(rate, ms, ServerFigures { threads: Some(5.0), ..idle() })
    };
    let full = Point { connections: Some(limit(256, 1_270)), ..open(400.0, 200.0, 1_270.0) };
    first(&[open(100.0, 100.0, 20.0), open(180.0, 180.0, 24.0), full], Kind::WorkerPool);
}

#[test]
fn a_server_that_ended_is_named_before_everything_that_its_end_looks_like() {
    let gone = Gone { how: Departure::Ended, at_s: 2.9, back_s: None, of_s: 6.0, failed: 364, before: 96.0 };
    let dead = Point { gone: Some(gone), errors: 0.6, error: "connection refused".to_owned(), ..offered(100.0, 2.0, idle()) };
    let found = first(&[dead], Kind::Ended);
    assert_eq!(found.sentence, "the server's process ended after 2.90 s: 364 requests failed after that");
    let said = sentences(&[found]);
    assert!(said[0].starts_with("What was measured is not its capacity: the server's process ended"), "{said:?}");
}

#[test]
fn a_server_that_answers_nobody_is_told_so() {
    let hung = |users: f64| Point {
        good: 0.0,
        succeeded: 0.0,
        answered: 0.0,
        timeouts: 1.0,
        unanswered: 1.0,
        timeout_s: 1.0,
        failure: "no answer within the timeout".to_owned(),
        service_s: Some(1.0),
        ..closed(users, 5.0, 1_000.0, idle())
    };
    let found = first(&[hung(5.0)], Kind::Silent);
    assert_eq!(found.sentence, "no request was answered within the time limit of 1.00 s (--timeout)");
    first(&[hung(1.0), hung(5.0)], Kind::Silent);
    // At the lower load it answers.
    not_named(&[closed(1.0, 100.0, 10.0, idle()), hung(5.0)], Kind::Silent);
    let cut = Point { timeouts: 0.0, unanswered: 0.0, errors: 1.0, failure: "closed before answering".to_owned(), ..hung(5.0) };
    let found = first(&[cut], Kind::Refused);
    assert_eq!(found.sentence, "every request failed, most often: closed before answering");
}

#[test]
fn an_acknowledgement_that_is_held_back_is_named_before_a_lock() {
    let held = |users: f64| Point {
        between: Between { held_back: 1.0, first_byte_s: 0.000_56, last_byte_s: 0.044, ..Between::default() },
        ..closed(users, users / 0.044, 44.0, ServerFigures { threads: Some(users + 2.0), ..idle() })
    };
    let found = first(&[held(10.0)], Kind::DelayedAck);
    assert!(found.sentence.contains("the first byte came after 560 µs, the last after 44.0 ms"), "{found:#?}");
    assert_eq!(findings(&[held(1.0), held(10.0)], None).len(), 1);
}

#[test]
fn connections_that_are_not_kept_are_named_where_opening_them_takes_long() {
    let closing = |opening_s: f64| Point {
        between: Between { closed: 1.0, answers: 5_000.0, opening_s, ..Between::default() },
        ..closed(10.0, 5_000.0, 1.0, idle())
    };
    first(&[closing(0.000_9)], Kind::NewConnections);
    not_named(&[closing(0.000_05)], Kind::NewConnections);
}

#[test]
fn packets_that_are_lost_are_named_over_a_network_alone() {
    let losing = |over_network: bool, retransmits: f64, late: f64| Point {
        over_network,
        between: Between { late, ..Between::default() },
        ..closed(10.0, 500.0, 30.0, ServerFigures { retransmits: Some(retransmits), ..idle() })
    };
    let found = first(&[losing(true, 25.0, 0.04)], Kind::LostPackets);
    assert!(found.sentence.contains("5 for every 100 answers"), "{found:#?}");
    not_named(&[losing(false, 25.0, 0.04)], Kind::LostPackets);
    not_named(&[losing(true, 1.0, 0.002)], Kind::LostPackets);
    // The counter is its machine's: where no answer is late by that, or most are, it tells of something else.
    not_named(&[losing(true, 25.0, 0.0)], Kind::LostPackets);
    not_named(&[losing(true, 25.0, 0.9)], Kind::LostPackets);
    let unaccepted = |requests: f64| Point {
        requests,
        between: Between { lost: 0.5, lost_connections: 100, ..Between::default() },
        ..closed(10.0, 200.0, 50.0, idle())
    };
    first(&[unaccepted(1_000.0)], Kind::LostPackets);
    // At the beginning, and never again.
    not_named(&[unaccepted(100_000.0)], Kind::LostPackets);
}

#[test]
fn freezes_are_named_with_their_period_and_not_where_something_is_full() {
    let frozen = Freezes { count: 6.0, lasting_s: 0.4, every_s: Some(2.0), share: 0.2 };
    let found = first(&[Point { freezes: Some(frozen), ..offered(500.0, 40.0, idle()) }], Kind::Freezes);
    assert_eq!(found.sentence, "the server answers nobody for about 400 ms, every 2.00 s: 20 % of the time");
    let seldom = Freezes { share: 0.06, ..frozen };
    let ladder: Vec<Point> =
        pooled(|_| ServerFigures { threads: Some(5.0), ..idle() }).into_iter().map(|it| Point { freezes: Some(seldom), ..it }).collect();
    first(&ladder, Kind::WorkerPool);
}

#[test]
fn a_constant_rate_by_503_is_a_rate_limit_and_bursts_are_overload_protection() {
    // 207 a second succeed at once, whatever is offered.
    let limited = |users: f64, due: f64| Point {
        good: 207.0,
        due,
        answered: due,
        unavailable: 1.0 - 207.0 / due,
        errors: 1.0 - 207.0 / due,
        error: "status 503".to_owned(),
        succeeded_s: Some(0.000_2),
        steady: Some(true),
        ..closed(users, due, 0.2, idle())
    };
    let found = first(&[limited(1.0, 9_000.0), limited(4.0, 24_000.0), limited(16.0, 30_000.0)], Kind::RateLimit);
    assert!(found.sentence.contains("beyond about 207 a second, by 503"), "{found:#?}");
    first(&[limited(16.0, 30_000.0)], Kind::RateLimit);
    // 50 succeed, and then none for two seconds.
    let bursts = Point { good: 25.0, steady: Some(false), retry_after: true, ..limited(100.0, 18_000.0) };
    let found = first(&[bursts], Kind::Overload);
    assert!(!found.sentence.contains("beyond"), "{found:#?}");
    // Eight at a time, 400 a second: by rate, or by number.
    let crowded = |users: f64, due: f64| Point { good: 400.0, succeeded_s: Some(0.02), retry_after: true, ..limited(users, due) };
    let found = first(&[closed(1.0, 50.0, 20.0, idle()), crowded(16.0, 9_000.0), crowded(64.0, 20_000.0)], Kind::Overload);
    assert!(found.sentence.contains("about 8 of them at once"), "{found:#?}");
}

#[test]
fn no_pool_is_named_where_a_law_was_accepted_or_throughput_falls() {
    use crate::curve::{Estimate, Model};
    let at = |value| Estimate { value, low: value, high: value };
    let law = |n: f64| 1_000.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.001 * n * (n - 1.0));
    let levels = [1.0, 4.0, 8.0, 16.0, 32.0, 64.0, 200.0];
    let points: Vec<Point> =
        levels.iter().map(|n| closed(*n, law(*n), n / law(*n) * 1e3, ServerFigures { threads: Some(10.0), ..idle() })).collect();
    let universal = Model::Universal { lambda: at(1_000.0), sigma: at(0.05), kappa: at(0.001), peak: None };
    for model in [Some(universal), None] {
        let found = findings(&points, model);
        assert_eq!(found[0].kind, Kind::Contention, "{found:#?}");
        assert!(found.iter().all(|it| it.kind != Kind::WorkerPool), "{found:#?}");
        assert!(found[0].sentence.contains("throughput falls from 9,034 requests a second at 32 users to 3,941 at 200"), "{found:#?}");
        // Up to where it is highest.
        let found = findings(&points[..5], model);
        assert!(found.iter().all(|it| it.kind != Kind::WorkerPool), "{found:#?}");
    }
    let amdahl = Model::Amdahl { lambda: at(1_000.0), sigma: at(0.1), limit: at(10_000.0) };
    let flat = |n: f64| 1_000.0 * n / (1.0 + 0.1 * (n - 1.0));
    let points: Vec<Point> = levels.iter().map(|n| closed(*n, flat(*n), n / flat(*n) * 1e3, idle())).collect();
    let found = findings(&points, Some(amdahl));
    assert_eq!(found[0].kind, Kind::Contention, "{found:#?}");
    // A straight line has no end here.
    let found = findings(&growing(|_| ServerFigures { threads: Some(5.0), ..idle() }), Some(Model::Linear { lambda: at(50.0) }));
    assert!(found[0].kind == Kind::None && found[0].sentence.starts_with("no limit was reached up to a load of 64"), "{found:#?}");
}

#[test]
fn nothing_is_called_idle_on_a_machine_that_other_programs_fill() {
    let pool = |machine_cpu| pooled(|_| ServerFigures { threads: Some(40.0), machine_cpu: Some(machine_cpu), ..idle() });
    let beside = |machine_cpu| -> Vec<Point> { pool(machine_cpu).into_iter().map(|it| Point { others_share: Some(0.9), ..it }).collect() };
    first(&beside(0.5), Kind::NotVisible);
    let found = findings(&beside(3.97), None);
    assert!(found.iter().all(|it| !it.is_named() || !it.sentence.contains("nothing on its machine is busy")), "{found:#?}");
    assert!(found[0].is_named() || found[0].kind == Kind::None, "{found:#?}");
}

#[test]
fn throughput_that_falls_as_the_host_takes_processors_away_is_no_contention() {
    let levels = [1.0, 4.0, 8.0, 16.0, 32.0, 64.0, 200.0];
    let law = |n: f64| 1_000.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.001 * n * (n - 1.0));
    let of = |usual: f64, last: f64| -> Vec<Point> {
        let steal = |n: f64| Some(if n < 200.0 { usual } else { last });
        levels
            .iter()
            .map(|n| closed(*n, law(*n), n / law(*n) * 1e3, ServerFigures { steal: steal(*n), threads: Some(10.0), ..idle() }))
            .collect()
    };
    for (usual, last) in [(0.0, 0.02), (0.2, 0.22)] {
        first(&of(usual, last), Kind::Contention);
    }
    let found = findings(&of(0.02, 0.38), None);
    assert!(found.iter().all(|it| !it.is_named() || matches!(it.kind, Kind::None | Kind::NotVisible)), "{found:#?}");
    assert!(found[0].sentence.contains("no figure"), "{found:#?}");
}

#[test]
fn throughput_that_fell_at_one_load_alone_is_no_contention() {
    let points = [(10.0, 36_814.0), (20.0, 36_111.0), (50.0, 42_202.0), (100.0, 29_559.0)];
    let busy = || ServerFigures { cpu: Some(2.9), machine_cpu: Some(3.4), ..idle() };
    let found = findings(&points.map(|(users, rate)| closed(users, rate, users / rate * 1e3, busy())), None);
    assert!(found.iter().all(|it| !it.is_named() || it.sentence.ends_with("no figure of the server explains it alone")), "{found:#?}");
    assert!(found.iter().flat_map(|it| &it.evidence).all(|it| !it.contains("little to do")), "{found:#?}");
}

#[test]
fn loads_in_which_loadline_stood_still_tell_nothing_of_the_server() {
    // A host that took two thirds of the processors away: 13 threads used one core together, and no lock was there.
    let taken = |rate: f64| ServerFigures {
        cpu: Some(1.0),
        machine_cpu: Some(1.2),
        steal: Some(0.6),
        busiest: vec![("app 11".to_owned(), 0.17); 6],
        threads: Some(13.0),
        waiting: Some(0.05 * rate / 1e4),
        ..idle()
    };
    let still = |users: f64, rate: f64| Point { stood_still: true, ..closed(users, rate, users / rate * 1e3, taken(rate)) };
    let all = [still(1.0, 10_700.0), still(10.0, 11_000.0), still(100.0, 11_279.0)];
    let found = findings(&all, None);
    assert!(found.iter().all(|it| it.kind != Kind::Lock || !it.is_named()), "{found:#?}");
    // Levels that count are judged without the others.
    let mut points = pooled(|_| ServerFigures { threads: Some(8.0), ..idle() });
    let expected = findings(&points, None);
    points.push(still(300.0, 20.0));
    assert_eq!(findings(&points, None), expected);
    // That all requests failed is so all the same.
    let failed = Point { stood_still: true, good: 0.0, errors: 1.0, ..closed(600.0, 500.0, 1.0, idle()) };
    points.push(failed);
    assert_ne!(findings(&points, None), expected);
}

#[test]
fn no_pool_has_the_size_of_the_lowest_load() {
    // Four workers, and a law that bends, from where both are flat: by Little's law ten and sixteen are worked on at once.
    let workers = |users: f64| closed(users, 400.0, users / 0.4, ServerFigures { threads: Some(10.0), ..idle() });
    let bent = |users: f64, rate: f64| closed(users, rate, users / rate * 1e3, ServerFigures { threads: Some(16.0), ..idle() });
    for points in [[10.0, 20.0, 50.0].map(workers), [bent(16.0, 1_434.0), bent(32.0, 1_412.0), bent(40.0, 1_400.0)]] {
        let found = findings(&points, None);
        assert!(found.iter().all(|it| it.kind != Kind::WorkerPool), "{found:#?}");
        assert!(found.iter().flat_map(|it| &it.evidence).all(|it| !it.contains("get on at a time")), "{found:#?}");
    }
    // One alone is worked on at once, where one is all that a single worker takes.
    let single = [1.0, 4.0, 16.0].map(|users| closed(users, 100.0, users * 10.0, ServerFigures { threads: Some(3.0), ..idle() }));
    assert!(findings(&single, None).iter().any(|it| it.kind == Kind::WorkerPool || it.kind == Kind::Lock));
}

#[test]
fn a_sentence_in_brief_ends_where_it_can() {
    assert_eq!(in_brief("a lock: one at a time").as_deref(), Some("A lock: one at a time"));
    let long = format!("a pool of workers: about 4 workers, all taken, let {} through", "9".repeat(60));
    assert_eq!(in_brief(&long).as_deref(), Some("A pool of workers: about 4 workers, all taken"));
    assert_eq!(in_brief(&"x".repeat(80)), None);
    assert_eq!(in_brief(&format!("its use (0.97 of 4 cores) {}", "x".repeat(80))).as_deref(), Some("Its use"));
}

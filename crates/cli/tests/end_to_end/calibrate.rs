//! `loadline calibrate`: what is measured, kept, and used by later commands.

use crate::session::{Session, least_disturbed, server};

/// A session whose user's data directory is its own.
fn at_home(session: Session) -> Session {
    let home = session.path("");
    session.env("XDG_DATA_HOME", home.to_str().unwrap())
}

#[test]
fn the_ceiling_is_kept_and_told_by_later_reports() {
    let server = server();
    let mut session = at_home(Session::new());
    let ran = session.loadline("calibrate -d 100ms").exits(0).complains_of_nothing();
    ran.says("ceiling").says("How late requests leave").says("loadline/calibration.json");
    let kept = session.json("loadline/calibration.json");
    assert_eq!(kept["schema"], "loadline.calibration/1");
    let tls: Vec<bool> = kept["ceilings"].as_array().unwrap().iter().map(|ceiling| ceiling["tls"].as_bool().unwrap()).collect();
    assert!(tls.contains(&true) && tls.contains(&false), "{tls:?}");
    assert!(kept["lags"].as_array().unwrap().len() >= 10);

    let line = format!("run {} -c 4 -n 200", server.url("/healthz"));
    session = at_home(session);
    session.loadline(&format!("{line} --full --out json=near.json")).exits(0).says("of this machine's ceiling");
    assert!(session.json("near.json")["generator"]["ceiling_qps"].as_f64().unwrap() > 0.0);
    // Larger answers meet another ceiling.
    session = at_home(session);
    let large = session.loadline(&format!("run '{}' -c 4 -n 50", server.url("/behave?size=100000"))).exits(0);
    assert!(!large.stdout.contains("ceiling"), "{}", large.stdout);
    // Without a place for it nothing is known.
    let ran = session.loadline(&line).exits(0);
    assert!(!ran.stdout.contains("ceiling"), "{}", ran.stdout);

    let other = session.read("loadline/calibration.json").replacen("\"cores\": ", "\"cores\": 9", 1);
    session = at_home(session.file("loadline/calibration.json", &other));
    let ran = session.loadline(&line).exits(0);
    assert!(!ran.stdout.contains("ceiling"), "it was measured on another machine:\n{}", ran.stdout);
}

#[test]
fn the_noise_of_a_target_is_kept_and_printed_by_comparisons() {
    let server = server();
    let mut at_rest = Some(Session::new());
    let (url, other) = (server.url("/behave?delay=5ms"), server.url("/behave?delay=6ms"));
    let shape = "-c 2 -n 60 --cooldown 0s";
    let calibrate = || {
        let mut session = at_home(at_rest.take().unwrap());
        let ran = session.loadline(&format!("calibrate --aa '{url}' {shape} --pairs 6"));
        at_rest = Some(session);
        ran
    };
    or_return!(least_disturbed(calibrate, |ran| ran.exit != 0)).exits(0).says("differs from itself").says("false alarm");
    let mut session = at_home(at_rest.unwrap());
    let kept = session.json("loadline/calibration.json");
    // Pairs that do not count are left out.
    let pairs = kept["noise"][0]["noise"]["pairs"].as_u64().unwrap();
    assert!((5..=6).contains(&pairs), "{pairs}");
    session.loadline(&format!("compare '{url}' '{other}' {shape} --pairs 1 --name known")).exits(4).says("noise of this setup (A/A): ±");
    session = at_home(session);
    session.loadline(&format!("compare '{url}' '{other}' -c 3 -n 60 --pairs 1 --name unknown")).exits(4).says("is not known");
}

#[test]
fn what_cannot_be_calibrated_is_told() {
    let mut session = Session::new();
    session.loadline("calibrate -c 5").exits(2).complains("--aa URL");
    session.loadline("calibrate --aa http://127.0.0.1:1/ --pairs 4").exits(2).complains("too few").complains("at least 5");
    session.loadline("calibrate -d 1ms").exits(2).complains("too short");
    session.loadline("calibrate --aa http://127.0.0.1:1/ --pairs 6 -d 100ms").exits(3).complains("127.0.0.1:1");
}

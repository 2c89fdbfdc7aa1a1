//! TLS sessions that are resumed, by whom and where that is asked for.

use super::*;

fn asking(at: SocketAddr, issuer: &Issuer, adjust: impl Fn(&mut Draft)) -> Network {
    let plan = plan(&format!("https://localhost:{}/", at.port()), |draft| {
        draft.cacert = Some(issuer.file());
        draft.no_preflight = true;
        adjust(draft);
    });
    Network::prepare(&plan).unwrap()
}

/// Whether each of three connections resumed a session. A server gives what it takes with the first bytes it says.
fn three(network: &Network) -> [bool; 3] {
    [0, 1, 2].map(|number| {
        let mut dialed = on_runtime(network.dial(number)).unwrap();
        assert_eq!(echoed(&mut dialed.stream), "hello");
        dialed.resumed
    })
}

#[test]
fn sessions_are_resumed_where_that_is_asked_for() {
    let issuer = Issuer::new();
    let at = issuer.server(&["localhost"], |_| {});
    for version in ["1.2", "1.3"] {
        for (resumption, resumed) in [("on", [false, true, true]), ("off", [false; 3])] {
            let network = asking(at, &issuer, |draft| (draft.tls_version, draft.tls_resumption) = (given(version), given(resumption)));
            assert_eq!(three(&network), resumed, "TLS {version}, {resumption}");
        }
    }
}

#[test]
fn a_worker_resumes_no_sessions_but_its_own() {
    let issuer = Issuer::new();
    let at = issuer.server(&["localhost"], |_| {});
    let network = asking(at, &issuer, |draft| draft.tls_resumption = given("on"));
    assert_eq!(three(&network.of_worker()), [false, true, true]);
    assert_eq!(three(&network.of_worker()), [false, true, true]);
    assert_eq!(three(&network), [false, true, true]);
    assert_eq!(three(&network.clone()), [true; 3], "of the same worker");
}

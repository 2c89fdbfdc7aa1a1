//! Proxies of SOCKS 5: one that knows a name which nobody else does, and tells what it was asked for.

use super::*;

/// What a proxy lets through, and whom.
#[derive(Clone, Copy)]
struct Knows {
    user: Option<(&'static str, &'static str)>,
    /// Leads to the address; all other names are unknown.
    name: &'static str,
    at: SocketAddr,
}

fn take<const N: usize>(stream: &mut TcpStream) -> [u8; N] {
    let mut bytes = [0; N];
    let _ = stream.read_exact(&mut bytes);
    bytes
}

fn text(stream: &mut TcpStream) -> String {
    let [length] = take(stream);
    let mut bytes = vec![0; length.into()];
    let _ = stream.read_exact(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// Such a proxy, and what it is asked for.
fn proxy(knows: Knows) -> (SocketAddr, Receiver<String>) {
    let (asked, asks) = channel();
    let at = listening(move |mut stream| {
        let [_, methods] = take(&mut stream);
        let mut offered = vec![0; methods.into()];
        let _ = stream.read_exact(&mut offered);
        let method = if knows.user.is_some() { 2 } else { 0 };
        if !offered.contains(&method) {
            let _ = stream.write_all(&[5, 0xff]);
            return;
        }
        let _ = stream.write_all(&[5, method]);
        if let Some((name, password)) = knows.user {
            let [_] = take(&mut stream);
            let is_known = text(&mut stream) == name && text(&mut stream) == password;
            let _ = stream.write_all(&[1, u8::from(!is_known)]);
            if !is_known {
                return;
            }
        }
        let [_, _, _, kind] = take(&mut stream);
        let host = if kind == 3 { text(&mut stream) } else { take::<4>(&mut stream).map(|byte| byte.to_string()).join(".") };
        let port = u16::from_be_bytes(take(&mut stream));
        let to = format!("{host}:{port}");
        let is_known = host == knows.name || to == knows.at.to_string();
        asked.send(to).unwrap_or_default();
        let _ = stream.write_all(&[5, if is_known { 0 } else { 4 }, 0, 1, 0, 0, 0, 0, 0, 0]);
        if is_known {
            joined(stream, TcpStream::connect(knows.at).unwrap());
        }
    });
    (at, asks)
}

#[test]
fn a_name_that_only_the_proxy_knows_is_left_to_it() {
    let (proxy, asks) = proxy(Knows { user: None, name: "api.test", at: listening(echo) });
    let plan = plan("http://api.test:81/", |draft| {
        draft.proxy = Some(format!("socks5h://{proxy}"));
        draft.no_preflight = true;
    });
    let mut dialed = dial(&plan).unwrap();
    assert_eq!(echoed(&mut dialed.stream), "hello");
    assert!(dialed.tls.is_none());
    assert_eq!(asks.recv().unwrap(), "api.test:81");
}

#[test]
fn an_address_that_was_looked_up_here_is_told_to_a_proxy_that_asks_who_comes() {
    let at = listening(echo);
    let (proxy, asks) = proxy(Knows { user: Some(("me", "s3cret")), name: "", at });
    let through = |user: &str| {
        plan(&format!("http://localhost:{}/", at.port()), |draft| {
            draft.proxy = Some(format!("socks5://{user}{proxy}"));
            draft.no_preflight = true;
        })
    };
    let mut dialed = dial(&through("me:s3cret@")).unwrap();
    assert_eq!(echoed(&mut dialed.stream), "hello");
    assert_eq!(asks.recv().unwrap(), at.to_string());
    for (user, why) in [("me:other@", "it does not know this name and password"), ("", proxy::WANTS_USER)] {
        let failed = dial(&through(user)).unwrap_err();
        assert_eq!(failed, DialFailed { failure: Failure::ConnectProxy, text: format!("SOCKS to {at}: {why}") });
    }
}

#[test]
fn tls_goes_through_the_tunnel_and_is_for_the_server() {
    let issuer = Issuer::new();
    let at = issuer.server(&["api.test"], |_| {});
    let (proxy, asks) = proxy(Knows { user: None, name: "api.test", at });
    let plan = plan("https://api.test/", |draft| {
        draft.proxy = Some(format!("socks5h://{proxy}"));
        draft.cacert = Some(issuer.file());
    });
    let mut dialed = dial(&plan).unwrap();
    assert_eq!(echoed(&mut dialed.stream), "hello");
    assert!(dialed.tls.is_some());
    assert_eq!([asks.recv().unwrap(), asks.recv().unwrap()], ["api.test:443"; 2], "once to look whether it is there");
}

#[test]
fn what_the_proxy_refuses_is_said_before_the_run() {
    let (proxy, _asks) = proxy(Knows { user: None, name: "api.test", at: listening(echo) });
    let through = |scheme: &str| plan("http://other.test/", |draft| draft.proxy = Some(format!("{scheme}://{proxy}")));
    assert_eq!(
        not_prepared(&through("socks5h")),
        format!(
            "error: the proxy {proxy} opened no tunnel: SOCKS to other.test:80: host unreachable\n  \
             help: {}, or give --no-preflight to measure all the same",
            Failure::ConnectProxy.remedy().marked()
        )
    );
    let unknown = not_prepared(&through("socks5"));
    assert!(unknown.starts_with("error: other.test could not be looked up (") && unknown.contains("--proxy socks5h://"), "{unknown}");
}

#[test]
fn an_address_that_is_told_to_a_proxy_is_judged_as_one_that_is_connected_to() {
    let at = listening(echo);
    let (proxy, asks) = proxy(Knows { user: None, name: "", at });
    let plan = plan(&format!("http://{at}/"), |draft| draft.proxy = Some(format!("socks5://{proxy}")));
    let fence = Fence::new("ask", Vec::new(), move |_, address| address != at);
    let refused = Network::prepare_within(&plan, 1, Preflight::Skip, &fence).unwrap_err();
    assert_eq!(refused.kind, RunErrorKind::Refused);
    assert!(asks.try_recv().is_err());
}

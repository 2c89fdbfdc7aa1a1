//! Connections to servers of this process, each of which behaves, or misbehaves, in one way.

mod resumption;
mod socks;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use plan::Draft;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use socket2::SockRef;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

// Plain connections

#[test]
fn a_dial_connects_without_delaying_small_segments() {
    let at = listening(echo);
    let mut dialed = dial(&plan(&format!("http://{at}/"), |draft| draft.no_preflight = true)).unwrap();
    assert!(dialed.tls.is_none());
    assert!(SockRef::from(&dialed.stream).tcp_nodelay().unwrap());
    assert_eq!(echoed(&mut dialed.stream), "hello");
}

#[test]
fn a_refused_port_is_its_own_class_during_a_run_and_a_sentence_before_it() {
    let at = refusing();
    let failed = dial(&plan(&format!("http://{at}/"), |draft| draft.no_preflight = true)).unwrap_err();
    assert_eq!(failed, DialFailed { failure: Failure::ConnectRefused, text: format!("{at}: connection refused") });
    assert_eq!(
        not_prepared(&plan(&format!("http://{at}/"), |_| {})),
        format!(
            "error: nothing listens on {at} (connection refused)\n  \
             help: start the server first, or give --no-preflight to measure all the same"
        )
    );
}

#[test]
fn the_preflight_is_one_connection_and_no_request() {
    let (heard, hears) = channel();
    let at = listening(move |mut stream| {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        heard.send(bytes).unwrap();
    });
    Network::prepare(&plan(&format!("http://{at}/"), |_| {})).unwrap();
    assert_eq!(hears.recv().unwrap(), b"");
    let mut dialed = dial(&plan(&format!("http://{at}/"), |draft| draft.no_preflight = true)).unwrap();
    on_runtime(dialed.stream.write_all(b"GET")).unwrap();
    drop(dialed);
    assert_eq!(hears.recv().unwrap(), b"GET", "the second connection is the one dialled");
}

#[test]
fn connections_come_from_the_given_addresses_in_turn() {
    let (at, peers) = noting_peers();
    let plan = plan(&format!("http://{at}/"), |draft| {
        draft.no_preflight = true;
        draft.source_ip = given_all(&["127.0.0.2", "127.0.0.3"]);
    });
    let network = Network::prepare(&plan).unwrap();
    let seen: Vec<String> = (0..4)
        .map(|n| {
            on_runtime(network.dial(n)).unwrap();
            peers.recv().unwrap().ip().to_string()
        })
        .collect();
    assert_eq!(seen, ["127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.3"]);
}

#[test]
fn a_source_without_a_port_gives_way_to_the_next() {
    let (at, peers) = noting_peers();
    // An address for documentation (RFC 5737) is on no machine: binding to it fails as a full one does.
    let sources = Sources::new(vec!["192.0.2.1".parse().unwrap(), "127.0.0.9".parse().unwrap()], 1);
    on_runtime(sources.open(at, 0)).unwrap();
    assert_eq!(peers.recv().unwrap().ip().to_string(), "127.0.0.9");
    let failed = on_runtime(Sources::new(vec!["192.0.2.1".parse().unwrap()], 1).open(at, 0)).unwrap_err();
    assert_eq!(failed.failure, Failure::ConnectLocalPorts);
    let failed = on_runtime(Sources::new(vec!["::1".parse().unwrap()], 1).open(at, 0)).unwrap_err();
    assert_eq!(failed.text, format!("{at}: no --source-ip is an IPv4 address"));
}

#[test]
fn connections_are_spread_over_all_addresses_and_each_meets_every_source() {
    let (first, first_peers) = noting_peers();
    let (second, second_peers) = noting_peers();
    let plan = plan("http://two.test/", |draft| {
        draft.no_preflight = true;
        draft.source_ip = given_all(&["127.0.0.2", "127.0.0.3"]);
    });
    let network = to_addresses(&plan, vec![first, second]);
    for n in 0..8 {
        on_runtime(network.dial(n)).unwrap();
    }
    for peers in [first_peers, second_peers] {
        let seen: Vec<String> = (0..4).map(|_| peers.recv().unwrap().ip().to_string()).collect();
        assert_eq!(seen, ["127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.3"]);
    }
}

#[test]
fn many_connections_over_loopback_come_from_several_addresses_and_say_so() {
    let (at, peers) = noting_peers();
    let one = plan(&format!("http://{at}/"), |draft| draft.no_preflight = true);
    assert!(Network::prepare(&one).unwrap().warnings().is_empty());
    let ports = LocalPorts::of_this_machine().count();
    let many = plan(&format!("http://{at}/"), |draft| {
        draft.no_preflight = true;
        draft.connections = given(&(ports / 2).to_string());
    });
    let network = Network::prepare(&many).unwrap();
    for n in 0..2 {
        on_runtime(network.dial(n)).unwrap();
    }
    assert_eq!([peers.recv().unwrap().ip().to_string(), peers.recv().unwrap().ip().to_string()], ["127.0.0.1", "127.0.0.2"]);
    assert_eq!(
        network.warnings(),
        [format!(
            "connections come from 2 local addresses, from 127.0.0.1 on: one has {ports} ports, and a free one is hard to find when half are taken"
        )]
    );
}

#[test]
fn a_unix_socket_is_dialled_by_its_path() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("socket").to_str().unwrap().to_owned();
    let plan = plan("http://api.test/", |draft| draft.unix_socket = Some(path.clone()));
    assert_eq!(
        not_prepared(&plan),
        format!(
            "error: nothing listens on the socket {path} (no such file or directory)\n  \
             help: start the server first, or give --no-preflight to measure all the same"
        )
    );
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 5];
            if stream.read_exact(&mut bytes).is_ok() {
                stream.write_all(&bytes).unwrap();
            }
        }
    });
    let mut dialed = dial(&plan).unwrap();
    assert!(matches!(dialed.stream, Stream::Unix(_)));
    assert_eq!(echoed(&mut dialed.stream), "hello");
}

#[test]
fn of_several_addresses_those_are_kept_that_answer_and_the_others_are_named() {
    let (at, _) = noting_peers();
    let plan = plan(&format!("http://localhost:{}/", at.port()), |_| {});
    let hop = first_hop(&plan);
    let other: SocketAddr = format!("127.0.0.77:{}", at.port()).parse().unwrap();
    let (kept, warnings) = preflight::reachable(&plan, &hop, vec![other, at], None).unwrap();
    assert_eq!(kept, [at]);
    assert_eq!(warnings, ["localhost: 127.0.0.77 (connection refused) left out; connections go to 127.0.0.1"]);
    let nobody: SocketAddr = refusing();
    let error = preflight::reachable(&plan, &hop, vec![nobody, nobody], None).unwrap_err();
    assert_eq!(error.message, format!("nothing listens on localhost:{} (connection refused)", at.port()).into());
}

#[test]
fn localhost_leads_to_a_server_that_listens_on_ipv4_alone() {
    let (at, peers) = noting_peers();
    let plan = plan(&format!("http://localhost:{}/", at.port()), |_| {});
    let network = Network::prepare(&plan).unwrap();
    assert_eq!(network.resolution().name, "localhost");
    assert_eq!(network.resolution().addresses, [at.to_string()]);
    assert!(network.resolution().took.is_some());
    on_runtime(network.dial(0)).unwrap();
    assert!(peers.recv().unwrap().is_ipv4());
}

#[test]
fn another_origin_is_looked_up_once_and_dialled() {
    let (at, peers) = noting_peers();
    let (elsewhere, others) = noting_peers();
    let plan = plan(&format!("http://{at}/"), |draft| {
        draft.no_preflight = true;
        draft.follow = given("1");
        draft.also_target = vec![format!("http://localhost:{}", elsewhere.port())];
    });
    let network = Network::prepare(&plan).unwrap();
    let target: Target = format!("http://localhost:{}/x", elsewhere.port()).parse().unwrap();
    on_runtime(network.dial_other(&target, 0)).unwrap();
    others.recv().unwrap();
    assert_eq!(network.others.borrow().len(), 1);
    on_runtime(network.dial_other(&target, 1)).unwrap();
    others.recv().unwrap();
    on_runtime(network.dial_other(plan.target(), 2)).unwrap();
    peers.recv().unwrap();
    assert_eq!(network.others.borrow().len(), 1, "the target itself stays where it is pinned");
}

#[test]
fn names_that_lead_nowhere_are_explained() {
    let plan = plan("http://api.tset/", |_| {});
    let unresolved = |failure, text: &str| {
        preflight::unresolved(&plan, &first_hop(&plan), &DialFailed { failure, text: format!("api.tset: {text}") })
            .spelt(plan::Spelling::Flags)
    };
    assert_eq!(
        unresolved(Failure::DnsNotFound, "name or service not known"),
        "error: api.tset does not exist (name or service not known)\n  \
         help: check the spelling, or say where it is with --connect-to HOST:PORT"
    );
    assert_eq!(
        unresolved(Failure::DnsTimeout, "temporary failure in name resolution"),
        "error: api.tset could not be looked up (temporary failure in name resolution)\n  \
         help: check this machine's resolver, or say where it is with --connect-to HOST:PORT"
    );
}

#[test]
fn a_network_can_be_taken_to_another_thread() {
    fn sent<T: Send + Clone + 'static>(_: &T) {}
    sent(&Network::prepare(&plan("http://127.0.0.1:9/", |draft| draft.no_preflight = true)).unwrap());
}

// Limits

#[test]
fn too_few_open_files_are_said_with_what_would_do() {
    let plan = plan("http://127.0.0.1/", |draft| draft.connections = given("5000"));
    assert_eq!(
        check_limits(&plan, &plan.parts(), 1024).unwrap_err().spelt(plan::Spelling::Flags),
        "error: 5000 connections need 5064 open files, but this process may open 1024\n  help: ulimit -n 8192, or --connections 960"
    );
    assert_eq!(check_limits(&plan, &plan.parts(), 64).unwrap_err().help, "ulimit -n 8192".into());
    assert!(check_limits(&plan, &plan.parts(), 5064).is_ok());
}

#[test]
fn users_with_several_connections_need_files_for_all_of_them() {
    let draft = Draft {
        url: Some("http://127.0.0.1/".to_owned()),
        scenario: Some("s.yaml".to_owned()),
        connections: given("50"),
        ..Draft::default()
    };
    let sources = plan::Sources { connections_each: std::num::NonZeroU32::new(6), ..plan::Sources::default() };
    let plan = Plan::try_from(plan::LoadRecord { draft, sources }).unwrap();
    assert_eq!((plan.connections_max().get(), plan.open_connections_max()), (50, 300));
    assert_eq!(
        check_limits(&plan, &plan.parts(), 256).unwrap_err().spelt(plan::Spelling::Flags),
        "error: 300 connections need 364 open files, but this process may open 256\n  help: ulimit -n 512, or --connections 32"
    );
    assert!(check_limits(&plan, &plan.parts(), 364).is_ok());
}

#[test]
fn populations_with_too_many_connections_are_told_where_to_have_fewer() {
    let of =
        |name: &str| plan::PopulationDraft { name: name.to_owned(), rate: given("5/s"), connections: given("10000"), ..Default::default() };
    let draft = Draft { url: Some("http://192.0.2.1/".to_owned()), scenario: Some("s.yaml".to_owned()), ..Draft::default() };
    let sources = plan::Sources { populations: vec![of("a"), of("b"), of("c")], ..plan::Sources::default() };
    let plan = Plan::try_from(plan::LoadRecord { draft, sources }).unwrap();
    let help = |error: RunError| error.help.spelt(plan::Spelling::Flags);
    let ports = LocalPorts { lowest: 32_768, highest: 60_999, reserved: 0 };
    let remote = ["192.0.2.1:80".parse().unwrap()];
    let told = [
        help(check_limits(&plan, &plan.parts(), 1024).unwrap_err()),
        help(limits::check_ports(&plan, plan.open_connections_max(), &remote, ports).unwrap_err()),
    ];
    assert!(told[0].ends_with(", or fewer connections in the populations, at most 960 in all"), "{}", told[0]);
    assert!(told[1].ends_with(", or fewer connections in the populations, at most 28232 in all"), "{}", told[1]);
}

#[test]
fn too_few_local_ports_are_said_with_what_would_do() {
    let many = |sources: &[&str]| {
        plan("http://192.0.2.1/", |draft| {
            draft.connections = given("60000");
            draft.source_ip = given_all(sources);
        })
    };
    let ports = LocalPorts { lowest: 32_768, highest: 60_999, reserved: 0 };
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    let remote = [address("192.0.2.1:80")];
    let check = |plan: Plan, addresses: &[SocketAddr]| limits::check_ports(&plan, plan.open_connections_max(), addresses, ports);
    assert_eq!(
        check(many(&[]), &remote).unwrap_err().spelt(plan::Spelling::Flags),
        "error: 60000 connections need 60000 local ports, but 1 local address has 28232 (net.ipv4.ip_local_port_range 32768-60999)\n  \
         help: give 3 local addresses with --source-ip, widen it with sysctl net.ipv4.ip_local_port_range='1024 65535', \
         or --connections 28232"
    );
    assert!(check(many(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]), &remote).is_ok());
    assert!(check(many(&[]), &[remote[0], address("192.0.2.2:80"), address("192.0.2.3:80")]).is_ok());
    assert!(check(many(&[]), &[address("127.0.0.1:80")]).is_ok());
    assert!(check(many(&["127.0.0.1"]), &[address("127.0.0.1:80")]).is_err());
    // One of several machines has a part of them.
    assert!(limits::check_ports(&many(&[]), 20_000, &remote, ports).is_ok());
}

#[test]
fn a_source_that_is_not_here_is_refused_before_the_run() {
    let plan = plan("http://127.0.0.1:9/", |draft| draft.source_ip = given_all(&["192.0.2.1"]));
    assert_eq!(
        not_prepared(&plan),
        "error: --source-ip 192.0.2.1 is not an address of this machine\n  \
         help: give one that 'ip address' lists, or add it with: ip address add"
    );
}

#[test]
fn a_source_of_the_other_family_is_refused_before_the_run() {
    let plan = plan("http://127.0.0.1:9/", |draft| draft.source_ip = given_all(&["::1"]));
    let hop = first_hop(&plan);
    let error = preflight::fitting(&plan, &hop, vec!["127.0.0.1:9".parse().unwrap()]).unwrap_err();
    assert_eq!(
        error.spelt(plan::Spelling::Flags),
        "error: --source-ip ::1 is IPv6, but 127.0.0.1 has only IPv4 addresses\n  help: give an IPv4 address of this machine"
    );
    let both = vec!["127.0.0.1:9".parse().unwrap(), "[::1]:9".parse().unwrap()];
    assert_eq!(preflight::fitting(&plan, &hop, both).unwrap(), ["[::1]:9".parse().unwrap()]);
}

// TLS

#[test]
fn a_trusted_certificate_for_the_host_makes_a_connection_with_both_times() {
    let issuer = Issuer::new();
    let at = issuer.server(&["localhost", "127.0.0.1"], |_| {});
    for host in ["localhost", "127.0.0.1"] {
        let plan = plan(&format!("https://{host}:{}/", at.port()), |draft| draft.cacert = Some(issuer.file()));
        let mut dialed = dial(&plan).unwrap();
        assert!(dialed.tls.unwrap() > Nanos::ZERO && dialed.connect > Nanos::ZERO);
        assert_eq!(echoed(&mut dialed.stream), "hello");
    }
}

#[test]
fn every_handshake_is_a_full_one() {
    let issuer = Issuer::new();
    let at = issuer.server(&["127.0.0.1"], |_| {});
    let network = Network::prepare(&plan(&format!("https://{at}/"), |draft| draft.cacert = Some(issuer.file()))).unwrap();
    for n in 0..3 {
        let mut stream = on_runtime(network.dial(n)).unwrap().stream;
        assert_eq!(echoed(&mut stream), "hello", "by now a ticket would have come");
        let Stream::Tls(stream) = stream else { panic!("no TLS") };
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Full));
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    }
}

#[test]
fn certificates_that_do_not_hold_are_told_apart() {
    let issuer = Issuer::new();
    let stranger = Issuer::new();
    let good = issuer.server(&["127.0.0.1"], |_| {});
    let expired = issuer.server(&["127.0.0.1"], |certificate| certificate.not_after = date_time_ymd(2001, 1, 1));
    let early = issuer.server(&["127.0.0.1"], |certificate| certificate.not_before = date_time_ymd(2900, 1, 1));
    let other = issuer.server(&["api.test"], |_| {});
    let untrusted = stranger.server(&["127.0.0.1"], |_| {});
    for (at, failure, about) in [
        (expired, Failure::TlsCertExpired, "the certificate is expired or not yet valid"),
        (early, Failure::TlsCertExpired, "the certificate is expired or not yet valid"),
        (other, Failure::TlsCertName, "the certificate is for another name"),
        (untrusted, Failure::TlsCertUntrusted, "the certificate's issuer is not trusted"),
    ] {
        let plan_to = |skip| {
            plan(&format!("https://{at}/"), |draft| {
                draft.cacert = Some(issuer.file());
                draft.no_preflight = skip;
            })
        };
        assert_eq!(dial(&plan_to(true)).unwrap_err().failure, failure);
        let error = not_prepared(&plan_to(false));
        assert!(error.starts_with(&format!("error: {at}: {about} (invalid peer certificate: ")), "{error}");
        assert!(error.ends_with("--insecure, or give --no-preflight to measure all the same"), "{error}");
    }
    for at in [good, expired, other, untrusted] {
        let network = Network::prepare(&plan(&format!("https://{at}/"), |draft| draft.insecure = true)).unwrap();
        assert_eq!(network.warnings(), ["certificates are not verified (--insecure)"]);
        on_runtime(network.dial(0)).unwrap();
    }
}

#[test]
fn a_self_signed_certificate_is_trusted_if_it_is_given_for_its_own_name_and_time() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("self.pem").to_str().unwrap().to_owned();
    let to = |adjust: fn(&mut CertificateParams), host: &str| {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        // As openssl req -x509 makes them.
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        adjust(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(&file, certificate.pem()).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let at = speaking_tls(server_config(vec![certificate.der().clone()], key));
        dial(&plan(&format!("https://{host}:{}/", at.port()), |draft| {
            draft.cacert = Some(file.clone());
            draft.no_preflight = true;
        }))
        .map(drop)
        .map_err(|failed| failed.failure)
    };
    assert_eq!(to(|_| {}, "127.0.0.1"), Ok(()));
    assert_eq!(to(|_| {}, "localhost"), Err(Failure::TlsCertName));
    assert_eq!(to(|params| params.not_after = date_time_ymd(2001, 1, 1), "127.0.0.1"), Err(Failure::TlsCertExpired));
}

#[test]
fn a_self_signed_certificate_is_not_trusted_unless_it_is_given() {
    let stranger = Issuer::new();
    let key = PrivateKeyDer::try_from(stranger.issuer.key().serialize_der()).unwrap();
    let at = speaking_tls(server_config(vec![stranger.issuer.der().clone()], key));
    let other = Issuer::new();
    let failed = dial(&plan(&format!("https://{at}/"), |draft| {
        draft.cacert = Some(other.file());
        draft.no_preflight = true;
    }))
    .unwrap_err();
    let text = "127.0.0.1: invalid peer certificate: self-signed, or an issuer's own".to_owned();
    assert_eq!(failed, DialFailed { failure: Failure::TlsCertUntrusted, text });
}

#[test]
fn the_given_name_is_the_one_expected() {
    let issuer = Issuer::new();
    let at = issuer.server(&["api.test"], |_| {});
    let named = |name: &str| {
        plan(&format!("https://{at}/"), |draft| {
            draft.cacert = Some(issuer.file());
            draft.sni = Some(name.to_owned());
            draft.no_preflight = true;
        })
    };
    dial(&named("api.test")).unwrap();
    assert_eq!(dial(&named("other.test")).unwrap_err().failure, Failure::TlsCertName);
    assert_eq!(
        not_prepared(&named("a b")),
        "error: --sni 'a b' is not a name a certificate can be for\n  \
         help: give a DNS name or an IP address, such as --sni api.test"
    );
}

#[test]
fn a_plain_http_server_is_recognised() {
    for answer in ["HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "<!DOCTYPE HTML><title>Bad request</title>"] {
        let at = listening(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
            let _ = stream.read_to_end(&mut Vec::new());
        });
        let failed = dial(&plan(&format!("https://{at}/"), insecure_at_once)).unwrap_err();
        assert_eq!(failed, DialFailed { failure: Failure::TlsProtocol, text: "127.0.0.1: answered in plain HTTP".to_owned() });
        assert_eq!(
            not_prepared(&plan(&format!("https://{at}/x?y"), |draft| draft.insecure = true)),
            format!("error: {at} speaks plain HTTP, not TLS\n  help: use http://{at}/x?y")
        );
    }
}

#[test]
fn a_server_that_closes_garbles_or_stays_silent_fails_the_handshake_each_in_its_own_class() {
    let closes = listening(|mut stream| drop(stream.read(&mut [0; 4096])));
    let garbles = listening(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"SSH-2.0-OpenSSH\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let silent = listening(|mut stream| drop(stream.read_to_end(&mut Vec::new())));
    let to = |at: SocketAddr| {
        dial(&plan(&format!("https://{at}/"), |draft| {
            insecure_at_once(draft);
            draft.connect_timeout = given("200ms");
        }))
        .unwrap_err()
    };
    assert_eq!(to(closes), DialFailed { failure: Failure::TlsEof, text: "127.0.0.1: closed during the handshake".to_owned() });
    assert_eq!(to(garbles).failure, Failure::TlsProtocol);
    assert_eq!(to(silent), DialFailed { failure: Failure::TlsTimeout, text: "127.0.0.1: no handshake within 200ms".to_owned() });
}

#[test]
fn a_server_that_speaks_only_http_2_is_told_by_alpn() {
    let issuer = Issuer::new();
    let mut config = issuer.config(&["127.0.0.1"], |_| {});
    config.alpn_protocols = vec![b"h2".to_vec()];
    let at = speaking_tls(config);
    let only_1 = |draft: &mut Draft| {
        insecure_at_once(draft);
        draft.http = "1.1".parse().ok();
    };
    assert_eq!(dial(&plan(&format!("https://{at}/"), only_1)).unwrap_err().failure, Failure::TlsAlpn);
    assert_eq!(dial(&plan(&format!("https://{at}/"), insecure_at_once)).unwrap().version, Version::Http2);
}

#[test]
fn only_the_given_version_is_spoken() {
    let issuer = Issuer::new();
    let config = issuer.config(&["127.0.0.1"], |_| {});
    let at = speaking_tls(config);
    for (version, spoken) in [("1.2", rustls::ProtocolVersion::TLSv1_2), ("1.3", rustls::ProtocolVersion::TLSv1_3)] {
        let dialed = dial(&plan(&format!("https://{at}/"), |draft| {
            draft.insecure = true;
            draft.tls_version = given(version);
        }));
        let Stream::Tls(stream) = dialed.unwrap().stream else { panic!("no TLS") };
        assert_eq!(stream.get_ref().1.protocol_version(), Some(spoken));
    }
}

#[test]
fn a_server_that_wants_a_client_certificate_says_so_before_the_run_and_accepts_one() {
    let issuer = Issuer::new();
    let at = speaking_tls(issuer.demanding_certificates(&["127.0.0.1"]));
    for version in ["1.2", "1.3"] {
        let anonymous = plan(&format!("https://{at}/"), |draft| {
            draft.insecure = true;
            draft.tls_version = given(version);
        });
        let error = not_prepared(&anonymous);
        assert!(error.starts_with(&format!("error: {at} wants a client certificate (received fatal alert: ")), "{error}");
        assert!(error.ends_with("\n  help: give one with --cert FILE --key FILE"), "{error}");

        let (cert, key) = issuer.client_files();
        let mut dialed = dial(&plan(&format!("https://{at}/"), |draft| {
            draft.cacert = Some(issuer.file());
            draft.tls_version = given(version);
            draft.cert = Some(cert);
            draft.key = Some(key);
        }))
        .unwrap();
        assert_eq!(echoed(&mut dialed.stream), "hello");
    }
}

#[test]
fn an_alert_after_the_handshake_is_known_for_what_it_is() {
    let issuer = Issuer::new();
    let at = speaking_tls(issuer.demanding_certificates(&["127.0.0.1"]));
    let mut stream = dial(&plan(&format!("https://{at}/"), insecure_at_once)).unwrap().stream;
    let error = on_runtime(stream.read(&mut [0; 16])).unwrap_err();
    assert_eq!(tls_broken(&error).unwrap().failure, Failure::TlsAlert);
    assert_eq!(tls_broken(&io::Error::from(ErrorKind::ConnectionReset)), None);
}

#[test]
fn all_unusable_files_are_named_at_once() {
    let issuer = Issuer::new();
    let folder = issuer.folder.path();
    let text = folder.join("text").to_str().unwrap().to_owned();
    std::fs::write(&text, "no certificate here").unwrap();
    let plan = plan("https://127.0.0.1:9/", |draft| {
        draft.cacert = Some("/nonexistent/ca.pem".to_owned());
        draft.cert = Some(text.clone());
        draft.key = Some(issuer.file());
    });
    let pem = "a PEM certificate starts with -----BEGIN CERTIFICATE-----; openssl x509 -inform der -in FILE makes one of a DER file";
    assert_eq!(
        not_prepared(&plan),
        format!(
            "error: --cacert /nonexistent/ca.pem was not read when the plan was made\n  help: give a PEM file with --cacert\n\
             error: --cert {text} holds no PEM certificate\n  help: {pem}\n\
             error: --key {} holds no PEM private key\n  help: a PEM private key starts with -----BEGIN PRIVATE KEY-----",
            issuer.file()
        )
    );
}

#[test]
fn a_key_that_is_not_the_certificates_is_refused() {
    let issuer = Issuer::new();
    let (cert, _) = issuer.client_files();
    let (_, key) = Issuer::new().keeping_folder().client_files();
    let plan = plan("https://127.0.0.1:9/", |draft| {
        draft.insecure = true;
        draft.cert = Some(cert.clone());
        draft.key = Some(key.clone());
    });
    assert_eq!(
        not_prepared(&plan),
        format!(
            "error: --key {key} is not the private key of --cert {cert}\n  \
             help: give the key the certificate was made with; the server's own certificate stands first in its file"
        )
    );
}

#[test]
fn a_redirect_may_lead_from_plain_to_tls() {
    let issuer = Issuer::new();
    let (at, _peers) = noting_peers();
    let secure = issuer.server(&["localhost"], |_| {});
    let plan = plan(&format!("http://{at}/"), |draft| {
        draft.cacert = Some(issuer.file());
        draft.follow = given("3");
        draft.also_target = ["localhost", "127.0.0.1"].map(|host| format!("https://{host}:{}", secure.port())).into();
    });
    let network = Network::prepare(&plan).unwrap();
    let to = |host: &str| format!("https://{host}:{}/", secure.port()).parse::<Target>().unwrap();
    let mut dialed = on_runtime(network.dial_other(&to("localhost"), 0)).unwrap();
    assert!(dialed.tls.is_some());
    assert_eq!(echoed(&mut dialed.stream), "hello");
    drop(dialed);
    assert_eq!(on_runtime(network.dial_other(&to("127.0.0.1"), 0)).unwrap_err().failure, Failure::TlsCertName);
}

#[test]
fn no_connection_is_opened_to_a_server_that_was_not_named() {
    let (at, _peers) = noting_peers();
    let (other, peers) = noting_peers();
    let through = |scheme: &'static str| move |draft: &mut Draft| draft.proxy = Some(format!("{scheme}://{other}"));
    for settings in [&|_: &mut Draft| {}, &through("http"), &through("socks5"), &through("socks5h")] as [&dyn Fn(&mut Draft); 4] {
        let network = Network::prepare(&plan(&format!("http://{at}/"), |draft| {
            draft.no_preflight = true;
            settings(draft);
        }));
        let target: Target = format!("http://{other}/").parse().unwrap();
        let failed = on_runtime(network.unwrap().dial_other(&target, 0)).unwrap_err();
        assert_eq!(failed.failure, Failure::RedirectOutside);
        assert_eq!(failed.text, format!("--also-target http://{other} allows http://{other}/"));
    }
    assert!(peers.try_recv().is_err(), "it was connected to");
}

#[test]
fn what_is_meant_for_tls_is_never_sent_in_the_clear() {
    let (at, _peers) = noting_peers();
    let network = Network::prepare(&plan(&format!("http://{at}/"), |_| {})).unwrap();
    let target: Target = format!("https://{at}/").parse().unwrap();
    assert_eq!(on_runtime(network.dial_other(&target, 0)).unwrap_err().failure, Failure::RedirectTarget);
}

// Proxies

#[test]
fn tls_goes_through_the_proxys_tunnel_with_credentials() {
    let issuer = Issuer::new();
    let (heads, heard) = channel();
    let at = issuer.server(&["api.test"], |_| {});
    let proxy = listening(move |mut stream| {
        let Some(head) = head(&mut stream) else { return };
        heads.send(head).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        joined(stream, TcpStream::connect(at).unwrap());
    });
    let plan = plan("https://api.test:8443/", |draft| {
        draft.proxy = Some(format!("http://me:secret@{proxy}"));
        draft.cacert = Some(issuer.file());
        draft.no_preflight = true;
    });
    let mut dialed = dial(&plan).unwrap();
    assert_eq!(echoed(&mut dialed.stream), "hello");
    assert_eq!(
        heard.recv().unwrap(),
        "CONNECT api.test:8443 HTTP/1.1\r\nHost: api.test:8443\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n"
    );
}

#[test]
fn a_proxy_that_opens_no_tunnel_is_explained() {
    let wants_credentials = listening(|mut stream| {
        let _ = head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    });
    let through = |proxy: SocketAddr| {
        plan("https://api.test/", |draft| {
            draft.proxy = Some(proxy.to_string());
            draft.insecure = true;
        })
    };
    assert_eq!(
        not_prepared(&through(wants_credentials)),
        format!(
            "error: the proxy {wants_credentials} opened no tunnel: CONNECT api.test:443: HTTP/1.1 407 Proxy Authentication Required\n  \
             help: give the proxy's credentials as --proxy http://NAME:PASSWORD@HOST:PORT, \
             or give --no-preflight to measure all the same"
        )
    );
    let nobody = refusing();
    assert!(
        not_prepared(&through(nobody)).starts_with(&format!("error: nothing listens on the proxy {nobody} (connection refused)\n")),
        "the guilty one is named"
    );
}

#[test]
fn plain_requests_are_sent_to_the_proxy_itself() {
    let at = listening(echo);
    let plan = plan("http://api.test/", |draft| draft.proxy = Some(at.to_string()));
    assert_eq!(echoed(&mut dial(&plan).unwrap().stream), "hello");
}

// Plans, servers and certificates

fn plan(url: &str, adjust: impl FnOnce(&mut Draft)) -> Plan {
    let mut draft = Draft { url: Some(url.to_owned()), ..Draft::default() };
    adjust(&mut draft);
    let mut resolved = plan::Resolved::from(draft);
    for (_, path) in resolved.draft.clone().files() {
        if let Ok(bytes) = std::fs::read(path) {
            resolved.contents.insert(path, bytes);
        }
    }
    Plan::try_from(resolved).unwrap()
}

fn insecure_at_once(draft: &mut Draft) {
    draft.insecure = true;
    draft.no_preflight = true;
}

fn given<T: std::str::FromStr>(text: &str) -> Option<plan::Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

fn given_all<T: std::str::FromStr>(texts: &[&str]) -> Vec<plan::Setting<T>>
where
    T::Err: std::fmt::Display,
{
    texts.iter().filter_map(|text| given(text)).collect()
}

fn not_prepared(plan: &Plan) -> String {
    Network::prepare(plan).expect_err("the network was prepared").spelt(plan::Spelling::Flags)
}

fn dial(plan: &Plan) -> Opened {
    on_runtime(Network::prepare(plan).unwrap().dial(0))
}

/// As if the target's name had led to these addresses.
fn to_addresses(plan: &Plan, addresses: Vec<SocketAddr>) -> Network {
    Network::new(plan, Credentials::read(plan).unwrap(), Hop::Tcp(addresses.into()), Resolution::default(), Vec::new(), &Fence::open())
}

/// One runtime a thread: a stream lives as long as the runtime it was opened on.
fn on_runtime<T>(future: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

fn echoed(stream: &mut Stream) -> String {
    on_runtime(async {
        stream.write_all(b"hello").await.unwrap();
        stream.flush().await.unwrap();
        let mut bytes = [0; 5];
        stream.read_exact(&mut bytes).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    })
}

/// A server on 127.0.0.1 that does this with every connection, one after the other, until the tests end.
fn listening(serve: impl Fn(TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            serve(stream.unwrap());
        }
    });
    at
}

fn echo(mut stream: TcpStream) {
    let mut bytes = [0; 5];
    if stream.read_exact(&mut bytes).is_ok() {
        stream.write_all(&bytes).unwrap();
    }
}

fn noting_peers() -> (SocketAddr, Receiver<SocketAddr>) {
    let (peer, peers) = channel();
    (listening(move |stream| peer.send(stream.peer_addr().unwrap()).unwrap_or_default()), peers)
}

/// An address nothing listens on, and nothing else of these tests will.
fn refusing() -> SocketAddr {
    static HELD: std::sync::Mutex<Vec<socket2::Socket>> = std::sync::Mutex::new(Vec::new());
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    let at = socket.local_addr().unwrap().as_socket().unwrap();
    HELD.lock().unwrap().push(socket);
    at
}

fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// Carries bytes both ways until one side ends.
fn joined(one: TcpStream, other: TcpStream) {
    let (mut from, mut to) = (one.try_clone().unwrap(), other.try_clone().unwrap());
    thread::spawn(move || io::copy(&mut from, &mut to));
    let (mut from, mut to) = (other, one);
    let _ = io::copy(&mut from, &mut to);
}

fn speaking_tls(config: ServerConfig) -> SocketAddr {
    let config = Arc::new(config);
    listening(move |mut tcp| {
        let mut tls = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = rustls::Stream::new(&mut tls, &mut tcp);
        let mut bytes = [0; 5];
        while stream.read_exact(&mut bytes).is_ok() {
            let _ = stream.write_all(&bytes);
        }
    })
}

fn server_config(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> ServerConfig {
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// An authority of these tests, its certificate in a file.
struct Issuer {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Issuer {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    /// Its files outlive it.
    fn keeping_folder(mut self) -> Self {
        self.folder.disable_cleanup(true);
        self
    }

    fn file(&self) -> String {
        self.path("ca.pem")
    }

    fn path(&self, name: &str) -> String {
        Path::join(self.folder.path(), name).to_str().unwrap().to_owned()
    }

    fn certificate(&self, names: &[&str], adjust: impl FnOnce(&mut CertificateParams)) -> (rcgen::Certificate, KeyPair) {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        adjust(&mut params);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    /// A client's certificate and key, as files.
    fn client_files(&self) -> (String, String) {
        let (certificate, key) = self.certificate(&["client"], |_| {});
        std::fs::write(self.path("client.pem"), certificate.pem()).unwrap();
        std::fs::write(self.path("client.key"), key.serialize_pem()).unwrap();
        (self.path("client.pem"), self.path("client.key"))
    }

    fn identity(
        &self,
        names: &[&str],
        adjust: impl FnOnce(&mut CertificateParams),
    ) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let (certificate, key) = self.certificate(names, adjust);
        (vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
    }

    fn config(&self, names: &[&str], adjust: impl FnOnce(&mut CertificateParams)) -> ServerConfig {
        let (chain, key) = self.identity(names, adjust);
        server_config(chain, key)
    }

    fn demanding_certificates(&self, names: &[&str]) -> ServerConfig {
        let (chain, key) = self.identity(names, |_| {});
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
        ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .unwrap()
    }

    fn server(&self, names: &[&str], adjust: impl FnOnce(&mut CertificateParams)) -> SocketAddr {
        speaking_tls(self.config(names, adjust))
    }
}

//! What goes over the wire otherwise: packed answers and resumed sessions of nginx, and bodies that wait for the word of a server.

use crate::ab::Nginx;
use crate::session::{Session, server};
use crate::tools;

#[test]
fn packed_answers_are_unpacked_where_they_are_looked_into_and_sessions_are_resumed() {
    if !tools::are_here(&["nginx", "openssl"]) {
        return;
    }
    let mut session = Session::new();
    let dir = Nginx::certified(&session);
    let text = "all of this is said again and again ".repeat(50);
    let nginx = Nginx::serving(
        &session,
        "https",
        "worker_processes 1; events { worker_connections 64; }",
        &format!(
            "ssl; ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem; ssl_protocols TLSv1.2 TLSv1.3; default_type text/plain; \
             gzip on; gzip_types text/plain; location / {{ return 200 '{text}'; }}"
        ),
    );
    let load = |more: &str| {
        let url = &nginx.url;
        format!("run {url} --insecure --http 1.1 --no-keepalive -c 4 -n 200 --threads 1 --expect 'body contains again' --full {more}")
    };
    let told = session.loadline(&load("--compressed --tls-resumption on --out json=a.json")).exits_either(0, 4);
    let run = session.json("a.json");
    let packed = &run["packed"];
    assert_eq!((&run["requests"]["succeeded"], &packed["gzip"], &packed["unpacked"]), (&200.into(), &200.into(), &200.into()), "{run}");
    assert_eq!(packed["bytes_unpacked"], 200 * text.len());
    assert!(packed["bytes_packed"].as_u64().unwrap() < 200 * 200, "{packed}");
    assert!(run["connections"]["resumed"].as_u64().unwrap() >= 100, "{}", run["connections"]);
    let said = told.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["200 answers (200 gzip); 200 bodies unpacked from ", " TLS handshakes resumed"] {
        assert!(said.contains(words), "{words}: {}", told.stdout);
    }
    session.loadline(&load("--out json=b.json")).exits_either(0, 4);
    let run = session.json("b.json");
    assert!(run.get("packed").is_none() && run.pointer("/connections/resumed").is_none(), "{run}");
    session.loadline("diff a.json b.json").exits(2).complains("tls-resumption is on in A and not given in B");
}

#[test]
fn a_server_that_reads_bodies_says_so_and_is_sent_them() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/echo");
    let told =
        session.loadline(&format!("run {url} --expect-continue --data hello -c 2 -n 20 --full --out json=r.json")).exits_either(0, 4);
    let run = session.json("r.json");
    assert_eq!((&run["requests"]["succeeded"], &run["awaited"]["continued"]), (&20.into(), &20.into()), "{run}");
    assert!(told.stdout.contains("20 bodies sent after 100 Continue"), "{}", told.stdout);
    assert_eq!(server.counts().path("/echo"), 20);
    session.loadline(&format!("run {url} --expect-continue -n 1")).exits(2).complains("--expect-continue is about requests with a body");
}

//! What limits a server, as the program says it. Whether it says so of every kind of server, `make validate` holds against ten and
//! more of them; here it is enough that what follows from a server's own words gets through to every output.

use crate::session::{Session, server};

#[test]
fn a_rate_limit_is_named_in_every_output() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?limit=20");
    let line = format!("run {url} -c 4 -d 1500ms --out json=r.json --out markdown=r.md --out html=r.html");
    let ran = session.loadline(&line);
    ran.says("what limits it")
        .says("a rate limit: it turns requests away beyond about ")
        .says("wrong if ")
        .says("what to do: raise the limit");
    let result = session.json("r.json");
    let first = &result["bottleneck"][0];
    assert_eq!(first["kind"], "rate_limit", "{first}");
    assert!(first["strength"].as_f64().unwrap() > 0.9 && first["evidence"][0].as_str().unwrap().contains("429"), "{first}");
    assert!(session.read("r.md").contains("What limits it is a rate limit: "), "{}", session.read("r.md"));
    let page = session.read("r.html");
    assert!(page.contains("it turns requests away beyond about ") && page.contains("\"evidence\":\"bottleneck\""));
}

#[test]
fn a_ladder_ends_with_what_limits_it() {
    let server = server();
    let mut session = Session::new();
    let line = format!("sweep {} --levels 1,4 -d 300ms --cooldown 0s --name it --dir .", server.url("/behave?limit=20"));
    session.loadline(&line).says("What limits it is a rate limit: ");
    assert_eq!(session.json("it.json")["bottleneck"][0]["kind"], "rate_limit");
    assert!(session.read("it.md").contains("What limits it is a rate limit: "));
    // Read again, it says the same.
    session.loadline("report it.json").says("What limits it is a rate limit: ");
}

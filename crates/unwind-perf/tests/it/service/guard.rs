//! Requests that are refused, and paths that lead nowhere.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::client::Served;
use crate::support::cases::Case;
use crate::support::run::{empty_folder, run};

fn served(test: &str) -> Served {
    Served::start(test, &Case::named("norm").folder, &["perf.data"])
}

#[test]
fn without_the_token_nothing_is_told() {
    let served = served("token");
    let host = format!("Host: {}", served.address);
    let id = served.id("perf.data");
    for path in [
        "/api/v1/recordings".to_owned(),
        "/api/v1/status".to_owned(),
        "/api/v1/openapi.json".to_owned(),
        "/api/v1/none".to_owned(),
        format!("/api/v1/recordings/{id}"),
        format!("/api/v1/recordings/{id}/columns"),
        format!("/api/v1/recordings/{id}/export?format=json"),
        "/metrics".to_owned(),
        "/readyz".to_owned(),
    ] {
        assert_eq!(served.send("GET", &path, &[&host], b"").problem(), "no-token", "{path}");
        let wrong = format!("Authorization: Bearer {}", "0".repeat(64));
        assert_eq!(served.send("GET", &path, &[&host, &wrong], b"").status, 401, "{path}");
        // The token is also refused in places from which a page would leak it to others.
        let referrer = format!("Referer: http://{}/#token={}", served.address, served.token);
        assert_eq!(served.send("GET", &path, &[&host, &referrer], b"").status, 401, "{path}");
        let query = format!("{path}?token={}", served.token);
        assert_eq!(served.send("GET", &query, &[&host], b"").status, 401, "{path}");
    }
    for path in ["/", "/healthz", "/status", "/r/0", "/assets/style.css", "/assets/service/list.js"]
    {
        let answer = served.send("GET", path, &[&host], b"");
        assert_eq!(answer.status, 200, "{path}");
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(!text.contains(&served.token) && !text.contains("perf.data"), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'"));
        assert!(!policy.contains("unsafe"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn the_token_makes_a_session() {
    let served = served("session");
    let host = format!("Host: {}", served.address);
    let kind = "Content-Type: application/json";
    let wrong = json!({ "token": "0" }).to_string();
    assert_eq!(served.send("POST", "/session", &[&host, kind], wrong.as_bytes()).status, 401);
    let right = json!({ "token": served.token }).to_string();
    let answer = served.send("POST", "/session", &[&host, kind], right.as_bytes());
    assert_eq!(answer.status, 204);
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(cookie.ends_with("; httponly; samesite=strict; path=/"), "{cookie}");
    let pair = format!("Cookie: a=b; {}", cookie.split(';').next().unwrap());
    assert_eq!(served.send("GET", "/api/v1/recordings", &[&host, &pair], b"").status, 200);
}

#[test]
fn other_names_and_other_origins_are_refused() {
    let served = served("origin");
    let port = served.address.rsplit(':').next().unwrap();
    let token = format!("Authorization: Bearer {}", served.token);
    let path = "/api/v1/recordings";
    for name in [format!("evil.example:{port}"), "127.0.0.1".to_owned(), "127.0.0.1:1".to_owned()] {
        let host = format!("Host: {name}");
        assert_eq!(
            served.send("GET", path, &[&host, &token], b"").problem(),
            "wrong-host",
            "{name}"
        );
        // Pages as well: DNS rebinding of the name would allow to read them.
        assert_eq!(served.send("GET", "/", &[&host], b"").status, 403, "{name}");
    }
    assert_eq!(served.send("GET", path, &[&token], b"").problem(), "wrong-host", "no name at all");
    let host = format!("Host: {}", served.address);
    let localhost = format!("Host: localhost:{port}");
    assert_eq!(served.send("GET", path, &[&localhost, &token], b"").status, 200);
    assert_eq!(served.send("GET", path, &[&host, &localhost, &token], b"").status, 400);
    for line in ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
        let answer = served.send("GET", path, &[&host, &token, line], b"");
        assert_eq!(answer.problem(), "wrong-origin", "{line}");
    }
    let own = format!("Origin: http://{}", served.address);
    let lines = [&*host, &token, &own, "Sec-Fetch-Site: same-origin"];
    assert_eq!(served.send("GET", path, &lines, b"").status, 200);
    // A link from another page leads to ours, which has no data.
    let link = [&*host, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"];
    assert_eq!(served.send("GET", "/", &link, b"").status, 200);
    assert_eq!(served.send("POST", "/session", &link, b"{}").problem(), "wrong-origin");
}

#[test]
fn no_path_leads_out_of_the_roots() {
    let folder = empty_folder("service-escape-root");
    let case = Case::named("norm").folder;
    std::fs::create_dir(folder.join("served")).unwrap();
    std::fs::copy(case.join("perf.data"), folder.join("secret.data")).unwrap();
    std::fs::copy(case.join("perf.data"), folder.join("served/a.data")).unwrap();
    symlink("../secret.data", folder.join("served/b.data")).unwrap();
    symlink("/proc/self/root", folder.join("served/root")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("served/c.data"), 0o600.into()).unwrap();
    let served = Served::start("escape", &folder, &["served"]);
    let names: Vec<_> = served.recordings().iter().map(|row| row["name"].to_string()).collect();
    assert_eq!(names, ["\"a.data\""]);
    let post = |path: &str| {
        served.ask("POST", "/api/v1/recordings", Some(&json!({ "path": path }))).problem()
    };
    let secret = folder.join("secret.data");
    for path in
        ["../secret.data", "b.data", secret.to_str().unwrap(), "root/etc/passwd", "/etc/passwd"]
    {
        assert_eq!(post(path), "outside-roots", "{path}");
    }
    for path in ["c.data", "none", ""] {
        assert!(["not-found", "not-a-recording"].contains(&&*post(path)), "{path}: {}", post(path));
    }
    for path in
        ["/assets/../Cargo.toml", "/assets/%2e%2e/lib.rs", "/assets//etc/passwd", "/r/../../x"]
    {
        let answer = served.get(path);
        assert!(answer.status == 404 || answer.head.contains("text/html"), "{path}: {answer:?}");
    }
}

#[test]
fn heads_and_bodies_are_bounded() {
    let served = served("bounds");
    let host = format!("Host: {}", served.address);
    let token = format!("Authorization: Bearer {}", served.token);
    let path = "/api/v1/recordings";
    let long = format!("X-Long: {}", "a".repeat(20 << 10));
    assert_eq!(served.send("GET", path, &[&host, &token, &long], b"").status, 431);
    let many: Vec<String> = (0..100).map(|number| format!("X-{number}: a")).collect();
    let mut lines: Vec<&str> = vec![&host, &token];
    lines.extend(many.iter().map(String::as_str));
    assert_eq!(served.send("GET", path, &lines, b"").status, 431);
    let kind = "Content-Type: application/json";
    let body = vec![b' '; 65 << 10];
    assert_eq!(served.send("POST", path, &[&host, &token, kind], &body).problem(), "too-large");
    assert_eq!(served.send("POST", path, &[&host, &token, kind], b"{").problem(), "bad-request");
    let text = "Content-Type: text/plain";
    assert_eq!(served.send("POST", path, &[&host, &token, text], b"{}").problem(), "wrong-type");
    assert_eq!(served.ask("PUT", path, None).problem(), "wrong-method");
    assert_eq!(served.get("/api/v1/none").problem(), "not-found");
    assert_eq!(served.get("/api/v1/recordings?afterr=x").problem(), "bad-request");
    assert_eq!(served.say(b"\x16\x03\x01 no HTTP\r\n\r\n").status, 400);
    assert_eq!(served.get("/api/v1/status").status, 200);
}

#[test]
fn others_than_this_machine_are_let_in_only_where_that_is_said() {
    let folder = Case::named("norm").folder;
    let store = empty_folder("service-others");
    let refused = |arguments: &[&str]| {
        let usual = ["serve", "--no-open", "--store", store.to_str().unwrap()];
        let ran = run(&folder, &[&usual[..], arguments].concat());
        assert_eq!(ran.status, 2);
        ran.stderr
    };
    let open = refused(&["perf.data", "--listen", "0.0.0.0:0"]);
    assert!(open.contains("is reachable from other machines"), "{open}");
    let missing = refused(&["none.data"]);
    assert!(missing.contains("cannot open none.data"), "{missing}");
    // Untrusted uploads would be treated as this machine's own recordings.
    let inside = refused(&[".", "--uploads", "."]);
    assert!(inside.contains("overlaps a served directory of this machine"), "{inside}");
}

//! The symbol server of the Firefox Profiler, queried in the way of that page.

use serde_json::{Value, json};

use super::client::{Answer, Served};
use super::symbols::{Place, analyze, places, served};
use crate::support::cases::root;

const PROFILER: &str = "Origin: https://profiler.firefox.com";

/// Returns the path of the symbol server.
fn door(served: &Served) -> String {
    let line = served.more.first().expect("the symbol server");
    let url = line.strip_prefix("symbolServer=").expect("its address");
    url.strip_prefix(&format!("http://{}", served.address)).expect("this service's").to_owned()
}

/// Sends a request as the page does: JSON as text, from another origin, without the token.
fn ask(served: &Served, path: &str, body: &Value) -> Answer {
    let host = format!("Host: {}", served.address);
    let lines =
        [&*host, PROFILER, "Sec-Fetch-Site: cross-site", "Content-Type: text/plain;charset=UTF-8"];
    served.send("POST", &format!("{}{path}", door(served)), &lines, body.to_string().as_bytes())
}

/// Returns the profile's id of a file.
fn breakpad_id(build_id: &str) -> String {
    let byte = |at: usize| build_id.get(2 * at..2 * at + 2).unwrap_or("00").to_uppercase();
    let order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    order.into_iter().map(byte).chain(["0".to_owned()]).collect()
}

fn number(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal")
}

/// Returns a place in the program of the case with an available source.
fn in_program(served: &Served) -> Place {
    let all = places(served);
    let of_source = |place: &Place| {
        let in_source = |file: &Value| file.as_str().is_some_and(|it| it.ends_with("/inlines.cpp"));
        place.functions.len() > 2 && place.functions.iter().any(|(_, file, _)| in_source(file))
    };
    all.into_iter().find(of_source).expect("a place with inlined functions")
}

#[test]
fn addresses_have_the_functions_of_the_profile() {
    let served = served("firefox", &["--firefox"]);
    let places = places(&served);
    let question = |id: &dyn Fn(&Place) -> String| {
        let jobs: Vec<Value> = places
            .iter()
            .map(|place| {
                json!({
                    "memoryMap": [["libx.so", id(place)]],
                    "stacks": [[[0, number(&place.address)], [-1, 5]]],
                })
            })
            .collect();
        json!({ "jobs": jobs })
    };
    let known = question(&|place| breakpad_id(&place.build_id));
    let before = ask(&served, "/symbolicate/v5", &known).json();
    let key = format!("libx.so/{}", breakpad_id(&places[0].build_id));
    assert_eq!(before["results"][0]["found_modules"], json!({ key: false }));
    analyze(&served);
    let answer = ask(&served, "/symbolicate/v5", &known);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://profiler.firefox.com"));
    for (place, result) in places.iter().zip(answer.json()["results"].as_array().unwrap()) {
        let key = format!("libx.so/{}", breakpad_id(&place.build_id));
        assert_eq!(result["found_modules"], json!({ key: true }));
        let [frame, unknown] = &result["stacks"][0].as_array().unwrap()[..] else { panic!() };
        assert_eq!(*unknown, json!({ "frame": 1, "module": "<unknown>", "module_offset": "0x5" }));
        assert_eq!(
            (&frame["module"], &frame["module_offset"]),
            (&json!("libx.so"), &json!(place.address))
        );
        let (outer, inlined) = place.functions.split_last().unwrap();
        if outer.0.contains("+0x") {
            assert!(frame.get("function").is_none());
            continue;
        }
        assert_eq!((&frame["function"], &frame["file"]), (&json!(outer.0), &outer.1));
        assert!(number(frame["function_offset"].as_str().unwrap()) <= number(&place.address));
        let rows = frame.get("inlines").map_or(&[][..], |rows| rows.as_array().unwrap());
        assert_eq!(rows.len(), inlined.len());
        for (row, (name, file, line)) in rows.iter().zip(inlined) {
            assert_eq!((&row["function"], &row["file"], &row["line"]), (&json!(name), file, line));
        }
    }
    let strange = question(&|_| "é00000000000000000000000000000000".to_owned());
    assert_eq!(ask(&served, "/symbolicate/v5", &strange).status, 200);
    for body in [json!({}), json!({ "jobs": [{ "memoryMap": [] }] }), json!([])] {
        assert_eq!(ask(&served, "/symbolicate/v5", &body).problem(), "bad-request");
    }
}

#[test]
fn only_sources_of_the_code_at_the_address_are_shown() {
    let programs = root().join("testdata/programs");
    let map = format!("/tmp/unwind-perf-testdata/inlines-gcc={}", programs.display());
    let served = served("firefox-source", &["--firefox", "--path-map", &map]);
    analyze(&served);
    let place = in_program(&served);
    let source = |file: &str, address: &str| {
        let debug_id = breakpad_id(&place.build_id);
        let body = json!({
            "debugName": "inlines-gcc", "debugId": debug_id, "moduleOffset": address, "file": file,
        });
        let answer = ask(&served, "/source/v1", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let name = "/tmp/unwind-perf-testdata/inlines-gcc/inlines.cpp";
    let text = std::fs::read_to_string(programs.join("inlines.cpp")).unwrap();
    let shown = source(name, &place.address);
    assert_eq!((shown["source"].as_str(), &shown["file"]), (Some(&*text), &json!(name)));
    // Another file, and the same file for an address outside of its code.
    for (file, address) in [
        ("/etc/passwd", &*place.address),
        ("/tmp/unwind-perf-testdata/inlines-gcc/../programs/inlines.cpp", &place.address),
        (name, "0x0"),
    ] {
        let told = source(file, address);
        let error = told["error"].as_str().unwrap();
        assert!(error.contains("the code at this address is not of that file"), "{told}");
    }
    let unknown = json!({ "debugId": "0".repeat(33), "moduleOffset": "0x1", "file": name });
    let told = ask(&served, "/source/v1", &unknown).json();
    assert_eq!(told["error"], "Not found: no file of this id is known");
}

#[test]
fn instructions_are_those_of_the_function() {
    let served = served("firefox-asm", &["--firefox"]);
    analyze(&served);
    let place = in_program(&served);
    let id = served.id("perf.data");
    let path =
        format!("/api/v1/recordings/{id}/asm?module={}&address={}", place.build_id, place.address);
    let rows = served.get(&path).json()["instructions"].as_array().unwrap().clone();
    let start = rows[0]["address"].as_u64().unwrap();
    let expected: Vec<Value> = rows
        .iter()
        .map(|row| json!([row["address"].as_u64().unwrap() - start, row["text"]]))
        .collect();
    let ids = [
        json!({ "codeId": place.build_id, "debugId": "0" }),
        json!({ "debugId": breakpad_id(&place.build_id) }),
    ];
    for mut body in ids {
        body["startAddress"] = json!(format!("{start:#x}"));
        body["size"] = json!("0x1");
        body["continueUntilFunctionEnd"] = json!(true);
        let answer = ask(&served, "/asm/v1", &body);
        let code = answer.json();
        assert_eq!(code["instructions"], json!(expected), "{answer:?}");
        assert_eq!((&code["arch"], &code["syntax"]), (&json!("x86_64"), &json!(["AT&T"])));
        body["continueUntilFunctionEnd"] = json!(false);
        let code = ask(&served, "/asm/v1", &body).json();
        assert_eq!(code["instructions"].as_array().unwrap().len(), 1);
        body["size"] = json!("0xffffffffffffffff");
        assert!(ask(&served, "/asm/v1", &body).json()["error"].is_string());
    }
    let bad = json!({ "debugId": "0", "startAddress": "12", "size": "0x1" });
    assert_eq!(ask(&served, "/asm/v1", &bad).problem(), "bad-request");
}

#[test]
fn only_that_page_may_ask_and_only_behind_its_door() {
    let served = served("firefox-door", &["--firefox"]);
    let door = door(&served);
    let host = format!("Host: {}", served.address);
    let path = format!("{door}/symbolicate/v5");
    let body = br#"{"jobs":[]}"#;
    let preflight = [
        &*host,
        PROFILER,
        "Sec-Fetch-Site: cross-site",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Private-Network: true",
    ];
    let answer = served.send("OPTIONS", &path, &preflight, b"");
    assert_eq!(answer.status, 204, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://profiler.firefox.com"));
    assert_eq!(answer.header("access-control-allow-methods"), Some("post"));
    assert_eq!(answer.header("access-control-allow-private-network"), Some("true"));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    // Tools without an origin.
    assert_eq!(served.send("POST", &path, &[&host], body).status, 200);
    for origin in [
        "Origin: https://evil.example",
        "Origin: http://profiler.firefox.com",
        "Origin: https://profiler.firefox.com.evil.example",
        "Origin: null",
    ] {
        for method in ["POST", "OPTIONS"] {
            let answer = served.send(method, &path, &[&host, origin], body);
            assert_eq!(answer.problem(), "wrong-origin", "{origin}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    let rebound = served.send("POST", &path, &["Host: evil.example", PROFILER], body);
    assert_eq!(rebound.problem(), "wrong-host");
    // Neither token is valid for the other's routes.
    let (prefix, token) = door.rsplit_once('/').unwrap();
    for wrong in [&*served.token, "", &"0".repeat(64)] {
        let path = format!("{prefix}/{wrong}/symbolicate/v5");
        let answer = served.send("POST", &path, &[&host, PROFILER], body);
        assert_eq!(answer.status, 403, "{wrong}: {answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(served.send("POST", &path, &[&host], body).problem(), "no-token");
    }
    let bearer = format!("Authorization: Bearer {token}");
    assert_eq!(served.send("GET", "/api/v1/status", &[&host, &bearer], b"").problem(), "no-token");
    // No other route is open to that page.
    let bearer = format!("Authorization: Bearer {}", served.token);
    let other = served.send("GET", "/api/v1/status", &[&host, &bearer, PROFILER], b"");
    assert_eq!(other.problem(), "wrong-origin");
    assert_eq!(other.header("access-control-allow-origin"), None);
    assert_eq!(served.send("GET", &path, &[&host], b"").problem(), "wrong-method");
    let none = served.send("POST", &format!("{door}/none"), &[&host], b"");
    assert_eq!(none.problem(), "not-found");
    // Without the option, the route does not exist.
    let closed = super::symbols::served("firefox-closed", &[]);
    let host = format!("Host: {}", closed.address);
    assert_eq!(closed.send("POST", &path, &[&host], body).problem(), "not-found");
    assert_eq!(closed.send("POST", &path, &[&host, PROFILER], body).problem(), "wrong-origin");
}

//! Names of addresses without a recording: files are found by build-id.

use serde_json::{Value, json};

use super::client::Served;
use crate::support::cases::{Case, sysroot};

/// Starts a service over a recording with inlined functions. Its files are below a sysroot, which no build-id store
/// indexes.
pub(super) fn served(test: &str, more: &[&str]) -> Served {
    let sysroot = sysroot();
    let arguments = ["perf.data", "--sysroot", sysroot.to_str().expect("UTF-8")];
    Served::start(test, &Case::named("inlines-gcc").folder, &[&arguments[..], more].concat())
}

/// Analyses the recording, so that the service learns the paths of its files.
pub(super) fn analyze(served: &Served) {
    let id = served.id("perf.data");
    let answer = served.ask("POST", "/api/v1/recordings", Some(&json!({ "id": id })));
    if answer.status == 202 {
        assert_eq!(served.follow(&answer.json())["state"], "done");
    }
}

/// A location of the recording, in the form of the JSON format.
pub(super) struct Place {
    pub(super) build_id: String,
    /// Path of the file in the recording.
    pub(super) path: String,
    /// Address and offset, as `0x…`.
    pub(super) address: String,
    pub(super) offset: String,
    /// Functions with their files and lines, innermost first.
    pub(super) functions: Vec<(String, Value, Value)>,
}

/// Returns all locations in files with a build-id.
pub(super) fn places(served: &Served) -> Vec<Place> {
    let id = served.id("perf.data");
    let all = served.get(&format!("/api/v1/recordings/{id}/export?format=json")).json();
    let cell = |table: &str, column: &str, row: u64| all[table][column][row as usize].clone();
    let string =
        |id: &Value| id.as_u64().map_or(Value::Null, |id| all["strings"][id as usize].clone());
    let mut places = Vec::new();
    for row in 0..all["locations"]["length"].as_u64().expect("a number") {
        let Some(module) = cell("locations", "module", row).as_u64() else { continue };
        let build_id = cell("modules", "build_id", module);
        let Some(build_id) = build_id.as_str() else { continue };
        let first = cell("locations", "first_inline", row).as_u64().unwrap_or_default();
        let count = cell("locations", "n_inlines", row).as_u64().unwrap_or_default();
        let function = |at: u64| {
            let name = string(&cell("inlines", "function", at));
            let file = string(&cell("inlines", "file", at));
            (name.as_str().unwrap_or_default().to_owned(), file, cell("inlines", "line", at))
        };
        let text = |column| cell("locations", column, row).as_str().expect("0x…").to_owned();
        places.push(Place {
            build_id: build_id.to_owned(),
            path: string(&cell("modules", "path", module)).as_str().expect("a path").to_owned(),
            address: text("relative"),
            offset: text("offset"),
            functions: (first..first + count).map(function).collect(),
        });
    }
    places
}

fn symbolize(served: &Served, body: &Value) -> Value {
    let answer = served.ask("POST", "/api/v1/symbolize", Some(body));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

#[test]
fn addresses_have_the_names_of_the_recording() {
    let served = served("symbolize", &[]);
    let places = places(&served);
    assert!(places.iter().any(|place| place.functions.len() > 2), "inlined functions");
    let modules: Vec<Value> =
        places.iter().map(|place| json!({ "build_id": place.build_id })).collect();
    let addresses = |space: &str| -> Vec<Value> {
        let of = |place: &Place| {
            if space == "svma" { place.address.clone() } else { place.offset.clone() }
        };
        places.iter().enumerate().map(|(at, place)| json!([at, of(place)])).collect()
    };
    let ask = |space: &str| {
        let body = json!({ "modules": modules, "addresses": addresses(space), "space": space });
        symbolize(&served, &body)
    };
    // No build-id store has the files, and the recording was not analysed yet.
    let before = ask("svma");
    assert_eq!(before["modules"][0], json!({ "found": false, "reason": "file not found" }));
    assert_eq!(before["addresses"][0], json!({ "frames": [], "reason": "no-file" }));
    analyze(&served);
    for space in ["svma", "offset"] {
        let after = ask(space);
        for (at, place) in places.iter().enumerate() {
            assert_eq!(after["modules"][at]["found"], true, "{}", place.path);
            let row = &after["addresses"][at];
            assert_eq!(row["address"], place.address);
            let frames = row["frames"].as_array().unwrap();
            // The recording has a placeholder for functions without a name; here the answer has the reason.
            let (name, ..) = &place.functions[place.functions.len() - 1];
            if name.contains("+0x") {
                assert_eq!((frames.len(), &row["reason"]), (0, &json!("not-covered")));
                continue;
            }
            let named = |frame: &Value| {
                let name = frame["function"].as_str().unwrap_or_default().to_owned();
                (name, frame["file"].clone(), frame["line"].clone())
            };
            assert_eq!(frames.iter().map(named).collect::<Vec<_>>(), place.functions);
            let inlined: Vec<bool> = frames.iter().map(|it| it["inlined"] == true).collect();
            assert_eq!(inlined.last(), Some(&false));
            assert!(inlined.iter().rev().skip(1).all(|is_inlined| *is_inlined));
        }
    }
}

#[test]
fn what_is_not_known_is_said_so() {
    let served = served("symbolize-none", &[]);
    analyze(&served);
    let place = places(&served).swap_remove(0);
    let body = json!({
        "modules": [{ "build_id": place.build_id }, { "build_id": "00ff" }],
        "addresses": [[0, 0], [1, 16], [0, "0xffffffffffffffff"]],
    });
    let answer = symbolize(&served, &body);
    assert_eq!(answer["modules"][1]["found"], false);
    let reasons: Vec<&Value> =
        answer["addresses"].as_array().unwrap().iter().map(|row| &row["reason"]).collect();
    assert_eq!(reasons, ["not-covered", "no-file", "not-covered"]);
    let without = json!({
        "modules": [{ "build_id": place.build_id }], "addresses": [[0, place.address]], "inlines": false,
    });
    assert_eq!(symbolize(&served, &without)["addresses"][0]["frames"].as_array().unwrap().len(), 1);
    let bad = |body: Value| served.ask("POST", "/api/v1/symbolize", Some(&body)).problem();
    assert_eq!(bad(json!({ "modules": [], "addresses": [[0, 1]] })), "bad-request");
    assert_eq!(bad(json!({ "modules": [{ "build_id": "/etc" }], "addresses": [] })), "bad-request");
    assert_eq!(bad(json!({ "modules": [], "addresses": [], "more": 1 })), "bad-request");
}

//! Untrusted recordings.

use super::client::{Answer, Served};
use crate::support::cases::Case;
use crate::support::run::{empty_folder, listing};

fn upload(served: &Served, name: &str, bytes: &[u8]) -> Answer {
    let host = format!("Host: {}", served.address);
    let token = format!("Authorization: Bearer {}", served.token);
    let kind = "Content-Type: application/octet-stream";
    let path = format!("/api/v1/recordings?name={name}");
    served.send("POST", &path, &[&host, &token, kind], bytes)
}

#[test]
fn uploads_are_off_unless_there_is_a_folder_for_them() {
    let served = Served::start("no-uploads", &Case::named("norm").folder, &["perf.data"]);
    assert_eq!(upload(&served, "a", &Case::named("norm").bytes()).problem(), "not-allowed");
}

#[test]
fn nothing_that_an_upload_names_is_opened() {
    let folder = empty_folder("service-uploads-root");
    let uploads = folder.join("uploads");
    std::fs::create_dir(&uploads).unwrap();
    // The recorded files are available below the sysroot, which applies only to recordings of this machine.
    let sysroot = crate::support::cases::sysroot();
    let arguments =
        ["--uploads", uploads.to_str().unwrap(), "--sysroot", sysroot.to_str().unwrap()];
    let served = Served::start("uploads", &folder, &arguments);
    let answer = upload(&served, "../../my%20file.data", &Case::named("spin-lld").bytes());
    assert_eq!(answer.status, 202, "{answer:?}");
    let job = served.follow(&answer.json());
    assert_eq!(job["state"], "done", "{job}");
    let name = listing(&uploads).pop().unwrap();
    assert!(name.starts_with("myfile-") && name.ends_with(".data"), "{name}");
    let row =
        served.get(&format!("/api/v1/recordings/{}", job["recording"].as_str().unwrap())).json();
    assert_eq!(row["foreign"], true);
    let files = row["about"]["files"].as_array().unwrap();
    assert!(files.iter().all(|file| file.get("opened").is_none()), "{files:?}");
    // The same bytes are the same recording.
    assert_eq!(upload(&served, "myfile", &Case::named("spin-lld").bytes()).status, 201);
    assert_eq!(listing(&uploads).len(), 1);
}

#[test]
fn refused_uploads_leave_nothing_and_name_no_path() {
    let folder = empty_folder("service-refused-root");
    let uploads = folder.join("uploads");
    std::fs::create_dir(&uploads).unwrap();
    let served = Served::start("refused", &folder, &["--uploads", uploads.to_str().unwrap()]);
    for (name, shown, bytes) in [
        ("x.cpp", "x.cpp", &b"int main() { return 0; }"[..]),
        ("/home/me/short", "short", b"P"),
        ("", "the upload", b""),
    ] {
        let answer = upload(&served, name, bytes);
        let problem = answer.json();
        assert_eq!(answer.status, 422);
        assert_eq!(problem["type"], "urn:unwind-perf:not-a-recording");
        assert_eq!(problem["detail"], format!("{shown} is not a perf recording"));
        assert_eq!(listing(&uploads), Vec::<String>::new());
    }
    // The start of a recording, without a usable header.
    let job = upload(&served, "part", b"PERFILE2 and no more").json();
    let job = served.follow(&job);
    let detail = job["problem"]["detail"].as_str().unwrap();
    assert!(detail.starts_with("cannot read part-"), "{detail}");
    assert!(!job.to_string().contains(folder.to_str().unwrap()), "{job}");
    assert_eq!(listing(&uploads), Vec::<String>::new());
}

#[test]
fn corrupted_uploads_get_a_clear_answer_and_the_front_goes_on() {
    let folder = empty_folder("service-twins-root");
    let uploads = folder.join("uploads");
    std::fs::create_dir(&uploads).unwrap();
    let served = Served::start("twins", &folder, &["--uploads", uploads.to_str().unwrap()]);
    let whole = Case::named("inlines-gcc").bytes();
    for twin in 0..50_usize {
        let mut bytes = whole.clone();
        // Each copy is damaged at different positions.
        for step in 0..20 {
            let at = (twin * 7919 + step * 104_729) % bytes.len();
            bytes[at] ^= 1 << (twin % 8);
        }
        bytes.truncate(bytes.len() - twin * 13);
        let answer = upload(&served, "twin", &bytes);
        if twin == 0 {
            // Its first byte is damaged.
            assert_eq!(answer.problem(), "not-a-recording");
            continue;
        }
        assert!([201, 202].contains(&answer.status), "{twin}: {answer:?}");
        let job = served.follow(&answer.json());
        let kind = job["problem"]["type"].as_str().unwrap_or("done");
        assert!(["done", "urn:unwind-perf:not-a-recording"].contains(&kind), "{twin}: {job}");
    }
    assert_eq!(served.get("/api/v1/status").status, 200);
}

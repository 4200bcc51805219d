//! Stored profiles. A profile that is restored has rows for all its ids, and an equal stored form. Its counts can be
//! any numbers; a checksum guards them.
#![no_main]

mod cost;

use address::take_dangling;
use libfuzzer_sys::fuzz_target;
use profile::Profile;
use profile::query::{Functions, frame_weights};

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        let Ok(profile) = Profile::restore(bytes) else { return 0 };
        let mut again = Vec::new();
        assert_eq!(profile.store(&mut again).ok(), Some(true));
        assert!(Profile::restore(&again).is_ok_and(|restored| restored == profile));
        assert_eq!(frame_weights(&profile).len(), profile.frames.len());
        let functions = Functions::new(&profile, true);
        let names = functions.rows.iter().filter_map(|row| row.name);
        names.for_each(|name| assert!(profile.strings.len() > name.index()));
        assert_eq!(take_dangling(), []);
        0
    });
});

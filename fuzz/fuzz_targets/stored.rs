//! Stored profiles. A profile that is restored has rows for all its ids, prints, and has an equal stored form.
#![no_main]

mod cost;

use formats::{Format, FormatOptions};
use libfuzzer_sys::fuzz_target;
use profile::Profile;

/// Formats that read each table.
const FORMATS: [Format; 3] = [Format::Json, Format::Ndjson, Format::Folded];

fuzz_target!(|bytes: &[u8]| {
    cost::bounded(bytes, || {
        let Ok(profile) = Profile::restore(bytes) else { return 0 };
        let mut again = Vec::new();
        assert!(profile.store(&mut again));
        assert!(Profile::restore(&again).is_ok_and(|restored| restored == profile));
        let mut written = 0;
        for format in FORMATS {
            let mut out = Vec::new();
            format.printer(FormatOptions::DEFAULT).print(&profile, &mut out).expect("in memory");
            written += out.len();
        }
        // Each sample repeats its frames.
        written as u64
    });
});

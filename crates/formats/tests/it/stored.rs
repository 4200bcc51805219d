//! Profiles that were stored and restored print the same bytes.

use formats::{Format, FormatOptions};
use profile::Profile;

use crate::printed;
use crate::support::sample_profile::{of_one_event, one_of_everything};

#[test]
fn a_restored_profile_prints_the_same() {
    for &format in Format::ALL {
        let mut profile =
            if format.shows_one_event() { of_one_event() } else { one_of_everything() };
        // Requested values have no stored form.
        profile.fields = Default::default();
        let mut bytes = Vec::new();
        assert_eq!(profile.store(&mut bytes).ok(), Some(true));
        let restored = Profile::restore(&bytes).expect("a stored profile");
        let print = |profile| printed(profile, format, FormatOptions::DEFAULT);
        assert!(print(&restored) == print(&profile), "{}", format.name());
    }
}

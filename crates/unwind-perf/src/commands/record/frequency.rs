//! The frequency as part of an event, for recordings that sample other events every time.

/// Modifiers of events, such as `u` in `cycles:u`.
///
/// Source: `tools/perf/Documentation/perf-list.txt`, "EVENT MODIFIERS".
const MODIFIERS: &str = "ukhGHpPSDIWeb";

/// Returns events, as for `perf record -e`, with a frequency in Hz for each that states no period. Tracepoints and
/// breakpoints are not changed: perf samples them every time without `-F`.
pub(super) fn with_frequency(events: &str, frequency: u32) -> String {
    let mut all = String::new();
    let mut rest = events;
    while !rest.is_empty() {
        let (event, after) = rest.split_at(end_of_event(rest));
        // Commas and braces of groups separate events.
        let separators = after.len() - after.trim_start_matches([',', '{', '}']).len();
        let (separator, after) = after.split_at(separators);
        all.push_str(&one(event, frequency));
        all.push_str(separator);
        rest = after;
    }
    all
}

/// Returns the length of the first event: terms between slashes have commas of their own.
fn end_of_event(events: &str) -> usize {
    let mut is_inside = false;
    let end = events.find(|c: char| {
        is_inside ^= c == '/';
        !is_inside && matches!(c, ',' | '{' | '}')
    });
    end.unwrap_or(events.len())
}

fn one(event: &str, frequency: u32) -> String {
    let is_modifiers = |text: &str| text.chars().all(|c| MODIFIERS.contains(c));
    // The modifiers of a group follow its brace.
    if event.is_empty() || event.strip_prefix(':').is_some_and(is_modifiers) {
        return event.to_owned();
    }
    if let Some((head, modifiers)) = event.rsplit_once('/').filter(|(head, _)| head.contains('/')) {
        let mut terms = head.split(['/', ',']).skip(1);
        let is_stated = terms.any(|it| it.starts_with("freq=") || it.starts_with("period="));
        let comma = if head.ends_with('/') { "" } else { "," };
        return match is_stated {
            true => event.to_owned(),
            false => format!("{head}{comma}freq={frequency}/{modifiers}"),
        };
    }
    match event.split_once(':') {
        None => format!("{event}/freq={frequency}/"),
        Some((name, modifiers)) if is_modifiers(modifiers) => {
            format!("{name}/freq={frequency}/{modifiers}")
        }
        Some(_) => event.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_the_frequency() {
        for (events, expected) in [
            ("cycles", "cycles/freq=99/"),
            ("cycles:uk", "cycles/freq=99/uk"),
            ("cpu-clock,page-faults:u", "cpu-clock/freq=99/,page-faults/freq=99/u"),
            ("cpu/event=0x3c,umask=1/u", "cpu/event=0x3c,umask=1,freq=99/u"),
            ("cycles//k", "cycles/freq=99/k"),
            ("cycles/period=1000/", "cycles/period=1000/"),
            ("cpu-clock/freq=7/u", "cpu-clock/freq=7/u"),
            ("sched:sched_switch", "sched:sched_switch"),
            ("mem:0x1000:rw", "mem:0x1000:rw"),
            ("{cycles,instructions:u}:S", "{cycles/freq=99/,instructions/freq=99/u}:S"),
        ] {
            assert_eq!(with_frequency(events, 99), expected);
        }
    }
}

//! Patterns for names of threads, control groups, events and fields.

/// Returns true if a name matches a pattern: `*` stands for any number of bytes, `?` for one.
#[must_use]
pub fn matches_pattern(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Index of the last star in the pattern, and the end in the name of its match.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(&byte) if byte == b'?' || name.get(from) == Some(&byte) => {
                (at, from) = (at + 1, from + 1);
            }
            _ => match star {
                Some((place, end)) => {
                    star = Some((place, end + 1));
                    (at, from) = (place + 1, end + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|&byte| byte == b'*')
}

/// Returns true if a pattern matches the name of an event, with its modifiers or without.
#[must_use]
pub fn fits_event(pattern: &str, event: &str) -> bool {
    let fits = |name: &str| matches_pattern(pattern.as_bytes(), name.as_bytes());
    fits(event) || fits(without_modifiers(event))
}

/// Removes the modifiers of an event's name, the letters after the last colon. Tracepoints have a colon, too.
///
/// Source: perf-list(1), "EVENT MODIFIERS".
#[must_use]
pub fn without_modifiers(event: &str) -> &str {
    match event.rsplit_once(':') {
        Some((name, letters)) if letters.chars().all(|it| "ukhIGHpPSDWeb".contains(it)) => name,
        _ => event,
    }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn patterns() {
        let fits = |pattern: &str, name: &str| matches_pattern(pattern.as_bytes(), name.as_bytes());
        for (pattern, name) in [
            ("blur*", "blur"),
            ("blur*", "blur-3"),
            ("*:sched_*", "sched:sched_switch"),
            ("a?c", "abc"),
            ("", ""),
            ("**", ""),
            ("*ab*ab", "abaab-ab"),
            ("a*", "a*"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("blur", "blur-3"), ("blur?", "blur"), ("*b", "ba"), ("", "a"), ("a*b", "acbc")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}

//! The mappings of a process, as `/proc/PID/maps` states them.

use anyhow::{Context, Result};

/// A mapping of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// First address.
    pub(crate) start: u64,
    /// Address after the last byte.
    pub(crate) end: u64,
    /// Offset in the file.
    pub(crate) offset: u64,
    /// True if executable.
    pub(crate) executable: bool,
    /// `PROT_READ`, `PROT_WRITE` and `PROT_EXEC`.
    pub(crate) prot: u32,
    /// Device of the file.
    pub(crate) device: (u32, u32),
    /// Inode of the file.
    pub(crate) inode: u64,
    /// Path of the file, a name in brackets, or nothing.
    pub(crate) name: String,
}

/// Reads the text of `/proc/PID/maps`.
pub(crate) fn mappings(text: &str) -> Result<Vec<Mapping>> {
    text.lines().map(|line| mapping(line).with_context(|| line.to_owned())).collect()
}

/// Source: `proc_pid_maps(5)`.
fn mapping(line: &str) -> Result<Mapping> {
    let hex = |text: &str| u64::from_str_radix(text, 16);
    let mut rest = line;
    let mut word = || {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        word
    };
    let (start, end) = word().split_once('-').context("no range")?;
    let rights = word();
    let offset = hex(word())?;
    let (major, minor) = word().split_once(':').context("no device")?;
    let device = (u32::from_str_radix(major, 16)?, u32::from_str_radix(minor, 16)?);
    let inode = word().parse()?;
    let bits = [('r', 1), ('w', 2), ('x', 4)];
    let prot = bits.iter().filter(|(letter, _)| rights.contains(*letter)).map(|(_, bit)| bit).sum();
    Ok(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        offset,
        executable: rights.contains('x'),
        prot,
        device,
        inode,
        name: rest.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let text = "555555554000-555555555000 r-xp 00002000 fe:01 1234    /tmp/a b\n\
                    7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0       [stack]\n";
        let found = mappings(text).unwrap();
        let program = Mapping {
            start: 0x5555_5555_4000,
            end: 0x5555_5555_5000,
            offset: 0x2000,
            executable: true,
            prot: 5,
            device: (0xfe, 1),
            inode: 1234,
            name: "/tmp/a b".to_owned(),
        };
        assert_eq!(found[0], program);
        assert_eq!((found[1].prot, found[1].name.as_str()), (3, "[stack]"));
        assert!(mappings("nonsense").is_err());
    }
}

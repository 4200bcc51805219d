//! The source of the data of a memory access, as perf prints it.
//!
//! Source: `include/uapi/linux/perf_event.h`, `PERF_MEM_*`; the texts are those of perf 6.1.

/// Names of the bits of a level of the memory.
const LEVELS: [(u64, &str); 12] = [
    (0x1, "N/A"),
    (0x8, "L1"),
    (0x10, "LFB/MAB"),
    (0x20, "L2"),
    (0x40, "L3"),
    (0x80, "Local RAM"),
    (0x100, "Remote RAM (1 hop)"),
    (0x200, "Remote RAM (2 hops)"),
    (0x400, "Remote Cache (1 hop)"),
    (0x800, "Remote Cache (2 hops)"),
    (0x1000, "I/O"),
    (0x2000, "Uncached"),
];
const SNOOPS: [(u64, &str); 7] = [
    (0x1, "N/A"),
    (0x2, "None"),
    (0x4, "Hit"),
    (0x8, "Miss"),
    (0x10, "HitM"),
    (0x20, "Fwd"),
    (0x40, "Peer"),
];
const TRANSLATIONS: [(u64, &str); 5] =
    [(0x1, "N/A"), (0x8, "L1"), (0x10, "L2"), (0x20, "Walker"), (0x40, "Fault")];
const OPERATIONS: [(u64, &str); 5] =
    [(0x1, "N/A"), (0x2, "LOAD"), (0x4, "STORE"), (0x8, "PFETCH"), (0x10, "EXEC")];
const HIT: u64 = 2;
const MISS: u64 = 4;
/// Texts of the distance in hops; others are unknown.
const HOPS: [&str; 5] = ["", "core, same node", "node, same socket", "socket, same board", "board"];

/// Returns the names of bits, joined by `or`.
fn names(word: u64, table: &[(u64, &str)]) -> String {
    let names = table.iter().filter(|(bit, _)| word & bit != 0).map(|(_, name)| *name);
    names.collect::<Vec<_>>().join(" or ")
}

/// Returns `text`, or `N/A` if it is empty, with the outcome of the access.
fn with_outcome(text: &str, word: u64) -> String {
    let text = if text.is_empty() { "N/A" } else { text };
    let outcome = |bit: u64, name: &'static str| if word & bit != 0 { name } else { "" };
    format!("{text}{}{}", outcome(HIT, " hit"), outcome(MISS, " miss"))
}

/// Returns the number and its meaning: `%16x |OP …|LVL …|SNP …|TLB …|LCK …|BLK …`.
pub(super) fn source_text(source: u64) -> String {
    let bits = |at: u32, width: u32| source >> at & ((1 << width) - 1);
    let operation = OPERATIONS.iter().find(|(bit, _)| bits(0, 5) & bit != 0);
    let operation = operation.map_or("No", |(_, name)| *name);
    let snoop = names(bits(19, 5) | bits(38, 2) << 5, &SNOOPS);
    let snoop = if snoop.is_empty() { "N/A" } else { &snoop };
    let translation = with_outcome(&names(bits(26, 7), &TRANSLATIONS), bits(26, 7));
    let lock = match bits(24, 2) {
        word if word & 1 != 0 => "N/A",
        0 => "No",
        _ => "Yes",
    };
    let block = match bits(40, 3) {
        2 => " Data",
        4 => " Addr",
        6 => " Data Addr",
        _ => " N/A",
    };
    format!(
        "{source:16x} |OP {operation}|LVL {}|SNP {snoop}|TLB {translation}|LCK {lock}|BLK {block}",
        level(bits(5, 14), bits(33, 4), bits(37, 1) == 1, bits(43, 3)),
    )
}

/// Returns the level of the memory: by bits or, in other recordings, by a number and a distance.
fn level(word: u64, number: u64, remote: bool, hops: u64) -> String {
    let number = match number {
        0 => String::new(),
        9 => "CXL".to_owned(),
        10 => "I/O".to_owned(),
        11 => "Any cache".to_owned(),
        12 => "LFB/MAB".to_owned(),
        13 => "RAM".to_owned(),
        14 => "PMEM".to_owned(),
        15 => "N/A".to_owned(),
        level => format!("L{level}"),
    };
    let mut text = if remote { "Remote " } else { "" }.to_owned();
    if hops == 0 {
        let by_bits = names(word, &LEVELS);
        text += &by_bits;
        if !by_bits.is_empty() && !number.is_empty() {
            text += " or ";
        }
    } else {
        text += HOPS.get(hops as usize).copied().unwrap_or("(null)");
        text.push(' ');
    }
    text += &number;
    with_outcome(&text, word)
}

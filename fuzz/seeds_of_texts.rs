//! Seeds of the target that prints samples of tracepoints.

use crate::write;

/// Fields of a format: a number, a located text, a pointer and an array.
const FIELDS: &str = "name: event\nID: 77\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    \tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n\
    \tfield:__data_loc char[] text;\toffset:12;\tsize:4;\tsigned:0;\n\
    \tfield:void * p;\toffset:16;\tsize:8;\tsigned:0;\n\
    \tfield:u8 a[8];\toffset:24;\tsize:8;\tsigned:0;\n\n";

/// Formats as kernels have them: plain numbers, tables of flags, conditions, arrays and addresses.
const PRINTED: [(&str, &str); 6] = [
    (
        "numbers",
        r#""n=%d %5u %-8lx|%08x|%c", REC->n, REC->n & 0xff, (unsigned long)REC->p, REC->n + 1 * 2, 65"#,
    ),
    ("texts", r#""text=%s %-12s|%.3s", __get_str(text), __get_str(text), "constant""#),
    (
        "tables",
        r#""%s %s", __print_flags(REC->n, "|", { 1, "ONE" }, { 2, "TWO" }), __print_symbolic(REC->n & 3, { 0, "A" }, { 3, "B" })"#,
    ),
    ("addresses", r#""%ps %pS %p %pI4 %pM %pU", REC->p, REC->p, REC->p, REC->a, REC->a, REC->a"#),
    ("arrays", r#""%s %s %*pbl", __print_array(REC->a, 8, 1), __print_hex(REC->a, 4), 64, REC->a"#),
    (
        "conditions",
        r#""%s %d", REC->n > 3 ? "more" : (REC->n == 0 || !REC->p) ? "none" : "less", sizeof(u64) << (REC->n % 7)"#,
    ),
];

pub fn write_all() {
    let raw = |n: i32, text: &[u8]| {
        let location = (text.len() as u32) << 16 | 32;
        let head = [&[77, 0, 0, 0, 0, 0, 0, 0][..], &n.to_le_bytes(), &location.to_le_bytes()];
        let rest = [&0xffff_ffff_8100_0034_u64.to_le_bytes()[..], &[1, 2, 3, 4, 5, 6, 7, 8], text];
        let content = [head.concat(), rest.concat()].concat();
        [&(content.len() as u16).to_le_bytes()[..], &content].concat()
    };
    for (name, printed) in PRINTED {
        let format = format!("{FIELDS}print fmt: {printed}\n");
        let len = (format.len() as u16).to_le_bytes();
        let samples = [raw(3, b"text\0"), raw(-1, b""), raw(0x7fff_ffff, b"\x1b[1m\xff\0more")];
        write("trace_text", name, &[&[0], &len[..], format.as_bytes(), &samples.concat()].concat());
    }
}

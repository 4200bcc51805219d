//! Texts of tracepoints by their `print fmt`: each part of its language, limits, and damaged formats.

use crate::tests::builder::Bytes;
use crate::tracing::PrintFormat;
use crate::{Endian, KernelAddress, TracingData, with_symbols};

const FIELDS: &str = "name: thing\nID: 7\nformat:\n\
    \tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\
    \tfield:u32 bits;\toffset:12;\tsize:4;\tsigned:0;\n\
    \tfield:u64 b;\toffset:16;\tsize:8;\tsigned:0;\n\
    \tfield:char comm[8];\toffset:24;\tsize:8;\tsigned:0;\n\
    \tfield:__data_loc char[] s;\toffset:32;\tsize:4;\tsigned:0;\n\
    \tfield:__data_loc u16[] d;\toffset:36;\tsize:4;\tsigned:0;\n\
    \tfield:u8 mac[6];\toffset:40;\tsize:6;\tsigned:0;\n\
    \tfield:u16 half;\toffset:46;\tsize:2;\tsigned:0;\n\
    \tfield:__u8 v4[4];\toffset:48;\tsize:4;\tsigned:0;\n\
    \tfield:__rel_loc char[] r;\toffset:52;\tsize:4;\tsigned:0;\n\
    \tfield:__u8 v6[16];\toffset:56;\tsize:16;\tsigned:0;\n\
    \tfield:const char * p;\toffset:72;\tsize:8;\tsigned:0;\n\
    \tfield:s32 list[];\toffset:80;\tsize:8;\tsigned:1;\n\
    \tfield:void * none;\toffset:88;\tsize:8;\tsigned:0;\n\
    \tfield:__data_loc unsigned long[] mask;\toffset:96;\tsize:4;\tsigned:0;\n\
    \tfield:char letter;\toffset:100;\tsize:1;\tsigned:1;\n\
    \tfield:__data_loc u8[] sa4;\toffset:104;\tsize:4;\tsigned:0;\n\
    \tfield:__data_loc u8[] sa6;\toffset:108;\tsize:4;\tsigned:0;\n\nprint fmt: ";

/// Offset of the data of fields of varying length.
const DATA: u32 = 112;

fn tracing(print: &str, endian: Endian) -> Vec<u8> {
    let sized = |it: Bytes, text: &str| it.u64(text.len() as u64).raw(text.as_bytes());
    let order = u8::from(endian == Endian::Big);
    let it = Bytes::new(endian).raw(b"\x17\x08\x44tracing0.6\0").raw(&[order, 8]).u32(4096);
    let it = sized(it.raw(b"header_page\0"), "");
    let it = sized(it.raw(b"header_event\0"), "").u32(0).u32(1);
    let it = sized(it.raw(b"made\0").u32(1), &format!("{FIELDS}{print}\n"));
    let printk = b"0xffffffff81000020 : \"second\\n\"\n0xffffffff81000010 : \"first\"\nnonsense\n";
    it.u32(0).u32(printk.len() as u32).raw(printk).u64(0).data
}

fn raw(endian: Endian) -> Vec<u8> {
    let it = Bytes::new(endian).u64(7).u32(-2_i32 as u32).u32(0b1101).u64(0xffff_ffff_8100_0123);
    let it = it.raw(b"sh\0stale").u32(7 << 16 | DATA).u32(4 << 16 | (DATA + 8));
    let it = it.raw(&[1, 2, 3, 0xa, 0xb, 0xc]).u16(513).raw(&[10, 0, 0, 200]);
    // The second located text is four bytes after the end of the data of the others.
    let it = it.u32(4 << 16 | (DATA + 20 - 56)).raw(&[0x20, 1, 0xd, 0xb8]).raw(&[0; 11]).raw(&[9]);
    let it = it.u64(0xffff_ffff_8100_0020).u32(5).u32(-6_i32 as u32).u64(0);
    let it = it.u32(8 << 16 | (DATA + 12)).raw(b"x\0\0\0");
    let it = it.u32(8 << 16 | (DATA + 24)).u32(24 << 16 | (DATA + 32));
    let it = it.raw(b"path/a\0\0").u16(300).u16(7).u64(0b1_0000_0111).raw(b"rel\0");
    let it = it.u16(2).raw(&[0, 53, 10, 1, 2, 3]).u16(10).raw(&[0x1f, 0x90, 0, 0, 0, 0]);
    it.raw(&[0; 10]).raw(&[0xff, 0xff, 1, 2, 3, 4]).data
}

/// Returns the printer of a `print fmt`.
fn printer(print: &str, endian: Endian) -> Option<PrintFormat> {
    let bytes = tracing(print, endian);
    let data = TracingData::parse(&bytes).expect("tracing data");
    PrintFormat::parse(data.format(7).expect("the format"), &data.print_setting())
}

/// Returns the text of a sample, with functions of 256 bytes as the symbols of the kernel.
fn text(print: &str, endian: Endian) -> Option<String> {
    let printed = printer(print, endian)?.print(&raw(endian))?;
    let find =
        |it: KernelAddress| (it.address > 0xff).then_some((&b"function"[..], it.address & !0xff));
    let text = with_symbols(&printed, find).unwrap_or(printed);
    Some(String::from_utf8(text).expect("UTF-8"))
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for endian in [Endian::Little, Endian::Big] {
        for (print, expected) in cases {
            assert_eq!(text(print, endian).as_deref(), Some(*expected), "{print}");
        }
    }
}

#[test]
fn numbers_are_those_of_printf() {
    check(&[
        (r#""""#, ""),
        (r#""100%% \"x\"\t\\""#, "100% \"x\"\t\\"),
        (r#""%d %u %x", REC->a, REC->a, REC->a"#, "-2 4294967294 fffffffe"),
        // Fields are extended with zeros, as in perf.
        (r#""%ld %lld %hd %hhu", REC->a, REC->a, REC->a, REC->a"#, "4294967294 4294967294 -2 254"),
        (r#""%08lx|%#x|%#llX|%o|%#o", 255, 255, 255, 8, 8"#, "000000ff|0xff|0XFF|10|010"),
        (
            r#""%5d|%-5d|%05d|%+d|% d|%.3d|%.0d", -3, -3, -3, 3, 3, 3, 0"#,
            "   -3|-3   |-0003|+3| 3|003|",
        ),
        (
            r#""%zu %Lu %c%c", REC->b, REC->b, REC->letter, 0"#,
            "18446744071578845475 18446744071578845475 x",
        ),
        (
            r#""%*d|%-*d|%*d|%.*d|%6.3d|%-05d|", 4, 7, 4, 7, -4, 7, 3, 7, -7, 7"#,
            "   7|7   |7   |007|  -007|7    |",
        ),
        (r#""%d %d %d", 0x1F, 010, 'A'"#, "31 8 65"),
        (r#""a" "b %d" "c", 1"#, "ab 1c"),
    ]);
}

#[test]
fn expressions_are_those_of_c_without_signs() {
    check(&[
        (r#""%d %d", 1 + 2 * 3 - 4 - 1, (1 + 2) * 3 % 5"#, "2 4"),
        (r#""%d %d %d", 1 << 3 | 1, 12 & 10 ^ 1, 7 / 2"#, "9 9 3"),
        (r#""%d %d %d %d", 1 && 0 || 1, !5, !REC->a, REC->a < 0"#, "1 0 0 0"),
        (r#""%d %d %d", REC->half >= 513, REC->half == 2, REC->half != 2"#, "1 0 1"),
        (
            r#""%u:%u", ((unsigned int) ((REC->bits) >> 2)), ((unsigned int) ((REC->bits) & ((1U << 2) - 1)))"#,
            "3:1",
        ),
        (r#""%llx %x %x", (u8)REC->b, (unsigned short)REC->b, ~(u32)0"#, "23 123 ffffffff"),
        (r#""%llx", (unsigned long long)(REC->b) >> 32"#, "ffffffff"),
        (
            r#""%s %s", REC->a ? "yes" : "no", REC->none ? "yes" : REC->half ? "half" : "no""#,
            "yes half",
        ),
        (r#""%d %d %d", REC->list[0], REC->list[1], REC->mac[3 + 1]"#, "5 -6 11"),
        (r#""%d %d", ((u16 *)__get_dynamic_array(d))[1], *(u16 *)__get_dynamic_array(d)"#, "7 300"),
        (r#""%d %d %d", __get_dynamic_array_len(d), sizeof(u16), sizeof(REC->mac)"#, "4 2 6"),
        (r#""%d %d", __builtin_expect(!!(REC->a), 0), TIMER_SOFTIRQ + UNKNOWN"#, "1 1"),
    ]);
}

#[test]
fn texts_come_from_fields_tables_and_arrays() {
    check(&[
        (
            r#""%s|%5s|%-4s|%.1s|%.*s", REC->comm, REC->comm, REC->comm, REC->comm, 1, REC->comm"#,
            "sh|   sh|sh  |s|s",
        ),
        (r#""%s %s %s", __get_str(s), __get_rel_str(r), REC->p"#, "path/a rel second"),
        // A pointer without a text, and a number that is no text.
        (r#""%s|%s", REC->b, REC->half + 1"#, "ffffffff81000123|"),
        (
            r#""%s", __print_flags(REC->bits, "|", { 1, "A" }, { 4, "C" }, { (1UL << 3), "D" })"#,
            "A|C|D",
        ),
        (r#""%s", __print_flags(REC->bits, NULL, { 0x5, "AC" })"#, "AC0x8"),
        (
            r#""%s%s", __print_flags(REC->none, "", { 0, "zero" }, { -1, "none" }), __print_flags(REC->bits, "", { 13, "all" }, { -1, ((void *)0) })"#,
            "noneall",
        ),
        (
            r#""%s %s", __print_symbolic(REC->half, { 1, "one" }, { 513, "this" "one" }), __print_symbolic(REC->a, { })"#,
            "thisone 0xfffffffe",
        ),
        (
            r#""%s", REC->none ? __print_symbolic(1, { 1, "a" }) : __print_symbolic(RCU_SOFTIRQ, { RCU_SOFTIRQ, "RCU" })"#,
            "RCU",
        ),
        (
            r#""%s %s", __print_hex(REC->mac, 3), __print_hex_str(__get_dynamic_array(s), 2)"#,
            "01 02 03 7061",
        ),
        (
            r#""%s %s", __print_array(__get_dynamic_array(d), __get_dynamic_array_len(d) / sizeof(u16), sizeof(u16)), __print_array(REC->mac, 2, 1)"#,
            "300 7 1 2",
        ),
    ]);
    check(&[(
        r#""%s %*pbl", __get_bitmask(mask), 64, __get_dynamic_array(mask)"#,
        "00000000,00000107 0-2,8",
    )]);
}

#[test]
fn pointers_are_those_of_the_kernel() {
    check(&[
        (
            r#""%p %p %ps %pS %pf", REC->b, REC->none, REC->b, (void *)REC->b, 7"#,
            "0xffffffff81000123 (nil) function function+0x23 0x7",
        ),
        (
            r#""%pM %pm %pMF %pMR", REC->mac, REC->mac, REC->mac, REC->mac"#,
            "01:02:03:0a:0b:0c 0102030a0b0c 01-02-03-0a-0b-0c 0c:0b:0a:03:02:01",
        ),
        (
            r#""%pI4 %pi4 %pI4l", REC->v4, REC->v4, REC->v4"#,
            "10.0.0.200 010.000.000.200 200.0.0.10",
        ),
        (
            r#""%pI6 %pi6", REC->v6, REC->v6"#,
            "2001:0db8:0000:0000:0000:0000:0000:0009 20010db8000000000000000000000009",
        ),
        (r#""%pI6c %pISpc", REC->v6, REC->v6"#, "2001:db8::9 "),
        (
            r#""%pU %pUL", REC->v6, REC->v6"#,
            "20010db8-0000-0000-0000-000000000009 B80D0120-0000-0000-0000-000000000009",
        ),
        (
            r#""%*ph|%*phC|%*phN", 3, __get_dynamic_array(s), 2, __get_dynamic_array(s), 9, REC->mac"#,
            "70 61 74|70:61|0102030a0b0c",
        ),
        (
            r#""%pISpc %pIS %pISp", __get_sockaddr(sa6), __get_sockaddr(sa4), __get_sockaddr(sa4)"#,
            "[::ffff:1.2.3.4]:8080 10.1.2.3 10.1.2.3:53",
        ),
    ]);
}

#[test]
fn what_is_not_supported_has_no_printer() {
    let deep = format!(r#""%d", {}1{}"#, "(".repeat(60), ")".repeat(60));
    let choices = format!(r#""%d", {}1"#, "REC->a ? 2 : ".repeat(200));
    let chain = format!(r#""%d", REC->a{}"#, " + REC->a".repeat(200));
    let prefixes = format!(r#""%d", {}REC->a"#, "~".repeat(200));
    let long = format!(r#""{}""#, "x".repeat(1 << 16));
    let cases = [
        "",
        "REC->a",
        r#""%d""#,
        r#""%d", REC->absent"#,
        r#""%q", 1"#,
        r#""%5000d", 1"#,
        r#""%d"#,
        r#""%d", (1"#,
        r#""%d", jiffies_to_msecs(REC->a)"#,
        r#""%d", ({ int x = REC->a; x; })"#,
        r#""%d", 1 / 0"#,
        r#""%d", REC->comm.x"#,
        r#""%s", __print_symbolic(REC->a, { REC->a, "x" })"#,
        "\"\0\"",
        &deep,
        &choices,
        &chain,
        &prefixes,
        &long,
    ];
    for print in cases {
        assert!(printer(print, Endian::Little).is_none(), "{print:.40}");
    }
}

#[test]
fn samples_without_the_data_have_no_text() {
    let wide = r#""%*d", REC->b, 1"#;
    let precise = r#""%.*d", 70000, 1"#;
    let cases = [
        r#""%d", 1 / REC->none"#,
        r#""%d", REC->list[2]"#,
        r#""%s", __print_hex(REC->mac, 7)"#,
        r#""%s", __print_array(__get_dynamic_array(d), REC->b, 4)"#,
        r#""%s", __print_array(REC->mac, 1, 3)"#,
        wide,
        precise,
    ];
    for print in cases {
        let printer = printer(print, Endian::Little).expect("a printer");
        assert_eq!(printer.print(&raw(Endian::Little)), None, "{print}");
    }
    let printer = printer(r#""%s %d", __get_str(s), REC->a"#, Endian::Little).expect("a printer");
    let raw = raw(Endian::Little);
    let lengths: Vec<usize> =
        (0..raw.len()).filter(|&end| printer.print(&raw[..end]).is_some()).collect();
    // The text needs the bytes of its field, whose length includes the NUL.
    assert_eq!(lengths.first(), Some(&119));
    // More steps than a sample may take.
    let names = (1..2500).map(|at| format!("{{{at},\"n\"}},")).collect::<String>();
    let print = format!(r#""%s%s", __print_symbolic(0, {names}), __print_symbolic(0, {names})"#);
    let slow = self::printer(&print, Endian::Little).expect("a printer");
    assert_eq!(slow.print(&raw), None);
}

/// Formats and data with random damage neither panic nor take long.
#[test]
fn damaged_formats_are_refused_or_printed() {
    let formats = [
        r#""%s %-8s %*.*d %pISpc %pU", __print_flags(REC->bits & (1 | 4), "|", { 1, "A" }), REC->comm, 3, 2, REC->a, REC->v6, REC->v6"#,
        r#""%s %s %d %pS", __print_array(__get_dynamic_array(d), __get_dynamic_array_len(d) / 2, 2), __print_hex(REC->mac, 6), ((u8 *)__get_dynamic_array(s))[REC->half], REC->b"#,
        r#""%s %*pbl %pM", REC->none ? __get_bitmask(mask) : __get_rel_str(r), 64, __get_dynamic_array(mask), REC->mac"#,
    ];
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut printed = 0;
    for round in 0..3000 {
        let mut print = formats[round % 3].as_bytes().to_vec();
        for _ in 0..random(4) {
            let (at, byte) = (random(print.len()), print[random(print.len())]);
            if random(2) == 0 { print[at] = byte } else { print.insert(at, byte) }
        }
        let mut raw = raw(Endian::Little);
        let at = random(raw.len());
        raw[at] = random(256) as u8;
        let Ok(print) = String::from_utf8(print) else { continue };
        let printer = printer(&print, Endian::Little);
        printed += u32::from(printer.and_then(|printer| printer.print(&raw)).is_some());
    }
    assert_eq!(printed, 630);
}

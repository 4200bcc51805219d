//! Numbers of memory accesses and fields of kernel probes: in every format with fields, as a weight, in conditions, and
//! in perf-script byte for byte as perf 6.1 prints them.

use serde_json::{Value, json};
use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, Record, SampleBuilder, SampleId, sample_type,
};

use crate::support::run::{Ran, empty_folder, run};

/// Fields of both events: the processor's event, and that of the probe.
const COMMON: u64 = sample_type::IDENTIFIER
    | sample_type::IP
    | sample_type::TID
    | sample_type::TIME
    | sample_type::ADDR
    | sample_type::CPU
    | sample_type::PERIOD;

/// `perf probe 'do_sys_openat2 dfd=%di:s32 filename=+0(%si):string'`, as the kernel describes it.
const PROBE: &str = "name: do_sys_openat2\nID: 77\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    \tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n\
    \tfield:s32 dfd;\toffset:16;\tsize:4;\tsigned:1;\n\
    \tfield:__data_loc char[] filename;\toffset:20;\tsize:4;\tsigned:1;\n\n\
    print fmt: \"(%lx) dfd=%d filename=\\\"%s\\\"\", REC->__probe_ip, REC->dfd, __get_str(filename)\n";

fn start() -> PerfDataBuilder {
    let mut it = PerfDataBuilder::new(Endian::Little);
    it.feature(&Feature::Arch("x86_64"));
    it
}

/// Sources of data: all kinds of texts, the longest not at the end.
const SOURCES: [u64; 8] = [
    0x6810_0142,
    0x04,
    0x0180_2000_0040,
    0x0040_0020_0000,
    0x2000_0008_4008,
    0x0826_0000_0000,
    0x0600_9a00_0150,
    0x2a,
];

/// Samples of a memory event. `split` weights consist of parts.
fn memory(split: bool) -> Vec<u8> {
    let mut it = start();
    let weight = if split { sample_type::WEIGHT_STRUCT } else { sample_type::WEIGHT };
    let sample_type = COMMON | weight | sample_type::DATA_SRC | sample_type::PHYS_ADDR;
    let attr = EventAttr { event_type: 4, config: 0x1cd, sample_type, ..EventAttr::default() };
    it.event("mem-loads", attr, &[5]);
    it.describe_events();
    let name = Record::Comm { pid: 3, tid: 4, comm: b"app", exec: false };
    it.record_at(&name, SampleId::at(3, 4, 90));
    for (index, data_src) in (0_u64..).zip(SOURCES) {
        let place = SampleBuilder::at(0x40_1000, 3, 4, 100_000 + 1000 * index);
        it.sample(&SampleBuilder {
            id: 5,
            cpu: 1,
            addr: 0x7f00_0000_1000 + index,
            weight: 70_000_000_000 + index,
            weight_struct: (33 + index as u32, 7, 9),
            data_src,
            phys_addr: 0x1020 + index,
            ..place
        });
    }
    it.build()
}

/// Two samples of a probe on a kernel function.
fn probe() -> Vec<u8> {
    let mut it = start();
    let sized = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let mut data = b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0".to_vec();
    data.extend([&sized("")[..], b"header_event\0", &sized("")].concat());
    data.extend([0_u32, 1].map(u32::to_le_bytes).concat());
    data.extend([&b"probe\0"[..], &1_u32.to_le_bytes(), &sized(PROBE), &[0; 16]].concat());
    let sample_type = COMMON | sample_type::RAW;
    let attr = EventAttr { event_type: 2, config: 77, sample_type, ..EventAttr::default() };
    it.event("probe:do_sys_openat2", attr, &[5]);
    it.describe_events();
    it.feature(&Feature::TracingData(&data));
    let name = Record::Comm { pid: 3, tid: 4, comm: b"app", exec: false };
    it.record_at(&name, SampleId::at(3, 4, 90));
    for (time, dfd, path) in [(100_000, -100_i32, &b"/etc/passwd\0"[..]), (101_000, 5, b"x\0")] {
        let location = (path.len() as u32) << 16 | 24;
        let head = [&[77, 0, 0, 0, 0, 0, 0, 0][..], &0xffff_ffff_8123_4560_u64.to_le_bytes()];
        let rest = [&dfd.to_le_bytes()[..], &location.to_le_bytes(), path];
        let raw = [head.concat(), rest.concat()].concat();
        let place = SampleBuilder::at(0xffff_ffff_8123_4560, 3, 4, time);
        it.sample(&SampleBuilder { id: 5, cpu: 1, misc: 1, raw, ..place });
    }
    it.build()
}

fn of(recording: &[u8], name: &str, args: &[&str]) -> Ran {
    let folder = empty_folder(&format!("memory-{name}"));
    std::fs::write(folder.join("perf.data"), recording).expect("written");
    run(&folder, &[args, &["-q", "perf.data"]].concat())
}

fn script(recording: &[u8], name: &str, fields: &str) -> String {
    of(recording, name, &["-f", "perf-script", "-F", fields]).expect_status(0).text().to_owned()
}

/// Lines of `perf script -F addr,weight,ins_lat,data_src,phys_addr`. The source of data is padded to the longest so far.
const PRINTED: &str = "\
    \u{20}   7f0000001000        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A              33               7            1020\n\
    \u{20}   7f0000001001               4 |OP STORE|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A                          34               7            1021\n\
    \u{20}   7f0000001002     18020000040 |OP No|LVL N/A hit|SNP Peer|TLB L1|LCK No|BLK  N/A                         35               7            1022\n\
    \u{20}   7f0000001003      4000200000 |OP No|LVL N/A|SNP Hit or Fwd|TLB N/A|LCK No|BLK  N/A                      36               7            1023\n\
    \u{20}   7f0000001004    200000084008 |OP PFETCH|LVL board |SNP N/A|TLB N/A|LCK No|BLK  N/A                      37               7            1024\n\
    \u{20}   7f0000001005     82600000000 |OP No|LVL Remote core, same node L3|SNP N/A|TLB N/A|LCK No|BLK  N/A              38               7            1025\n\
    \u{20}   7f0000001006     6009a000150 |OP EXEC|LVL L1 hit|SNP N/A|TLB Walker hit miss|LCK Yes|BLK  Data Addr              39               7            1026\n\
    \u{20}   7f0000001007              2a |OP LOAD|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A                                    40               7            1027\n\
";

#[test]
fn perf_script_prints_numbers_of_memory_accesses() {
    let fields = "addr,weight,ins_lat,data_src,phys_addr";
    assert_eq!(script(&memory(true), "script", fields), PRINTED);
    let lines = script(&memory(false), "weights", "addr,weight,data_src,phys_addr");
    let last = "    7f0000001007              2a |OP LOAD|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A                           \
                70000000007            1027";
    assert_eq!(lines.lines().last(), Some(last));
    // As values, they are numbers.
    let args =
        ["-f", "perf-script", "-F", "event", "--with-fields", "phys_addr", "--where", "weight=33"];
    let ran = of(&memory(true), "values", &args).expect_status(0);
    assert_eq!(ran.text(), "mem-loads:  phys_addr=4128\n");
    // Without numbers, an error names those that there are.
    let ran = of(&probe(), "none", &["-f", "perf-script", "-F", "event,weight"]).expect_status(2);
    assert!(ran.stderr.contains("--with-fields weight: no event has this field"), "{}", ran.stderr);
    let hashed = of(&memory(true), "hashed", &["-f", "perf-script", "-F", "addr", "--redact=k"]);
    let hashed = hashed.expect_status(0);
    assert!(hashed.text().starts_with(" \"#"), "{}", hashed.text());
}

#[test]
fn formats_have_numbers_of_memory_accesses() {
    let recording = memory(true);
    let lines = of(&recording, "lines", &["-f", "ndjson", "--with-fields", "all"]).expect_status(0);
    let expected = json!({
        "addr": 0x7f00_0000_1000_u64, "weight": 33, "ins_lat": 7, "data_src": 0x6810_0142,
        "phys_addr": 0x1020
    });
    assert_eq!(lines.lines()[0]["fields"], expected);
    for format in ["json", "parquet", "arrow", "otlp"] {
        let ran = of(&recording, "formats", &["-f", format, "--with-fields", "all"]);
        let bytes = ran.expect_status(0).stdout;
        for name in ["addr", "weight", "ins_lat", "data_src", "phys_addr"] {
            let found = bytes.windows(name.len()).any(|part| part == name.as_bytes());
            assert!(found, "{format}: {name}");
        }
    }
}

#[test]
fn numbers_of_memory_accesses_group_select_and_weigh() {
    let recording = memory(true);
    let rows = |name, args: &[&str]| -> Vec<Value> {
        let table = of(&recording, name, &[&["top", "--format", "json"], args].concat());
        let table = table.expect_status(0).json();
        let rows = table["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| json!([row["value"], row["own_samples"]])).collect()
    };
    for (name, value) in [
        ("addr", 0x7f00_0000_1006_u64),
        ("weight", 39),
        ("data_src", SOURCES[6]),
        ("phys_addr", 0x1026),
    ] {
        let args = ["--by", &format!("field:{name}"), "--where", "weight=39"];
        assert_eq!(rows("grouped", &args), [json!([value, 1])], "{name}");
        let condition = format!("{name}={value:#x}");
        let args = ["--by", "field:weight", "--where", &condition];
        assert_eq!(rows("selected", &args), [json!([39, 1])], "{name}");
    }
    for (name, total) in [("weight", 8 * 33 + 28), ("ins_lat", 56)] {
        let args = ["top", "--weight", name, "--format", "json"];
        let table = of(&recording, "weighed", &args).expect_status(0).json();
        assert_eq!(
            (&table["event"], &table["total"]),
            (&json!(format!("mem-loads/{name}")), &json!(total))
        );
    }
}

#[test]
fn probes_of_the_kernel_have_their_fields() {
    let recording = probe();
    let lines = script(&recording, "probe-text", "event,trace");
    let text = "probe:do_sys_openat2: (ffffffff81234560) dfd=-100 filename=\"/etc/passwd\"\n\
                probe:do_sys_openat2: (ffffffff81234560) dfd=5 filename=\"x\"\n";
    assert_eq!(lines, text);
    let args = ["-f", "ndjson", "--with-fields", "dfd,filename,__probe_ip", "--where", "dfd<0"];
    let lines = of(&recording, "probe-lines", &args).expect_status(0).lines();
    let fields =
        json!({ "__probe_ip": 0xffff_ffff_8123_4560_u64, "dfd": -100, "filename": "/etc/passwd" });
    assert_eq!(lines.iter().map(|line| line["fields"].clone()).collect::<Vec<_>>(), [fields]);
    let args = ["top", "--by", "field:filename", "--weight", "dfd", "--format", "json"];
    let table = of(&recording, "probe-top", &args).expect_status(0).json();
    assert_eq!((&table["total"], &table["rows"][0]["value"]), (&json!(5), &json!("x")));
    // The address that the recorder sets to 0 is not one of a memory access.
    assert_eq!(
        script(&recording, "probe-addr", "event,addr").lines().next(),
        Some("probe:do_sys_openat2: ")
    );
}

//! Tracing data: the kernel's descriptions of the recorded tracepoints. In files they are a feature, in streams they
//! follow a record, and simpleperf stores them in a record.
//!
//! ```text
//!   17 08 44 "tracing" | version NUL | order | size of long | size of a page
//!   "header_page" NUL, u64 size, text | "header_event" NUL, u64 size, text
//!   u32 count, of each: u64 size, text                        formats of ftrace itself
//!   u32 systems, of each: name NUL, u32 count, of each: u64 size, text
//!   kernel symbols, texts of printk, names of tasks
//! ```
//!
//! Source: `tools/perf/util/trace-event-info.c`, `tracing_data_get`.

use std::collections::BTreeMap;

use super::format::TraceFormat;
use super::print::PrintSetting;
use super::printk::PrintkTexts;
use crate::bytes::{Endian, FieldReader};

/// First bytes of the data.
const MAGIC: &[u8; 10] = b"\x17\x08\x44tracing";

/// Formats of the recorded tracepoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracingData<'d> {
    formats: BTreeMap<u64, TraceFormat<'d>>,
    endian: Endian,
    /// Size of a `long` of the recorded machine, in bytes.
    long_size: usize,
    printk: PrintkTexts<'d>,
}

impl<'d> TracingData<'d> {
    /// Parses the bytes of the feature. Stops at the first truncated or damaged part and retains the formats before it.
    /// `None` if the bytes are not tracing data.
    #[must_use]
    pub fn parse(bytes: &'d [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let version = rest.iter().position(|&byte| byte == 0)?;
        let rest = rest.get(version + 1..)?;
        let endian = if *rest.first()? == 0 { Endian::Little } else { Endian::Big };
        let mut cursor = FieldReader::new(rest.get(1..)?, endian);
        let (formats, printk) = (BTreeMap::new(), PrintkTexts::default());
        let mut data = Self { formats, endian, long_size: 8, printk };
        // At damage the formats read so far are retained.
        let _ = data.read(&mut cursor);
        Some(data)
    }

    fn read(&mut self, cursor: &mut FieldReader<'d>) -> Option<()> {
        self.long_size = if cursor.u8()? == 4 { 4 } else { 8 };
        let _page = cursor.bytes(4)?;
        for name in [&b"header_page\0"[..], b"header_event\0"] {
            cursor.bytes(name.len()).filter(|found| found == &name)?;
            sized(cursor)?;
        }
        self.events(cursor, b"ftrace")?;
        for _ in 0..cursor.u32()? {
            let end = cursor.rest().iter().position(|&byte| byte == 0)?;
            let system = cursor.bytes(end)?;
            cursor.bytes(1)?;
            self.events(cursor, system)?;
        }
        let kernel_symbols = cursor.u32()?;
        cursor.bytes(kernel_symbols as usize)?;
        let printk = cursor.u32()?;
        self.printk = PrintkTexts(cursor.bytes(printk as usize)?);
        Some(())
    }

    /// Returns the properties of the machine that the texts of samples depend on.
    pub(crate) fn print_setting(&self) -> PrintSetting {
        let mut printk: Vec<_> =
            self.printk.iter().map(|(address, text)| (address, text.into())).collect();
        printk.sort_by_key(|(address, _)| *address);
        PrintSetting { printk: printk.into(), endian: self.endian, long_size: self.long_size }
    }

    fn events(&mut self, cursor: &mut FieldReader<'d>, system: &'d [u8]) -> Option<()> {
        // Every format takes bytes, so the loop ends with the data.
        for _ in 0..cursor.u32()? {
            if let Some((id, format)) = TraceFormat::parse(system, sized(cursor)?) {
                self.formats.insert(id, format);
            }
        }
        Some(())
    }

    /// Returns the format of a tracepoint by its id, the `config` of the event's attribute.
    #[must_use]
    pub fn format(&self, id: u64) -> Option<&TraceFormat<'d>> {
        self.formats.get(&id)
    }

    /// Returns all formats with their ids, ascending.
    pub fn formats(&self) -> impl Iterator<Item = (u64, &TraceFormat<'d>)> {
        self.formats.iter().map(|(&id, format)| (id, format))
    }

    /// Returns the name of a tracepoint by its id, such as `sched:sched_switch`; `None` if it was not recorded.
    #[must_use]
    pub fn event_name(&self, id: u64) -> Option<String> {
        let format = self.formats.get(&id).filter(|format| !format.name.is_empty())?;
        let [system, name] = [format.system, format.name].map(String::from_utf8_lossy);
        Some(format!("{system}:{name}"))
    }

    /// Byte order of the recorded machine.
    #[must_use]
    pub const fn endian(&self) -> Endian {
        self.endian
    }
}

/// Reads a u64 size and that many bytes.
fn sized<'d>(cursor: &mut FieldReader<'d>) -> Option<&'d [u8]> {
    let size = cursor.u64()?;
    cursor.bytes_u64(size)
}

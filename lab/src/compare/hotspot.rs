//! Reader for the stream of hotspot's backend: messages of big-endian fields after little-endian lengths.
//!
//! Known: at the end of a sample's stack bytes it continues with the outer frames of another sample, unmarked.

use std::io::{ErrorKind, Read};

use anyhow::{Context, Result, bail};

use super::chain::{Chains, Frame, Sample, UNSTATED};
use crate::strings::{StringId, StringTable};

/// A location: its address, and its parent location (that of the function, or the one it was inlined into).
#[derive(Clone, Copy)]
struct Location {
    address: u64,
    parent: i32,
}

/// Definitions of the stream so far.
#[derive(Default)]
struct Tables {
    strings: Vec<Option<StringId>>,
    locations: Vec<Option<Location>>,
    /// By function location: name, module, and true if in the kernel.
    symbols: Vec<Option<(StringId, StringId, bool)>>,
    events: Vec<(i32, StringId)>,
}

/// Reads all samples.
pub(super) fn read(mut input: impl Read, words: &mut StringTable) -> Result<Chains> {
    let mut start = [0; 16];
    input.read_exact(&mut start).context("the stream's head")?;
    if !start.starts_with(b"QPERFSTREAM\0") {
        bail!("no QPERFSTREAM at the start of the stream");
    }
    let mut chains = Chains::default();
    let mut tables = Tables::default();
    let mut payload = Vec::new();
    let mut size = [0; 4];
    loop {
        match input.read_exact(&mut size) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            result => result?,
        }
        payload.clear();
        let expected = u64::from(u32::from_le_bytes(size));
        if input.by_ref().take(expected).read_to_end(&mut payload)? as u64 != expected {
            bail!("the stream ends inside a message");
        }
        message(&mut Fields(&payload), &mut tables, &mut chains, words)?;
    }
    Ok(chains)
}

fn message(
    fields: &mut Fields<'_>,
    tables: &mut Tables,
    chains: &mut Chains,
    words: &mut StringTable,
) -> Result<()> {
    match fields.u8()? {
        3 => {
            let id = fields.i32()?;
            let address = fields.u64()?;
            fields.take(4 + 4 + 4 + 4)?; // file, pid, line, column
            let parent = fields.i32()?;
            place(&mut tables.locations, id, Location { address, parent })
        }
        4 => {
            let id = fields.i32()?;
            let name = tables.string(fields.i32()?);
            fields.take(4)?; // the module's short name
            let path = tables.string(fields.i32()?);
            let kernel = fields.u8()? != 0;
            place(&mut tables.symbols, id, (name, path, kernel))
        }
        5 => {
            let id = fields.i32()?;
            let length = fields.u32()?;
            let bytes = if length == u32::MAX { &[] } else { fields.take(length as usize)? };
            place(&mut tables.strings, id, words.intern(&String::from_utf8_lossy(bytes)))
        }
        11 => {
            let id = fields.i32()?;
            fields.take(4 + 8)?; // type, config
            let name = tables.string(fields.i32()?);
            tables.events.push((id, name));
            Ok(())
        }
        13 | 14 => sample(fields, tables, chains),
        _ => Ok(()),
    }
}

fn sample(fields: &mut Fields<'_>, tables: &Tables, chains: &mut Chains) -> Result<()> {
    fields.take(4)?; // pid
    let tid = fields.u32()?;
    let time = fields.u64()?;
    let cpu = fields.u32()?;
    let n_frames = fields.u32()?;
    let ids = fields.take(n_frames as usize * 4)?;
    fields.take(1 + 4)?; // guessed frames, number of costs
    let attribute = fields.i32().unwrap_or(0);
    let event = tables.events.iter().find(|event| event.0 == attribute).map_or(0, |event| event.1);
    chains.open(Sample { time, tid, cpu, event, first: 0, n_user: 0, n_kernel: 0, end: 0 });
    for id in ids.chunks_exact(4) {
        let id = Fields(id).i32()?;
        let (frame, kernel) =
            tables.frame(id).with_context(|| format!("location {id} is not defined"))?;
        chains.push(frame, kernel);
    }
    Ok(())
}

impl Tables {
    fn string(&self, id: i32) -> StringId {
        usize::try_from(id).ok().and_then(|id| self.strings.get(id).copied().flatten()).unwrap_or(0)
    }

    /// Returns the frame's location with the name of its outermost function: the one that is not inlined.
    fn frame(&self, id: i32) -> Option<(Frame, bool)> {
        let location = (*self.locations.get(usize::try_from(id).ok()?)?)?;
        let (mut at, mut last) = (id, (0, 0, false));
        for _ in 0..1024 {
            let Ok(index) = usize::try_from(at) else { break };
            if let Some(Some(symbol)) = self.symbols.get(index) {
                last = *symbol;
            }
            at = (*self.locations.get(index)?)?.parent;
        }
        // The stream defines a location once for all processes, with its address in the first one.
        let stated = [UNSTATED, UNSTATED, UNSTATED, location.address];
        let kernel = last.2 || (location.address >= 1 << 63 && location.address != UNSTATED);
        Some((Frame { stated, module: last.1, symbol: last.0, found_by: 0 }, kernel))
    }
}

fn place<T: Clone>(table: &mut Vec<Option<T>>, id: i32, value: T) -> Result<()> {
    let id = usize::try_from(id).context("a negative id")?;
    // Ids are dense; a jump would be a misread message.
    if id > table.len() + 4096 {
        bail!("id {id} after {} ids", table.len());
    }
    if table.len() <= id {
        table.resize(id + 1, None);
    }
    if let Some(slot) = table.get_mut(id) {
        *slot = Some(value);
    }
    Ok(())
}

/// Remaining bytes of a message.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(count).context("a message is shorter than its fields")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into()?)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.array()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, fields: &[&[u8]]) -> Vec<u8> {
        let payload: Vec<u8> = std::iter::once(kind).chain(fields.concat()).collect();
        [&u32::try_from(payload.len()).unwrap().to_le_bytes()[..], &payload].concat()
    }

    fn string(id: i32, text: &str) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap();
        message(5, &[&id.to_be_bytes(), &length.to_be_bytes(), text.as_bytes()])
    }

    fn location(id: i32, address: u64, parent: i32) -> Vec<u8> {
        message(
            3,
            &[
                &id.to_be_bytes(),
                &address.to_be_bytes(),
                &[0; 16],
                &parent.to_be_bytes(),
                &0_u64.to_be_bytes(),
            ],
        )
    }

    fn symbol(id: i32, name: i32) -> Vec<u8> {
        message(
            4,
            &[
                &id.to_be_bytes(),
                &name.to_be_bytes(),
                &[0; 4],
                &0_i32.to_be_bytes(),
                &[0],
                &[0; 20],
                &[0],
            ],
        )
    }

    #[test]
    fn the_name_of_a_frame_is_that_of_the_function_that_is_not_inlined() {
        let sample = message(
            13,
            &[
                &1_u32.to_be_bytes(),
                &2_u32.to_be_bytes(),
                &3_u64.to_be_bytes(),
                &4_u32.to_be_bytes(),
                &1_u32.to_be_bytes(),
                &2_i32.to_be_bytes(),
                &[0],
                &1_u32.to_be_bytes(),
                &0_i32.to_be_bytes(),
                &9_u64.to_be_bytes(),
            ],
        );
        let head = [b"QPERFSTREAM\0".as_slice(), &19_i32.to_le_bytes()].concat();
        let stream = [
            head,
            string(0, "/lib"),
            string(1, "outer"),
            string(2, "inner"),
            location(0, 0x1000, -1),
            symbol(0, 1),
            location(1, 0x1010, 0),
            symbol(1, 2),
            location(2, 0x1012, 1),
            sample,
        ]
        .concat();
        let mut words = StringTable::new();
        let chains = read(stream.as_slice(), &mut words).unwrap();
        let sample = chains.samples[0];
        assert_eq!((sample.time, sample.tid, sample.cpu, sample.n_user), (3, 2, 4, 1));
        let frame = chains.user(&sample)[0];
        assert_eq!(
            (frame.shown(), words.text(frame.symbol), words.text(frame.module)),
            (0x1012, "outer", "/lib")
        );
        let cut = read(&stream[..stream.len() - 1], &mut words).err().unwrap().to_string();
        assert_eq!(cut, "the stream ends inside a message");
    }
}

//! Reader for our own NDJSON.

use std::collections::BTreeMap;
use std::io::BufRead;

use anyhow::{Context, Result};

use super::chain::{Chains, Frame, Sample, UNSTATED};
use crate::json::Json;
use crate::strings::{StringId, StringTable};

/// Reads all samples. Skips inlined frames: the comparison is about physical frames.
pub(super) fn read(mut input: impl BufRead, words: &mut StringTable) -> Result<Chains> {
    let mut chains = Chains::default();
    let mut line = String::new();
    let mut frames = Vec::new();
    let mut number = 0_u64;
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            break;
        }
        number += 1;
        if line.trim().is_empty() {
            continue;
        }
        frames.clear();
        let sample = sample(&line, words, &mut frames, &mut chains.build_ids)
            .with_context(|| format!("NDJSON line {number}"))?;
        chains.open(sample);
        for &(frame, kernel) in &frames {
            chains.push(frame, kernel);
        }
    }
    Ok(chains)
}

type BuildIds = BTreeMap<StringId, StringId>;

fn sample(
    line: &str,
    words: &mut StringTable,
    frames: &mut Vec<(Frame, bool)>,
    build_ids: &mut BuildIds,
) -> Result<Sample> {
    let mut sample = Sample {
        time: 0,
        tid: 0,
        cpu: u32::MAX,
        event: 0,
        first: 0,
        n_user: 0,
        n_kernel: 0,
        end: 0,
    };
    Json::new(line).object(|key, value| {
        match key {
            "time_ns" => sample.time = value.number()?,
            "tid" => sample.tid = u32::try_from(value.word()?.parse::<i64>()?).unwrap_or(u32::MAX),
            "cpu" => sample.cpu = u32::try_from(value.number()?)?,
            "event" => sample.event = words.intern(&value.string()?),
            "end" => sample.end = words.intern(&value.string()?),
            "frames" => value.array(|item| frame(item, words, frames, build_ids))?,
            _ => value.skip()?,
        }
        Ok(())
    })?;
    Ok(sample)
}

fn frame(
    json: &mut Json<'_>,
    words: &mut StringTable,
    frames: &mut Vec<(Frame, bool)>,
    build_ids: &mut BuildIds,
) -> Result<()> {
    let mut build_id = 0;
    let mut frame = Frame { stated: [UNSTATED; 4], module: 0, symbol: 0, found_by: 0 };
    let [mut addr, mut offset, mut svma, elsewhere] = frame.stated;
    let (mut kernel, mut inlined) = (false, false);
    json.object(|key, value| {
        match key {
            "addr" => addr = value.hex()?,
            "offset" => offset = value.hex()?,
            "svma" => svma = value.hex()?,
            "module" => frame.module = words.intern(&value.string()?),
            "build_id" => build_id = words.intern(&value.string()?),
            "function" => frame.symbol = words.intern(&value.string()?),
            "found_by" => frame.found_by = words.intern(&value.string()?),
            "kernel" => kernel = value.word()? == "true",
            "inlined" => inlined = value.word()? == "true",
            _ => value.skip()?,
        }
        Ok(())
    })?;
    frame.stated = [addr, offset, svma, elsewhere];
    if build_id != 0 {
        build_ids.insert(frame.module, build_id);
    }
    if !inlined {
        frames.push((frame, kernel));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_contract() {
        let line = r#"{"time_ns":5,"pid":1,"tid":2,"comm":"ab","cpu":3,"event":"cycles","period":9,"end":"root","frames":[{"addr":"0xffffffff81000000","kernel":true},{"addr":"0x5010","module":"/a","svma":"0x1010","offset":"0x10","function":"f","inlined":true,"found_by":"sampled","kernel":false},{"addr":"0x5010","module":"/a","svma":"0x1010","offset":"0x10","function":"g","function_offset":4,"inlined":false,"found_by":"sampled","kernel":false}]}"#;
        let mut words = StringTable::new();
        let chains = read(line.as_bytes(), &mut words).unwrap();
        let sample = chains.samples[0];
        assert_eq!(
            (sample.time, sample.tid, sample.cpu, sample.n_kernel, sample.n_user),
            (5, 2, 3, 1, 1)
        );
        assert_eq!(words.text(sample.end), "root");
        let frame = chains.user(&sample)[0];
        assert_eq!(frame.stated, [0x5010, 0x10, 0x1010, UNSTATED]);
        assert_eq!((words.text(frame.symbol), words.text(frame.found_by)), ("g", "sampled"));
    }
}

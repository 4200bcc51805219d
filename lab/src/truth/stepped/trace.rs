//! Runs the helper and reads its records.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

use crate::compared;

/// Source of the helper.
const SOURCE: &str = include_str!("stepper.c");

/// State before an instruction runs.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::truth) struct Step {
    /// Address of the instruction.
    pub(in crate::truth) pc: u64,
    /// Stack pointer.
    pub(in crate::truth) sp: u64,
    /// Its bytes and those after it.
    pub(in crate::truth) code: [u8; 16],
}

/// A drawn instruction before it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop {
    /// rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, rip, eflags, r8 to r15.
    pub(crate) registers: [u64; 18],
    /// Stack from the stack pointer upwards.
    pub(crate) stack: Vec<u8>,
}

impl Stop {
    /// Address of the instruction.
    pub(crate) const fn pc(&self) -> u64 {
        self.registers[8]
    }
}

/// Record of the helper.
pub(in crate::truth) enum Event {
    /// The text of `/proc/PID/maps`.
    Maps(String),
    Step(Step),
    Stop(Stop),
    /// A signal is delivered before the next instruction.
    Signal(u32),
    /// Number of executed instructions.
    End(u64),
}

/// Choice of the instructions that are run and drawn.
#[derive(Clone, Debug)]
pub(in crate::truth) struct Draw {
    /// True to report each instruction.
    pub(in crate::truth) flow: bool,
    /// Instructions before the first drawn one, or milliseconds (`300ms`).
    pub(in crate::truth) skip: String,
    /// Number of instructions to draw from.
    pub(in crate::truth) count: u64,
    /// Average number of instructions per drawn one.
    pub(in crate::truth) mean: u64,
    /// Seed; the same seed draws the same instructions.
    pub(in crate::truth) seed: u64,
}

/// The compiled helper.
pub(in crate::truth) struct Stepper(PathBuf);

impl Stepper {
    /// Compiles it into a folder.
    pub(in crate::truth) fn compile(folder: &Path) -> Result<Self> {
        let (source, program) = (folder.join("stepper.c"), folder.join("stepper"));
        std::fs::write(&source, SOURCE)?;
        let mut compiler = command::words("cc -O2 -o");
        command::output(compiler.arg(&program).arg(&source))?;
        Ok(Self(program))
    }

    /// Runs a program and calls `on` with each record.
    pub(in crate::truth) fn run(
        &self,
        draw: &Draw,
        program: &[String],
        mut on: impl FnMut(Event) -> Result<()>,
    ) -> Result<()> {
        let mut helper = Command::new(&self.0);
        helper.arg(if draw.flow { "1" } else { "0" }).arg(&draw.skip);
        helper.args([draw.count, draw.mean, draw.seed].map(|number| number.to_string()));
        compared::read_output(helper.args(program), &[0], |mut output| {
            while let Some(event) = event(&mut output)? {
                on(event)?;
            }
            Ok(())
        })
    }
}

/// Returns the next record, or `None` at the end.
fn event(input: &mut impl BufRead) -> Result<Option<Event>> {
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let [kind] = bytes::<1>(input)?;
    Ok(Some(match kind {
        b'M' => {
            let text = counted(input)?;
            Event::Maps(String::from_utf8(text).context("names of mappings")?)
        }
        b'F' => Event::Step(Step { pc: word(input)?, sp: word(input)?, code: bytes(input)? }),
        b'S' => {
            let mut registers = [0; 18];
            for register in &mut registers {
                *register = word(input)?;
            }
            Event::Stop(Stop { registers, stack: counted(input)? })
        }
        b'G' => Event::Signal(u32::from_le_bytes(bytes(input)?)),
        b'E' => Event::End(word(input)?),
        other => bail!("a record of kind {other}"),
    }))
}

fn bytes<const N: usize>(input: &mut impl Read) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn word(input: &mut impl Read) -> Result<u64> {
    Ok(u64::from_le_bytes(bytes(input)?))
}

fn counted(input: &mut impl Read) -> Result<Vec<u8>> {
    let length = u32::from_le_bytes(bytes(input)?);
    let mut found = Vec::new();
    input.take(length.into()).read_to_end(&mut found)?;
    if found.len() != length as usize {
        bail!("the helper ended in a record");
    }
    Ok(found)
}

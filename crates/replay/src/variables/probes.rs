//! Places of probes in a file: the code of a function, and its arguments in the notation of the kernel.

use std::fmt;

use address::Svma;
use budget::Budget;
use gimli::Reader;
use image_store::{ImageStore, LoadedImage};
use values::{
    Error, Functions, Instance, ProbeArgument, ProbeError, ProbePoint, ProbeRequest, Sources,
};

use super::debug_info::DebugInfo;
use super::frame_address::frame_address;
use super::probe_instruction::probed_instruction;

/// A place of a probe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbePlace {
    /// Offset of the instruction in the file, in bytes.
    pub offset: u64,
    /// Function that the probed one is inlined into; `None` for code of its own.
    pub inlined_into: Option<String>,
    /// Arguments of the probe.
    pub arguments: Vec<ProbeArgument>,
    /// Fields that have no value at this place, with the reasons.
    pub missing: Vec<(String, ProbeError)>,
}

/// The places of a probe in a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProbePlaces {
    /// At least one place.
    pub places: Vec<ProbePlace>,
    /// Number of further places whose instruction the kernel refuses.
    pub refused: usize,
}

/// The reason why a file has no place for a probe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoProbe {
    /// No such function; also the reason for all fields that do not fit it.
    Request(Error),
    /// The file has no debug information, only the symbol of the function.
    OnlySymbol,
    /// The kernel refuses the instruction.
    Instruction,
    /// No code of its own, so there is no return.
    OnlyInlined,
    /// Go moves stacks, and a probe of the return would end the program.
    GoReturn,
    /// Probes of this file's processor are not supported.
    Processor,
}

impl fmt::Display for NoProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request(error) => return write!(f, "{error}"),
            Self::OnlySymbol => {
                "there is no debug information about its arguments; omit them, or name registers with perf probe"
            }
            Self::Instruction => "the kernel cannot probe the instruction at the start of the function",
            Self::OnlyInlined => "all calls are inlined, so there is no return",
            Self::GoReturn => "a probe of a return ends programs of Go, whose stacks move",
            Self::Processor => "probes of this processor are not supported",
        })
    }
}

/// Finds the places of a probe in a file: each instance of the function, or the address of its symbol.
///
/// # Errors
/// The reason why there is none.
pub fn find_probes(
    image: &LoadedImage,
    images: &ImageStore,
    request: &ProbeRequest,
) -> Result<ProbePlaces, NoProbe> {
    let arch = image.image().arch();
    if arch.and_then(|arch| ProbePoint::entry(arch, 0)).is_none() {
        return Err(NoProbe::Processor);
    }
    let by_name = DebugInfo::load(image, images).map(|debug| {
        debug.with_sources(&Budget::default(), |sources| {
            let functions = Functions::find(sources, &[&request.function])?;
            Ok(Search { image, images, request, sources }.places(functions.instances(0)?))
        })
    });
    let error = match by_name {
        Some(Ok(found)) => return found,
        Some(Err(error)) => error,
        None => Error::UnknownFunction { name: request.function.clone(), similar: Vec::new() },
    };
    if !matches!(error, Error::UnknownFunction { .. }) {
        return Err(NoProbe::Request(error));
    }
    let Some(offset) = symbol(image, images, &request.function) else {
        return Err(NoProbe::Request(error));
    };
    if !request.fields.is_empty() {
        return Err(NoProbe::OnlySymbol);
    }
    if request.is_return && image.image().section(".gopclntab").is_some() {
        return Err(NoProbe::GoReturn);
    }
    let (arguments, missing) = (Vec::new(), Vec::new());
    let place = ProbePlace { offset, inlined_into: None, arguments, missing };
    Ok(ProbePlaces { places: vec![place], refused: 0 })
}

/// Returns the offset of a function's symbol.
fn symbol(image: &LoadedImage, images: &ImageStore, name: &str) -> Option<u64> {
    let known = [Some(image.image()), image.debug(images).map(|it| &**it), image.mini(images)];
    let svma = known.into_iter().flatten().find_map(|it| it.function_address(name.as_bytes()))?;
    offset(image, svma.0)
}

/// Returns the offset of an instruction in the file.
fn offset(image: &LoadedImage, svma: u64) -> Option<u64> {
    let svma = Svma(svma);
    let holds = |it: &image_store::Segment| it.executable && svma.since(it.svma) < it.file_size;
    let is_code = image.image().segments().iter().any(holds);
    image.image().offset_of_svma(svma).filter(|_| is_code).map(|it| it.0)
}

/// The reason why an instance has no place.
enum NoPlace {
    Instruction,
    Request(Error),
}

impl From<Error> for NoPlace {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

struct Search<'s, 'a, R: Reader<Offset = usize>> {
    image: &'s LoadedImage,
    images: &'s ImageStore,
    request: &'s ProbeRequest,
    sources: &'s Sources<'a, R>,
}

impl<R: Reader<Offset = usize>> Search<'_, '_, R> {
    fn places(&self, instances: &[Instance]) -> Result<ProbePlaces, NoProbe> {
        let (mut places, mut refused) = (Vec::<ProbePlace>::new(), 0);
        let (mut mismatch, mut is_go) = (None, false);
        for instance in instances {
            let is_inlined = instance.inlined_into().is_some();
            let found = match self.request.is_return {
                true if is_inlined => continue,
                true if instance.is_go() => {
                    is_go = true;
                    continue;
                }
                true => self.at_return(instance),
                false => self.at_start(instance),
            };
            match found {
                // Several units can describe one instance.
                Ok(Some(place)) if places.iter().any(|it| it.offset == place.offset) => {}
                Ok(Some(place)) => places.push(place),
                Ok(None) => {}
                Err(NoPlace::Instruction) => refused += 1,
                Err(NoPlace::Request(error)) => mismatch = Some(error),
            }
        }
        match mismatch {
            Some(error) if places.is_empty() => Err(NoProbe::Request(error)),
            _ if places.is_empty() && is_go => Err(NoProbe::GoReturn),
            _ if places.is_empty() && refused > 0 => Err(NoProbe::Instruction),
            _ if places.is_empty() => Err(NoProbe::OnlyInlined),
            _ => Ok(ProbePlaces { places, refused }),
        }
    }

    fn at_return(&self, instance: &Instance) -> Result<Option<ProbePlace>, NoPlace> {
        let Some((address, true)) = instance.probe_address(&[]) else { return Ok(None) };
        let Some(offset) = self.start(address)? else { return Ok(None) };
        let arguments = instance.probe_result(self.sources)?;
        Ok(Some(ProbePlace { offset, inlined_into: None, arguments, missing: Vec::new() }))
    }

    fn at_start(&self, instance: &Instance) -> Result<Option<ProbePlace>, NoPlace> {
        let fields = &self.request.fields;
        let Some((address, is_entry)) = instance.probe_address(fields) else { return Ok(None) };
        let Some(offset) = self.start(address)? else { return Ok(None) };
        let Some(point) = self.point(address, is_entry) else { return Ok(None) };
        let found = instance.probe_arguments(self.sources, &point, fields);
        let inlined_into = instance.inlined_into().map(str::to_owned);
        let (arguments, missing) = (Vec::new(), Vec::new());
        let mut place = ProbePlace { offset, inlined_into, arguments, missing };
        for (field, found) in fields.iter().zip(found) {
            match found {
                Ok(arguments) => place.arguments.extend(arguments),
                Err(ProbeError::Path(error)) => return Err(error.into()),
                Err(error) => place.missing.push((field.name(), error)),
            }
        }
        Ok(Some(place))
    }

    /// Returns the offset of an instruction, unless it is part of another instance that has a place of its own.
    fn start(&self, address: u64) -> Result<Option<u64>, NoPlace> {
        if self.image.is_part(Svma(address), self.images) {
            return Ok(None);
        }
        let probed = probed_instruction(self.image.image(), address);
        Ok(offset(self.image, probed.ok_or(NoPlace::Instruction)?))
    }

    fn point(&self, address: u64, is_entry: bool) -> Option<ProbePoint> {
        let image = self.image.image();
        let entry = ProbePoint::entry(image.arch()?, address)?;
        if is_entry {
            return Some(entry);
        }
        // A register that no code has refuses arguments of the frame.
        let cfa = frame_address(image, address).unwrap_or((u16::MAX, 0));
        Some(ProbePoint { cfa, is_entry: false, ..entry })
    }
}

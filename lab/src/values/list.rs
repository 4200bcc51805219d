//! `cargo lab values FILE FUNCTION...`: the parameters and locals of functions, and the arguments of probes.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use ::values::{Functions, Instance, Path as ValuePath, ProbeField, ProbePoint, Sources};
use address::Arch;
use anyhow::Result;
use budget::{Budget, Meter};

use super::image::{Image, Slice};

/// Lists the functions of a file.
pub(super) fn run(file: &Path, names: &[String]) -> Result<ExitCode> {
    let image = Image::read(file)?;
    let opened = image.open()?;
    let meter = Meter::new(&Budget::default(), opened.size);
    let start = Instant::now();
    let sources = Sources::new(&opened.dwarf, &opened.split, &meter)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let functions = Functions::find(&sources, &names)?;
    let (took, used) = (start.elapsed(), meter.used());
    println!(
        "{} bytes of debug information in {took:.1?}; {} steps, {} bytes held; {} damaged units",
        opened.size,
        used.0,
        used.1,
        functions.damaged_units()
    );
    for index in 0..names.len() {
        match functions.instances(index) {
            Ok(instances) => {
                for instance in instances {
                    list(instance, &sources)?;
                }
            }
            Err(error) => println!("{error}"),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(instance: &Instance, sources: &Sources<'_, Slice<'_>>) -> Result<()> {
    let ranges: Vec<_> =
        instance.ranges().iter().map(|it| format!("{:#x}..{:#x}", it.start, it.end)).collect();
    let inlined =
        instance.inlined_into().map_or_else(String::new, |it| format!(", inlined into {it}"));
    println!("\n{} {}{inlined}", instance.name(), ranges.join(" "));
    let entry = instance.ranges().first().and_then(|it| ProbePoint::entry(Arch::X86_64, it.start));
    for row in instance.listing(sources)? {
        let kind = if row.is_parameter { "parameter" } else { "local" };
        let (name, type_name, location) = (&row.name, &row.type_name, &row.location);
        let share = 100 * row.available_bytes / row.bytes.max(1);
        let mut probe = String::new();
        if let (true, Some(point), Ok(path)) = (row.is_parameter, entry, ValuePath::parse(name)) {
            let field = ProbeField { chosen: None, path };
            for found in instance.probe_arguments(sources, &point, &[field]) {
                match found {
                    Ok(arguments) => {
                        arguments.iter().for_each(|it| probe.push_str(&format!("; {it}")));
                    }
                    Err(error) => probe.push_str(&format!("; no probe: {error}")),
                }
            }
        }
        println!("  {kind} {type_name} {name}: {share} %: {location}{probe}");
    }
    Ok(())
}

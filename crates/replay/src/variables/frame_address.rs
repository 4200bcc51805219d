//! Frame address (CFA) of an instruction by call frame information, for probes.

use std::borrow::Cow;

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EndianSlice, RunTimeEndian, UnwindContext,
    UnwindSection,
};
use image_store::Image;

/// Returns the frame address at an instruction: a register by its DWARF number, and an offset in bytes.
pub(super) fn frame_address(image: &Image, svma: u64) -> Option<(u16, i64)> {
    let endian = if image.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let load = |name: &str| -> Option<(u64, Cow<'_, [u8]>)> {
        let section = image.section(name)?;
        Some((section.svma.0, image.section_data(section).ok()?))
    };
    let mut bases = BaseAddresses::default();
    for (name, set) in [
        (".text", BaseAddresses::set_text as fn(BaseAddresses, u64) -> BaseAddresses),
        (".got", BaseAddresses::set_got),
    ] {
        if let Some(section) = image.section(name) {
            bases = set(bases, section.svma.0);
        }
    }
    let of_eh = load(".eh_frame").and_then(|(at, data)| {
        let bases = bases.clone().set_eh_frame(at);
        let mut section = EhFrame::from(EndianSlice::new(&data, endian));
        section.set_address_size(8);
        rule(&section, &bases, svma)
    });
    of_eh.or_else(|| {
        let (_, data) = load(".debug_frame")?;
        let mut section = DebugFrame::from(EndianSlice::new(&data, endian));
        section.set_address_size(8);
        rule(&section, &bases, svma)
    })
}

fn rule<'d, S>(section: &S, bases: &BaseAddresses, svma: u64) -> Option<(u16, i64)>
where
    S: UnwindSection<EndianSlice<'d, RunTimeEndian>>,
{
    let fde = section.fde_for_address(bases, svma, S::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = fde.unwind_info_for_address(section, bases, &mut context, svma).ok()?;
    match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => Some((register.0, *offset)),
        CfaRule::Expression(_) => None,
    }
}

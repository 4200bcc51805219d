//! Relocation of JIT call frame information to its address in the image. Its pointers are relative to
//! the address that `perf inject` would have used.

use address::Svma;
use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection as _};

/// Relocated call frame information.
pub(crate) struct CodeFrames {
    /// Bytes, without terminator.
    pub(crate) bytes: Vec<u8>,
    /// First covered address and offset of each FDE.
    pub(crate) descriptions: Vec<(Svma, u64)>,
}

/// Relocates `data`, without its `header` bytes of `.eh_frame_hdr`, from the address after its code
/// of `len` bytes to `to`. The code is at `location`.
///
/// ```text
///   as written:  | code | padding to 8 | .eh_frame | .eh_frame_hdr |
/// ```
///
/// Source: `jit_write_elf` in `tools/perf/util/genelf.c`.
pub(crate) fn relocated(
    data: &[u8],
    header: usize,
    len: u64,
    location: Svma,
    to: Svma,
) -> Option<CodeFrames> {
    let end = data.len().checked_sub(header)?;
    // A header starts with its version; a CIE or FDE starts with its length, which is larger.
    let first = data.first() == Some(&1) && header >= 4 && data.get(end) != Some(&1);
    let frames = if first { data.get(header..)? } else { data.get(..end)? };
    let written_at = len.checked_next_multiple_of(8)?;
    let mut bytes = frames.to_vec();
    normalize(&mut bytes);
    let frames = bytes.clone();
    let section = EhFrame::new(&frames, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(written_at).set_text(0);
    let mut used = 0;
    let mut descriptions = Vec::new();
    let mut entries = section.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let fde = match entry {
            CieOrFde::Cie(cie) => {
                used = used.max(cie.offset() + 4 + cie.entry_len());
                continue;
            }
            CieOrFde::Fde(partial) => partial.parse(EhFrame::cie_from_offset).ok()?,
        };
        let offset = fde.offset();
        used = used.max(offset + 4 + fde.entry_len());
        // Writers that assume another layout still describe the whole code.
        let within = if fde.initial_address() < len { fde.initial_address() } else { 0 };
        let start = location.add(within);
        let encoding = pointer_encoding(frames.get(fde.cie().offset() + 8..)?)?;
        let field = offset + 8;
        write_pointer(&mut bytes, field, encoding, start, to.add(field as u64))?;
        descriptions.push((start, offset as u64));
    }
    bytes.truncate(used);
    bytes.resize(used.next_multiple_of(4), 0);
    (!descriptions.is_empty()).then_some(CodeFrames { bytes, descriptions })
}

/// Rewrites CIEs in a form that all readers support. V8 uses version 3, which is only for `.debug_frame`; it differs
/// from version 1 in the size of return address registers above 127. V8 also states an omitted encoding of
/// language-specific data.
fn normalize(bytes: &mut [u8]) {
    let mut at = 0_usize;
    while let Some(head) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let [a, b, c, d, id @ ..] = *head;
        let len = u32::from_le_bytes([a, b, c, d]);
        let Some(next) = at.checked_add(4).and_then(|at| at.checked_add(len as usize)) else {
            break;
        };
        if len == 0 || len == u32::MAX {
            break;
        }
        if let Some(cie) = bytes.get_mut(at + 8..next).filter(|_| id == [0; 4]) {
            if let Some(plain) = without_omitted(cie) {
                cie.get_mut(..plain.len())
                    .into_iter()
                    .for_each(|head| head.copy_from_slice(&plain));
            }
            cie.iter_mut()
                .take(1)
                .filter(|version| **version == 3)
                .for_each(|version| *version = 1);
        }
        at = next;
    }
}

/// Returns the head of a CIE, with the same length, without the letter `L` if the encoding for it is "omitted".
fn without_omitted(cie: &[u8]) -> Option<Vec<u8>> {
    const OMITTED: u8 = 0xff;
    let end = cie.iter().position(|&byte| byte == 0)?;
    let letters = cie.get(1..end).filter(|letters| letters.starts_with(b"zL"))?;
    let mut rest = cie.get(end + 1..)?;
    let numbers = rest;
    let mut n_numbers = 0;
    for _ in 0..3 {
        let len = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
        rest = rest.get(len..)?;
        n_numbers += len;
    }
    let (&data_len, data) = rest.split_first()?;
    let data = data.get(..usize::from(data_len)).filter(|data| data.first() == Some(&OMITTED))?;
    let mut plain = vec![*cie.first()?, b'z'];
    plain.extend(letters.get(2..)?);
    plain.push(0);
    plain.extend(numbers.get(..n_numbers)?);
    plain.push(data_len + 1);
    plain.extend(data.get(1..)?);
    plain.extend([0; 2]);
    Some(plain)
}

/// Writes an address in an encoding at `field`, which will have the address `at`.
fn write_pointer(
    bytes: &mut [u8],
    field: usize,
    encoding: gimli::DwEhPe,
    value: Svma,
    at: Svma,
) -> Option<()> {
    let value = match encoding.application() {
        gimli::DW_EH_PE_pcrel => value.0.wrapping_sub(at.0),
        gimli::DW_EH_PE_absptr => value.0,
        _ => return None,
    };
    let size = match encoding.format() {
        gimli::DW_EH_PE_absptr | gimli::DW_EH_PE_udata8 | gimli::DW_EH_PE_sdata8 => 8,
        gimli::DW_EH_PE_udata4 | gimli::DW_EH_PE_sdata4 => 4,
        _ => return None,
    };
    bytes.get_mut(field..field + size)?.copy_from_slice(value.to_le_bytes().get(..size)?);
    Some(())
}

/// Returns the encoding of addresses in the FDEs of a CIE; `cie` starts at its version.
///
/// Source: LSB, "The Common Information Entry Format".
fn pointer_encoding(cie: &[u8]) -> Option<gimli::DwEhPe> {
    let (&version, rest) = cie.split_first()?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    let (letters, mut rest) = (rest.get(..end)?, rest.get(end + 1..)?);
    if !letters.contains(&b'R') {
        return Some(gimli::DW_EH_PE_absptr);
    }
    let skip_leb = |rest: &mut &[u8]| {
        let len = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
        *rest = rest.get(len..)?;
        Some(())
    };
    skip_leb(&mut rest)?;
    skip_leb(&mut rest)?;
    if version == 1 {
        rest = rest.get(1..)?
    } else {
        skip_leb(&mut rest)?
    }
    for letter in letters {
        match letter {
            b'z' => skip_leb(&mut rest)?,
            b'R' => return rest.first().map(|&byte| gimli::DwEhPe(byte)),
            b'L' => rest = rest.get(1..)?,
            b'S' | b'B' => {}
            // JIT code has no personality routine.
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of V8 after 676 bytes of code: a CIE, an FDE, a terminator, and the header.
    const V8: &str = "1800000000000000037a4c520001781002ff1b0c0708900100000000\
                      200000002000000034fdffffa4020000004f0e108602430d0602550d07410e08520c0610\
                      00000000011b033bb8ffffff0100000014fdffffd8ffffff";

    #[test]
    fn pointers_follow_the_code() {
        let data: Vec<u8> = (0..V8.len() / 2)
            .map(|at| u8::from_str_radix(&V8[2 * at..2 * at + 2], 16).expect("hexadecimal"))
            .collect();
        let (location, to) = (Svma(0x4000), Svma(0x6000_0000));
        let frames = relocated(&data, 20, 676, location, to).expect("sound frames");
        assert_eq!(frames.descriptions, [(location, 28)]);
        assert_eq!(frames.bytes.len(), 64);
        let section = EhFrame::new(&frames.bytes, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(to.0);
        let fde =
            section.fde_for_address(&bases, 0x4010, EhFrame::cie_from_offset).expect("covered");
        assert_eq!((fde.initial_address(), fde.len()), (0x4000, 676));
        assert!(relocated(&data[..30], 20, 676, location, to).is_none());
    }
}

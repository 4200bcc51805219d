//! Zip archives with a stored file, as in Android packages from which libraries are mapped.

/// Returns a zip archive with one stored entry, page aligned, and the offset of the entry's bytes.
///
/// Source: APPNOTE.TXT, 4.3.7 local file header, 4.3.12 central directory, 4.3.16 its end record.
#[must_use]
pub fn stored_zip(name: &[u8], content: &[u8]) -> (Vec<u8>, u64) {
    let extra = 0x1000 - 30 - name.len();
    let common = |zip: &mut Vec<u8>, extra: usize| {
        zip.extend([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // version, flags, method, time, date
        zip.extend([0; 4]); // CRC, which readers ignore
        zip.extend((content.len() as u32).to_le_bytes());
        zip.extend((content.len() as u32).to_le_bytes());
        zip.extend((name.len() as u16).to_le_bytes());
        zip.extend((extra as u16).to_le_bytes());
    };
    let mut zip = b"PK\x03\x04".to_vec();
    common(&mut zip, extra);
    zip.extend(name);
    zip.resize(0x1000, 0);
    zip.extend(content);
    let directory = zip.len() as u32;
    zip.extend(b"PK\x01\x02\x14\0");
    common(&mut zip, 0);
    zip.extend([0; 14]); // comment, disk, attributes, offset of the local header
    zip.extend(name);
    let size = zip.len() as u32 - directory;
    zip.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    zip.extend(size.to_le_bytes());
    zip.extend(directory.to_le_bytes());
    zip.extend([0; 2]);
    (zip, 0x1000)
}

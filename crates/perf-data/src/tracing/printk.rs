//! Constant texts of the kernel by their addresses, which events record in place of the text.
//!
//! ```text
//!   0xffffffff82345678 : "Start context switch"
//! ```
//!
//! Source: `kernel/trace/trace_printk.c`, `t_show`.

/// Lines of the file `printk_formats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PrintkTexts<'d>(pub(crate) &'d [u8]);

impl<'d> PrintkTexts<'d> {
    /// Returns the texts with their addresses, without the newline that ends some.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u64, &'d [u8])> {
        self.0.split(|&byte| byte == b'\n').filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let digits = line.get(..colon)?.trim_ascii().strip_prefix(b"0x")?;
            let address = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            let text = line.get(colon + 1..)?.trim_ascii();
            let text = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""))?;
            Some((address, text.strip_suffix(b"\\n").unwrap_or(text)))
        })
    }
}

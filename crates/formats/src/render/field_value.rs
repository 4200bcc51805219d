//! Values of fields as text.

use profile::{FieldValue, Profile};

use crate::render::escaped::Escaped;
use crate::render::text::push_number;

/// Appends a value: a number, a text in quotation marks, or a JSON array of numbers.
pub(crate) fn push_value(
    out: &mut Vec<u8>,
    value: FieldValue,
    profile: &Profile,
    strings: &Escaped<'_>,
) {
    match value {
        FieldValue::Signed(number) => push_number(out, number),
        FieldValue::Unsigned(number) => push_number(out, number),
        FieldValue::List(list) => out.extend_from_slice(profile.strings.get(list)),
        FieldValue::Text(text) => {
            out.push(b'"');
            out.extend_from_slice(strings.get(text));
            out.push(b'"');
        }
    }
}

//! The shape of a JSON text, determined without parsing it into values.

/// A JSON text is nested deeper than its reader allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("JSON that is nested deeper than {limit}")]
pub struct TooDeep {
    /// Maximum depth.
    pub limit: usize,
}

/// Size of the result that a parser can make of a JSON text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonShape {
    /// Upper bound of the number of values and keys.
    pub values: u64,
    /// Depth of the nesting.
    pub depth: usize,
}

impl JsonShape {
    /// Returns the shape of a text. Text that is not JSON has a shape, too: the parser reports the error.
    ///
    /// Source: RFC 8259, sections 2 and 7.
    ///
    /// # Errors
    /// [`TooDeep`] if it is nested deeper than `limit`.
    pub fn of(text: &[u8], limit: usize) -> Result<Self, TooDeep> {
        let (mut values, mut depth, mut deepest) = (1_u64, 0_usize, 0_usize);
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => skip_string(&mut bytes),
                b',' | b':' => values += 1,
                b'[' | b'{' => {
                    (values, depth) = (values + 1, depth + 1);
                    deepest = deepest.max(depth);
                    if depth > limit {
                        return Err(TooDeep { limit });
                    }
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        Ok(Self { values, depth: deepest })
    }
}

/// Skips the rest of a string and its closing quotation mark.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_depth_are_counted_outside_of_strings() {
        let shape = |text: &str| JsonShape::of(text.as_bytes(), 4).map(|it| (it.values, it.depth));
        assert_eq!(shape("7"), Ok((1, 0)));
        assert_eq!(shape("[]"), Ok((2, 1)));
        assert_eq!(shape(r#"{"a":{"b":[1,2,3]}}"#), Ok((8, 3)));
        assert_eq!(shape(r#"["[[[[[,\"[[[[","\\",7]"#), Ok((4, 1)));
        assert_eq!(shape("[[[[]]]]"), Ok((5, 4)));
        assert_eq!(shape("[[[[["), Err(TooDeep { limit: 4 }));
        assert_eq!(shape("]]]\"[["), Ok((1, 0)));
    }
}

//! Encoder for the parts of the protocol buffer wire format that a profile needs: varints, byte strings, packed lists
//! and nested messages. Fields of value 0 are omitted, as in proto3.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding/>.

/// Wire type of varints.
const VARINT: u32 = 0;
/// Wire type of 8-byte numbers.
const FIXED64: u32 = 1;
/// Wire type of length-prefixed values.
const LENGTH: u32 = 2;

/// Encoded fields of a message.
#[derive(Debug, Default)]
pub(crate) struct ProtoMessage {
    bytes: Vec<u8>,
}

impl ProtoMessage {
    /// The encoded fields so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Removes the fields and retains the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Appends a number if it is not 0; a negative one is its two's complement in 64 bits.
    pub(crate) fn number(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.present(field, value);
        }
    }

    /// Appends a number even if it is 0, for a member of a `oneof`.
    pub(crate) fn present(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field << 3 | VARINT));
        self.varint(value);
    }

    /// Appends an 8-byte number if it is not 0.
    pub(crate) fn fixed64(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.varint(u64::from(field << 3 | FIXED64));
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Appends a byte string, even if it is empty: list elements must retain their positions.
    pub(crate) fn string(&mut self, field: u32, value: &[u8]) {
        self.varint(u64::from(field << 3 | LENGTH));
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// Appends a nested message.
    pub(crate) fn message(&mut self, field: u32, value: &Self) {
        self.string(field, &value.bytes);
    }

    /// Appends a packed list of varints.
    pub(crate) fn packed(&mut self, field: u32, values: impl Iterator<Item = u64> + Clone) {
        let length: usize = values.clone().map(varint_len).sum();
        if length > 0 {
            self.varint(u64::from(field << 3 | LENGTH));
            self.varint(length as u64);
            values.for_each(|value| self.varint(value));
        }
    }

    /// Appends a packed list of 8-byte numbers.
    pub(crate) fn packed_fixed64(&mut self, field: u32, values: &[u64]) {
        if !values.is_empty() {
            self.varint(u64::from(field << 3 | LENGTH));
            self.varint(size_of_val(values) as u64);
            self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// Returns the length of a varint in bytes: one for each 7 bits, at least 1.
const fn varint_len(value: u64) -> usize {
    (63 - (value | 1).leading_zeros() as usize) / 7 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_as_the_specification_shows() {
        let mut inner = ProtoMessage::default();
        inner.number(1, 150);
        assert_eq!(inner.bytes(), [0x08, 0x96, 0x01]);
        let mut outer = ProtoMessage::default();
        outer.message(3, &inner);
        outer.string(2, b"testing");
        outer.packed(6, [3, 270, 86_942].into_iter());
        outer.number(4, 0);
        outer.packed(5, [].into_iter());
        let expected =
            b"\x1a\x03\x08\x96\x01\x12\x07testing\x32\x06\x03\x8e\x02\x9e\xa7\x05".as_slice();
        assert_eq!(outer.bytes(), expected);
    }

    #[test]
    fn numbers_of_eight_bytes_and_zeros() {
        let mut message = ProtoMessage::default();
        message.fixed64(3, 0);
        message.fixed64(3, 258);
        message.packed_fixed64(5, &[]);
        message.packed_fixed64(5, &[1]);
        message.present(3, 0);
        let expected = b"\x19\x02\x01\0\0\0\0\0\0\x2a\x08\x01\0\0\0\0\0\0\0\x18\0";
        assert_eq!(message.bytes(), expected.as_slice());
    }

    #[test]
    fn lengths_of_varints() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 1 << 62, 1 << 63, u64::MAX] {
            let mut message = ProtoMessage::default();
            message.varint(value);
            assert_eq!(message.bytes.len(), varint_len(value), "{value}");
        }
    }
}

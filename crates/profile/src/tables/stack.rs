//! The prefix tree of stacks: stacks with equal outer frames share the nodes of these.

use std::hash::{Hash, Hasher};

use crate::encoding::encoding;
use crate::id::{FrameId, StackId};

/// A node of the prefix tree of stacks: a frame and the frame that called it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackRow {
    /// The caller's node, which precedes this one; `None` for the outermost frame.
    pub parent: Option<StackId>,
    /// The frame.
    pub frame: FrameId,
}

encoding! { StackRow { parent: Option<StackId>, frame: FrameId, } }

impl Hash for StackRow {
    /// Hashes the row as one word: a million nodes are hashed for each new one.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let parent = self.parent.map_or(0, StackId::to_bits);
        state.write_u64(u64::from(parent) << 32 | u64::from(self.frame.to_bits()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records the hashed words.
    #[derive(Default)]
    struct HashedWords(Vec<u64>);

    impl Hasher for HashedWords {
        fn finish(&self) -> u64 {
            0
        }

        fn write(&mut self, bytes: &[u8]) {
            panic!("{} bytes that are no word", bytes.len());
        }

        fn write_u64(&mut self, word: u64) {
            self.0.push(word);
        }
    }

    #[test]
    fn a_node_is_hashed_as_one_word() {
        let mut written = HashedWords::default();
        let frame = FrameId::new(4);
        StackRow { parent: None, frame }.hash(&mut written);
        StackRow { parent: Some(StackId::new(0)), frame }.hash(&mut written);
        assert_eq!(written.0, [5, 1 << 32 | 5]);
        assert_eq!(size_of::<StackRow>(), 8);
    }
}

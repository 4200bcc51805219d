//! Tests: programs of the exception tables as `readelf -u` prints them, frames by instructions, and arbitrary bytes.

use crate::cfi::arm::code;
use crate::cfi::arm::layout::FrameLayout;
use crate::cfi::arm::program::{ProgramError, run};

fn layout(base: u8, size: i64, saved: &[(u8, i64)]) -> FrameLayout {
    FrameLayout { base, size, saved: saved.to_vec() }
}

#[test]
fn programs_have_frames() {
    let is = |program: &[u8], expected: FrameLayout| assert_eq!(run(program), Ok(expected));
    // finish
    is(&[0xb0, 0xb0, 0xb0], layout(13, 0, &[]));
    // vsp = vsp + 32; pop {r4, r14}; finish
    is(&[0x07, 0xa8, 0xb0], layout(13, 40, &[(4, -8), (14, -4)]));
    // pop {r4, r7, r8, r14}; finish
    is(&[0x84, 0x19, 0xb0], layout(13, 16, &[(4, -16), (7, -12), (8, -8), (14, -4)]));
    // vsp = r7; pop {r3}; pop {r4, r7, r14}; finish
    let saved = [(3, -16), (4, -12), (7, -8), (14, -4)];
    is(&[0x97, 0xb1, 0x08, 0x84, 0x09, 0xb0], layout(7, 16, &saved));
    // vsp = r11; vsp = vsp - 4; pop {r11, r14}; no finish
    is(&[0x9b, 0x40, 0x84, 0x80], layout(11, 4, &[(11, -8), (14, -4)]));
    // vsp = vsp + 2052 (0x204 + 4 * 384); pop {r4 to r8}
    is(&[0xb2, 0x80, 0x03, 0xa4], {
        let saved = [(4, -20), (5, -16), (6, -12), (7, -8), (8, -4)];
        layout(13, 2052 + 20, &saved)
    });
    // pop {d8}; pop {d8, d9} with a word; pop {r14}
    is(&[0xd0, 0xb9, 0x84, 0x00], layout(13, 8 + 20 + 4, &[(14, -4)]));
    // pop {r0 to r3}; pop {r4 to r15}: a whole signal frame
    let all: Vec<_> = (0..16).map(|register| (register, 4 * i64::from(register) - 64)).collect();
    is(&[0xb1, 0x0f, 0x8f, 0xff], layout(13, 64, &all));
}

#[test]
fn other_programs_have_none() {
    let is = |program: &[u8], expected| assert_eq!(run(program), Err(expected), "{program:x?}");
    is(&[0x80, 0x00], ProgramError::Refused);
    is(&[0x9d], ProgramError::Bad); // vsp = sp
    is(&[0x9f], ProgramError::Bad); // vsp = pc
    is(&[0xa8, 0x97], ProgramError::Bad); // r7, after something was popped
    is(&[0x82, 0x00, 0x01], ProgramError::Bad); // continues on another stack
    is(&[0xb1, 0x00], ProgramError::Bad);
    is(&[0xb1, 0x10], ProgramError::Bad);
    is(&[0xb2, 0xff, 0xff, 0xff, 0xff, 0x0f], ProgramError::Bad);
    is(&[0xb7], ProgramError::Bad);
    is(&[0xc7, 0x10], ProgramError::Bad);
    is(&[0xca], ProgramError::Bad);
    is(&[0xe0], ProgramError::Bad);
    is(&[0x84], ProgramError::Bad); // truncated
}

/// `push {r4, lr}; mov r4, r0; sub sp, #32; str r0, [sp]; bl; add sp, #32; pop {r4, pc}` of Thumb.
#[test]
fn frames_by_the_instructions_of_thumb() {
    let halves = [0xb510, 0x4604, 0xb088, 0x9000, 0xf7ff, 0xffef, 0xb008, 0xbd10_u16];
    let code: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    let at = |at: usize| code::layout(&code, 0x1000, at);
    assert_eq!(at(0), Some(layout(13, 0, &[])));
    let saved = [(4, -8), (14, -4)];
    assert_eq!(at(2), Some(layout(13, 8, &saved)));
    assert_eq!(at(4), Some(layout(13, 8, &saved)));
    assert_eq!(at(6), Some(layout(13, 40, &saved)));
    assert_eq!(at(8), Some(layout(13, 40, &saved)));
    // From the address to the return.
    assert_eq!(at(12), Some(layout(13, 40, &saved)));
    assert_eq!(at(14), Some(layout(13, 8, &saved)));
}

/// `push {fp, lr}; add fp, sp, #4; sub sp, sp, r0; bl; sub sp, fp, #4; pop {fp, pc}` of ARM.
#[test]
fn frames_by_the_instructions_of_arm() {
    let words = [0xe92d_4800, 0xe28d_b004, 0xe04d_d000, 0xeb00_0010, 0xe24b_d004, 0xe8bd_8800_u32];
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let at = |at: usize| code::layout(&code, 0x1000, at);
    let saved = [(11, -8), (14, -4)];
    assert_eq!(at(0), Some(layout(13, 0, &[])));
    assert_eq!(at(4), Some(layout(13, 8, &saved)));
    assert_eq!(at(8), Some(layout(13, 8, &saved)));
    assert_eq!(at(12), Some(layout(11, 4, &saved)));
    assert_eq!(at(16), Some(layout(11, 4, &saved)));
    assert_eq!(at(20), Some(layout(13, 8, &saved)));
    assert_eq!(at(2), None);
}

/// A return address that a call has overwritten is not guessed; code that ends the function by a jump is followed.
#[test]
fn what_instructions_do_not_show() {
    let code = |halves: &[u16]| halves.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    let called = code(&[0xf7ff, 0xffef, 0x2000, 0xe7fb]); // bl; movs r0, #0; b back
    assert_eq!(code::layout(&called, 0x1002, 4), None);
    let tail = code(&[0xb510, 0xe8bd, 0x4010, 0xe7f0]); // push {r4, lr}; pop {r4, lr}; b to before
    assert_eq!(code::layout(&tail, 0x1002, 2), Some(layout(13, 8, &[(4, -8), (14, -4)])));
    assert_eq!(code::layout(&tail, 0x1002, 6), Some(layout(13, 0, &[])));
    // Two functions that share an entry: bx lr; then movs r0, #0; push {r4, lr}; bl; b back.
    let shared = code(&[0x4770, 0x2000, 0xb510, 0xf7ff, 0xffef, 0xe7fa]);
    assert_eq!(code::layout(&shared, 0x1002, 2), Some(layout(13, 0, &[])));
    assert_eq!(code::layout(&shared, 0x1002, 4), Some(layout(13, 0, &[])));
    let saved = [(4, -8), (14, -4)];
    assert_eq!(code::layout(&shared, 0x1002, 6), Some(layout(13, 8, &saved)));
    let conditional = code(&[0xbf08, 0x4770, 0x2000, 0xe7fb]); // it eq; bxeq lr; movs r0, #0; b back
    assert_eq!(code::layout(&conditional, 0x1002, 4), Some(layout(13, 0, &[])));
}

/// Arbitrary bytes cause no panic and no long run.
#[test]
fn anything_at_all() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    for round in 0..20_000_u64 {
        let bytes: Vec<u8> = (0..round % 64).map(|_| byte()).collect();
        if let Ok(found) = run(&bytes) {
            assert!(found.saved.len() <= 16);
        }
        for at in 0..bytes.len() {
            if let Some(found) = code::layout(&bytes, 0x1000 + round % 4, at) {
                assert!(found.saved.len() <= 16);
            }
        }
    }
}

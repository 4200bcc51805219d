//! Tests: encodings of GNU as, with the targets that objdump prints.

use crate::arch::flow::{Flow, FlowDecoder};
use crate::arch::{ARM, Arch, processor};

/// Decodes all of the code, which begins at an address.
fn flows(arch: Arch, start: u64, code: &[u8]) -> Vec<Flow> {
    let decoder = FlowDecoder::new(processor(arch).unwrap(), code, start).unwrap();
    decoder.with_table_of_contents(Some(0x8000)).map(|step| step.flow).collect()
}

fn words(arch: Arch, start: u64, words: &[u32]) -> Vec<Flow> {
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    flows(arch, start, &code)
}

fn halves(arch: Arch, start: u64, halves: &[u16]) -> Vec<Flow> {
    let code: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    flows(arch, start, &code)
}

use Flow::{
    Branch, Call, CallIndirect, CallSlot, Jump, JumpIndirect, JumpSlot, Next, Return, Stop,
};

#[test]
fn aarch64() {
    let of = |at: u64, word: u32| words(Arch::Aarch64, at, &[word])[0];
    assert_eq!(of(0x1000, 0x1400_0400), Jump(0x2000)); // b
    assert_eq!(of(0x1004, 0x17ff_ffff), Jump(0x1000));
    assert_eq!(of(0x1008, 0x9400_0002), Call(0x1010)); // bl
    assert_eq!(of(0x100c, 0x97ff_fff8), Call(0xfec));
    assert_eq!(of(0x1010, 0x5400_0080), Branch(0x1020)); // b.eq
    assert_eq!(of(0x1014, 0x54ff_ff81), Branch(0x1004)); // b.ne
    assert_eq!(of(0x1014, 0x54ff_ff8e), Jump(0x1004)); // b.al
    assert_eq!(of(0x1018, 0xb400_0100), Branch(0x1038)); // cbz x0
    assert_eq!(of(0x101c, 0x35ff_ff03), Branch(0xffc)); // cbnz w3
    assert_eq!(of(0x1020, 0xb640_0205), Branch(0x1060)); // tbz x5
    assert_eq!(of(0x1024, 0x371f_fe07), Branch(0xfe4)); // tbnz w7
    assert_eq!(of(0, 0xd61f_0200), JumpIndirect); // br x16
    assert_eq!(of(0, 0xd61f_081f), JumpIndirect); // braaz x0
    assert_eq!(of(0, 0xd63f_0100), CallIndirect); // blr x8
    assert_eq!(of(0, 0xd73f_0a11), CallIndirect); // blraa x16, x17
    for word in [0xd65f_03c0, 0xd65f_0120, 0xd65f_0bff, 0xd65f_0fff, 0x5500_001f] {
        assert_eq!(of(0, word), Return); // ret, ret x9, retaa, retab, retaasppc
    }
    assert_eq!(of(0, 0xd420_0020), Stop); // brk #1
    assert_eq!(of(0, 0), Stop); // udf #0
    for word in [0xd400_0001, 0xd503_201f, 0xa9be_7bfd] {
        assert_eq!(of(0, word), Next); // svc #0, nop, stp x29, x30, [sp, #-32]!
    }
}

#[test]
fn linkage_of_aarch64() {
    // adrp x16, +0x10 pages; ldr x17, [x16, #0xfb8]; add x16, x16, #0xfb8; br x17
    let entry = [0x9000_0090, 0xf947_de11, 0x913e_e210, 0xd61f_0220];
    assert_eq!(words(Arch::Aarch64, 0x1234, &entry)[3], JumpSlot(0x11fb8));
    // adrp x16, +0x10 pages; add x16, x16, #16; br x16
    let veneer = [0x9000_0090, 0x9100_4210, 0xd61f_0200];
    assert_eq!(words(Arch::Aarch64, 0x1234, &veneer)[2], Jump(0x11010));
    // ldr x16, .+8; br x16
    let veneer = [0x5800_0050, 0xd61f_0200];
    assert_eq!(words(Arch::Aarch64, 0x1000, &veneer)[1], JumpSlot(0x1008));
    // adrp x0, +0x10 pages; ldr x0, [x0, #0xfb8]; blr x0; br x0
    let call = [0x9000_0080, 0xf947_dc00, 0xd63f_0000, 0xd61f_0000];
    assert_eq!(words(Arch::Aarch64, 0x1234, &call)[2..], [CallSlot(0x11fb8), JumpIndirect]);
}

#[test]
fn riscv64() {
    let of = |at: u64, word: u32| words(Arch::Riscv64, at, &[word])[0];
    assert_eq!(of(0x1000, 0x1bc0_00ef), Call(0x11bc)); // jal ra
    assert_eq!(of(0x1004, 0xfe1f_f06f), Jump(0xfe4)); // j
    assert_eq!(of(0x1008, 0x0080_02ef), Call(0x1010)); // jal t0
    assert_eq!(of(0, 0x0007_80e7), CallIndirect); // jalr ra, 0(a5)
    assert_eq!(of(0, 0x000e_0067), JumpIndirect); // jr t3
    assert_eq!(of(0, 0x0000_8067), Return); // ret
    assert_eq!(of(0, 0x0002_8067), Return); // jr t0
    assert_eq!(of(0x101c, 0x00b5_0863), Branch(0x102c)); // beq
    assert_eq!(of(0x1020, 0xfeb5_68e3), Branch(0x1010)); // bltu
    assert_eq!(of(0, 0x0010_0073), Stop); // ebreak
    assert_eq!(of(0, 0x0000_0073), Next); // ecall
    assert_eq!(of(0, 0xc000_1073), Stop); // unimp
}

#[test]
fn short_instructions_of_riscv64() {
    let of = |at: u64, half: u16| halves(Arch::Riscv64, at, &[half])[0];
    assert_eq!(of(0x1058, 0xa201), Jump(0x1158)); // c.j
    assert_eq!(of(0x105a, 0xb501), Jump(0xe5a));
    assert_eq!(of(0x105c, 0xc121), Branch(0x109c)); // c.beqz a0
    assert_eq!(of(0x105e, 0xfddd), Branch(0x101c)); // c.bnez a1
    assert_eq!(of(0, 0x8782), JumpIndirect); // c.jr a5
    assert_eq!(of(0, 0x8082), Return); // c.jr ra
    assert_eq!(of(0, 0x9782), CallIndirect); // c.jalr a5
    assert_eq!(of(0, 0x9002), Stop); // c.ebreak
    assert_eq!(of(0, 0x0001), Next); // c.nop
    assert_eq!(of(0, 0x713d), Next); // c.addi16sp sp, -32
    assert_eq!(of(0, 0), Stop);
    // An instruction of more than four bytes
    assert_eq!(flows(Arch::Riscv64, 0, &[0x1f; 8]), [Stop]);
}

#[test]
fn linkage_of_riscv64() {
    // auipc t3, 2; ld t3, 16(t3); jalr t1, t3, 0
    let entry = [0x0000_2e17, 0x010e_3e03, 0x000e_0367];
    assert_eq!(words(Arch::Riscv64, 0x1030, &entry)[2], CallSlot(0x3040));
    // … jr t3
    let entry = [0x0000_2e17, 0x010e_3e03, 0x000e_0067];
    assert_eq!(words(Arch::Riscv64, 0x103c, &entry)[2], JumpSlot(0x304c));
    // auipc ra, 1; jalr ra, -4(ra)
    assert_eq!(words(Arch::Riscv64, 0x1048, &[0x0000_1097, 0xffc0_80e7])[1], Call(0x2044));
    // auipc t1, -1; jr 4(t1)
    assert_eq!(words(Arch::Riscv64, 0x1050, &[0xffff_f317, 0x0043_0067])[1], Jump(0x54));
}

#[test]
fn loongarch64() {
    let of = |at: u64, word: u32| words(Arch::Loongarch64, at, &[word])[0];
    assert_eq!(of(0x1000, 0x5000_1000), Jump(0x1010)); // b
    assert_eq!(of(0x1000, 0x5400_1000), Call(0x1010)); // bl
    assert_eq!(of(0x1000, 0x57ff_ffff), Call(0xffc));
    assert_eq!(of(0x1000, 0x4000_2080), Branch(0x1020)); // beqz $a0
    assert_eq!(of(0x1000, 0x47ff_f09f), Branch(0xff0)); // bnez $a0
    assert_eq!(of(0x1000, 0x5800_2085), Branch(0x1020)); // beq $a0, $a1
    assert_eq!(of(0x1000, 0x6fff_f085), Branch(0xff0)); // bgeu $a0, $a1
    assert_eq!(of(0, 0x4c00_0020), Return); // jr $ra
    assert_eq!(of(0, 0x4c00_0180), JumpIndirect); // jr $t0
    assert_eq!(of(0, 0x4c00_0181), CallIndirect); // jirl $ra, $t0, 0
    assert_eq!(of(0, 0x002a_0000), Stop); // break 0
    assert_eq!(of(0, 0x002b_0000), Next); // syscall 0
}

#[test]
fn linkage_of_loongarch64() {
    // pcaddu12i $t3, 2; ld.d $t3, $t3, 16; jirl $t1, $t3, 0; the last one again with $zero
    let entry = [0x1c00_004f, 0x28c0_41ef, 0x4c00_01ed];
    assert_eq!(words(Arch::Loongarch64, 0x1000, &entry)[2], CallSlot(0x3010));
    let entry = [0x1c00_004f, 0x28c0_41ef, 0x4c00_01e0];
    assert_eq!(words(Arch::Loongarch64, 0x1000, &entry)[2], JumpSlot(0x3010));
    // pcaddu18i $ra, 1; jirl $ra, $ra, -4
    assert_eq!(words(Arch::Loongarch64, 0x1000, &[0x1e00_0021, 0x4fff_fc21])[1], Call(0x40ffc));
}

#[test]
fn ppc64() {
    let of = |at: u64, word: u32| words(Arch::Powerpc64, at, &[word])[0];
    assert_eq!(of(0x1000, 0x4800_0100), Jump(0x1100)); // b
    assert_eq!(of(0x1004, 0x4bff_ff01), Call(0xf04)); // bl
    assert_eq!(of(0x1008, 0x4182_0020), Branch(0x1028)); // beq
    assert_eq!(of(0x100c, 0x4200_ffe0), Branch(0xfec)); // bdnz
    assert_eq!(of(0x1010, 0x429f_0005), Next); // bcl 20,31,.+4
    assert_eq!(of(0, 0x4e80_0020), Return); // blr
    assert_eq!(of(0, 0x4d82_0020), Next); // beqlr
    assert_eq!(of(0, 0x4e80_0421), CallIndirect); // bctrl
    assert_eq!(of(0, 0x4e80_0021), CallIndirect); // blrl
    assert_eq!(of(0, 0x4e80_0420), JumpIndirect); // bctr
    assert_eq!(of(0, 0x7fe0_0008), Stop); // trap
    assert_eq!(of(0, 0x4400_0002), Next); // sc
    assert_eq!(of(0, 0), Stop);
}

#[test]
fn linkage_of_ppc64() {
    // std r2,24(r1); addis r12,r2,1; ld r12,-0x7ff0(r12); mtctr r12; bctr
    let stub = [0xf841_0018, 0x3d82_0001, 0xe98c_8010, 0x7d89_03a6, 0x4e80_0420];
    assert_eq!(words(Arch::Powerpc64, 0x1000, &stub)[4], JumpSlot(0x10010));
    // pld r12,0x1000(0),1; mtctr r12; bctr
    let stub = [0x0410_0000, 0xe580_1000, 0x7d89_03a6, 0x4e80_0420];
    assert_eq!(words(Arch::Powerpc64, 0x1000, &stub), [Next, Next, JumpSlot(0x2000)]);
}

#[test]
fn s390x() {
    let of = |at: u64, code: &[u8]| flows(Arch::S390x, at, code)[0];
    assert_eq!(of(0x1000, &[0xc0, 0xe5, 0, 0, 0, 8]), Call(0x1010)); // brasl %r14
    assert_eq!(of(0x1006, &[0xc0, 0xe5, 0xff, 0xff, 0xff, 0xf8]), Call(0xff6));
    assert_eq!(of(0x100c, &[0xa7, 0xe5, 0, 4]), Call(0x1014)); // bras %r14
    assert_eq!(of(0x1010, &[0xc0, 0xf4, 0, 0, 0, 0x80]), Jump(0x1110)); // jg
    assert_eq!(of(0x1016, &[0xc0, 0x84, 0xff, 0xff, 0xff, 0x80]), Branch(0xf16)); // jge
    assert_eq!(of(0x101c, &[0xa7, 0xf4, 0, 8]), Jump(0x102c)); // j
    assert_eq!(of(0x1020, &[0xa7, 0x74, 0xff, 0xf8]), Branch(0x1010)); // jne
    assert_eq!(of(0x1024, &[0xa7, 0x16, 0, 4]), Branch(0x102c)); // brct
    assert_eq!(of(0x1028, &[0xa7, 0x17, 0, 4]), Branch(0x1030)); // brctg
    assert_eq!(of(0x102c, &[0xec, 0x12, 0, 0x10, 0x80, 0x64]), Branch(0x104c)); // cgrje
    assert_eq!(of(0x1032, &[0xec, 0x18, 0xff, 0xf0, 5, 0x7c]), Branch(0x1012)); // cgije
    assert_eq!(of(0x1038, &[0xec, 0x18, 0, 0x10, 5, 0x7f]), Branch(0x1058)); // clije
    assert_eq!(of(0, &[0x07, 0xfe]), Return); // br %r14
    assert_eq!(of(0, &[0x07, 0xf1]), JumpIndirect); // br %r1
    assert_eq!(of(0, &[0x07, 0x7e]), Next); // bner %r14
    assert_eq!(of(0, &[0x0d, 0xe1]), CallIndirect); // basr %r14,%r1
    assert_eq!(of(0, &[0x0d, 0xd0]), Next); // basr %r13,0
    assert_eq!(of(0, &[0x07, 0x00]), Next); // nopr
    assert_eq!(of(0, &[0, 1]), Stop);
    assert_eq!(of(0, &[0x0a, 1]), Next); // svc 1
    assert_eq!(of(0, &[0xeb, 0x6f, 0xf0, 0x30, 0, 0x24]), Next); // stmg
}

#[test]
fn linkage_of_s390x() {
    // larl %r1,.+0x2000; lg %r1,0(%r1); br %r1
    let entry = [0xc0, 0x10, 0, 0, 0x10, 0, 0xe3, 0x10, 0x10, 0, 0, 0x04, 0x07, 0xf1];
    assert_eq!(flows(Arch::S390x, 0x104c, &entry)[2], JumpSlot(0x304c));
    // lgrl %r1,.+0x2000; br %r1
    let entry = [0xc4, 0x18, 0, 0, 0x10, 0, 0x07, 0xf1];
    assert_eq!(flows(Arch::S390x, 0x105a, &entry)[1], JumpSlot(0x305a));
    // larl %r1,.+0x2000; basr %r14,%r1
    let call = [0xc0, 0x10, 0, 0, 0x10, 0, 0x0d, 0xe1];
    assert_eq!(flows(Arch::S390x, 0x1062, &call)[1], Call(0x3062));
}

#[test]
fn arm() {
    let of = |at: u64, word: u32| words(Arch::Arm, at, &[word])[0];
    assert_eq!(of(0x1000, 0xea00_003e), Jump(0x1100)); // b
    assert_eq!(of(0x1004, 0xebff_ffbe), Call(0xf04)); // bl
    assert_eq!(of(0x1008, 0x0b00_0006), Call(0x1028)); // bleq
    assert_eq!(of(0x100c, 0x0a00_0006), Branch(0x102c)); // beq
    assert_eq!(of(0x1010, 0xfa00_0012), Call(0x1061)); // blx
    for word in [0xe12f_ff1e, 0xe1a0_f00e, 0xe8bd_8010, 0xe49d_f004] {
        assert_eq!(of(0, word), Return); // bx lr; mov pc, lr; pop {r4, pc}; pop {pc}
    }
    assert_eq!(of(0, 0x012f_ff1e), Next); // bxeq lr
    assert_eq!(of(0, 0x18bd_8010), Next); // popne {r4, pc}
    assert_eq!(of(0, 0xe12f_ff13), JumpIndirect); // bx r3
    assert_eq!(of(0, 0xe12f_ff33), CallIndirect); // blx r3
    assert_eq!(of(0, 0xe08f_f102), JumpIndirect); // add pc, pc, r2, lsl #2
    assert_eq!(of(0x1038, 0xe51f_f004), JumpSlot(0x103c)); // ldr pc, [pc, #-4]
    assert_eq!(of(0, 0xe7f0_00f0), Stop); // udf
    assert_eq!(of(0, 0xe120_0070), Stop); // bkpt
    assert_eq!(of(0, 0xef00_0000), Next); // svc
}

#[test]
fn linkage_of_arm() {
    // add ip, pc, #0; add ip, ip, #0x10000; ldr pc, [ip, #16]!
    let entry = [0xe28f_c000, 0xe28c_c801, 0xe5bc_f010];
    assert_eq!(words(Arch::Arm, 0x1048, &entry)[2], JumpSlot(0x11060));
    // movw ip, #0x1235; movt ip, #1; bx ip
    let veneer = [0xe301_c235, 0xe340_c001, 0xe12f_ff1c];
    assert_eq!(words(Arch::Arm, 0x1048, &veneer)[2], Jump(0x11235));
}

#[test]
fn thumb() {
    let of = |at: u64, code: &[u16]| halves(Arch::Arm, at | 1, code)[0];
    assert_eq!(of(0x1060, &[0xe00e]), Jump(0x1081)); // b
    assert_eq!(of(0x1062, &[0xf001, 0xbffe]), Jump(0x3063)); // b.w
    assert_eq!(of(0x1066, &[0xd006]), Branch(0x1077)); // beq
    assert_eq!(of(0x1068, &[0xf43e, 0xaffe]), Branch(0x69)); // beq.w
    assert_eq!(of(0x106c, &[0xb170]), Branch(0x108d)); // cbz r0
    assert_eq!(of(0x106e, &[0xb9fb]), Branch(0x10b1)); // cbnz r3
    assert_eq!(of(0x1070, &[0xf000, 0xf87e]), Call(0x1171)); // bl
    assert_eq!(of(0x1074, &[0xf7ff, 0xff7e]), Call(0xf75));
    assert_eq!(of(0x10c6, &[0xf7ff, 0xef9c]), Call(0x1000)); // blx
    for code in [&[0x4770][..], &[0xbd10], &[0xe8bd, 0x8110], &[0xf85d, 0xfb04], &[0x46f7]] {
        assert_eq!(of(0, code), Return); // bx lr; pop; pop.w; ldr.w pc, [sp], #4; mov pc, lr
    }
    assert_eq!(of(0, &[0x4718]), JumpIndirect); // bx r3
    assert_eq!(of(0, &[0x4798]), CallIndirect); // blx r3
    assert_eq!(of(0, &[0xe8df, 0xf000]), JumpIndirect); // tbb
    assert_eq!(of(0, &[0xde00]), Stop); // udf
    assert_eq!(of(0, &[0xf7f0, 0xa000]), Stop); // udf.w
    assert_eq!(of(0, &[0xbe00]), Stop); // bkpt
    assert_eq!(of(0, &[0xdf00]), Next); // svc
    assert_eq!(of(0, &[0xf3af, 0x8000]), Next); // nop.w
    assert_eq!(of(0x1002, &[0x4778]), Jump(0x1004)); // bx pc
    assert_eq!(of(0x10b4, &[0xf8df, 0xf010]), JumpSlot(0x10c8)); // ldr.w pc, [pc, #16]
}

#[test]
fn conditions_of_thumb() {
    // it eq; bxeq lr; bx lr
    assert_eq!(halves(Arch::Arm, 1, &[0xbf08, 0x4770, 0x4770]), [Next, Next, Return]);
    // itt ne; movne r0, #1; popne {r4, pc}; pop {r4, pc}
    let code = [0xbf1c, 0x2001, 0xbd10, 0xbd10];
    assert_eq!(halves(Arch::Arm, 1, &code), [Next, Next, Next, Return]);
    // movw ip, #0x1000; movt ip, #1; add ip, pc; ldr.w pc, [ip]
    let entry = [0xf241, 0x0c00, 0xf2c0, 0x0c01, 0x44fc, 0xf8dc, 0xf000];
    assert_eq!(halves(Arch::Arm, 0x10a3, &entry)[3], JumpSlot(0x120ae));
}

#[test]
fn code_that_ends_inside_an_instruction_stops() {
    let all = [
        (Arch::Aarch64, 0),
        (Arch::Riscv64, 0),
        (Arch::Loongarch64, 0),
        (Arch::Powerpc64, 0),
        (Arch::S390x, 0),
        (Arch::Arm, 0),
        (Arch::Arm, 1),
    ];
    for (arch, at) in all {
        assert_eq!(flows(arch, at, &[]), []);
        assert_eq!(flows(arch, at, &[0xef]), [Stop]);
    }
    assert_eq!(flows(Arch::S390x, 0, &[0xc0, 0xe5, 0]), [Stop]); // brasl
    assert_eq!(flows(Arch::Powerpc64, 0, &[0, 0, 0x10, 4, 0]), [Stop]); // pld
}

#[test]
fn addresses_of_thumb_code_keep_their_lowest_bit() {
    let code = [0x70, 0x47, 0xe8, 0xbd, 0x81, 0x10];
    let mut decoder = FlowDecoder::new(ARM, &code, 0x1001).unwrap();
    let step = decoder.next().unwrap();
    assert_eq!((step.at, step.next, step.flow), (0x1001, 0x1003, Return));
}

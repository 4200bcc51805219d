# gdb's chains of stops, for `cargo lab truth gdb`: gdb -batch -nx -x stops.py --args PROGRAM [ARGUMENT]...
# The program is started once and stays at its entry; the registers and the stack of each stop are written into it.
# TRUTH_STOPS: each stop is 18 registers, the length of the stack (8 bytes each, little endian) and the stack.
# TRUTH_OUT: `map` lines of the process; then for each stop a line `stop`, a line `PC TYPE NAME` for each frame and one
# with the reason for the end; `unwritten` instead if a stop cannot be written.
import os
import struct

import gdb

REGISTERS = "rax rbx rcx rdx rsi rdi rbp rsp rip eflags r8 r9 r10 r11 r12 r13 r14 r15".split()
MOST_FRAMES = 2000
TYPES = {
    gdb.NORMAL_FRAME: "plain",
    gdb.INLINE_FRAME: "inline",
    gdb.TAILCALL_FRAME: "tail",
    gdb.SIGTRAMP_FRAME: "signal",
}

for line in (
    "set pagination off",
    "set confirm off",
    "set debuginfod enabled off",
    "set startup-with-shell off",
    "set disable-randomization on",
    "set backtrace past-main on",
    "set backtrace past-entry on",
    "set backtrace limit unlimited",
    "unset environment",
    "set width 0",
    "starti > /dev/null",
):
    gdb.execute(line, to_string=True)

process = gdb.selected_inferior()
with open(f"/proc/{process.pid}/auxv", "rb") as file:
    entry = dict(struct.iter_unpack("<QQ", file.read()))[9]
if int(gdb.selected_frame().pc()) != entry:
    gdb.execute(f"tbreak *{entry}", to_string=True)
    gdb.execute("continue", to_string=True)


def frames(out):
    frame = gdb.newest_frame()
    for _ in range(MOST_FRAMES):
        name = frame.name() or "?"
        out.write(f"{frame.pc():x} {TYPES.get(frame.type(), 'other')} {name}\n")
        outer = frame.older()
        if outer is None:
            reason = gdb.frame_stop_reason_string(frame.unwind_stop_reason())
            out.write(f"end {reason}\n")
            return
        frame = outer
    out.write("end more frames than are asked for\n")


with open(os.environ["TRUTH_OUT"], "w", encoding="utf-8") as out, open(os.environ["TRUTH_STOPS"], "rb") as stops:
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            out.write("map " + line)
    while head := stops.read(19 * 8):
        *values, length = struct.unpack("<19Q", head)
        stack = stops.read(length)
        registers = dict(zip(REGISTERS, values))
        out.write("stop\n")
        try:
            process.write_memory(registers["rsp"], stack)
            for name, value in registers.items():
                if name != "eflags":
                    # gdb keeps an outer frame selected across changes, and its registers cannot be set.
                    gdb.newest_frame().select()
                    gdb.execute(f"set ${name} = {value}", to_string=True)
            frames(out)
        except (gdb.error, gdb.MemoryError) as error:
            out.write(f"end unwritten: {error}\n")
gdb.execute("kill", to_string=True)

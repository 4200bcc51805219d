# Run by gdb on chain.c or chain_bare.c under an emulator: stops at chosen places, and steps through some of them by
# instruction. Writes for each stop the registers, the top of the stack and gdb's own backtrace.
# Lines of the output: "sample", "regs" those of $registers, "stack" up to $stack bytes, "bt" the pc of each frame, and
# once, if one of these is on a page of the emulator, "page" its address and first bytes.
import gdb

# Programs are below.
PAGES = 0x20000000
STEPS = {"with_alloca": 12, "stop_leaf": 5, "trap_first": 1}
if gdb.convenience_variable("steps") is not None:
    STEPS.update({place: int(gdb.convenience_variable("steps")) for place in ["with_alloca", "deep", "stop_leaf"]})
names = gdb.convenience_variable("registers").string().split()
STACK = int(gdb.convenience_variable("stack"))
out = open("dump.txt", "w")
pages = set()


def frames():
    frame, pcs = gdb.newest_frame(), []
    while frame is not None:
        pcs.append(frame.pc())
        frame = frame.older()
    return pcs


def stack(sp):
    memory = gdb.selected_inferior()
    for size in range(STACK, 0, -64):
        try:
            return bytes(memory.read_memory(sp, size))
        except gdb.MemoryError:
            pass
    return b""


def value_of(name):
    # Bytes of a register, including floating-point ones.
    return int(gdb.parse_and_eval("$" + name).format_string(format="x"), 16)


def dump():
    values = [value_of(name) for name in names]
    out.write("sample\nregs %s\n" % " ".join("%x" % value for value in values))
    out.write("stack %s\n" % stack(value_of("sp")).hex())
    pcs = frames()
    out.write("bt %s\n" % " ".join("%x" % pc for pc in pcs))
    for page in {pc & ~0xFFF for pc in pcs if pc > PAGES} - pages:
        pages.add(page)
        code = bytes(gdb.selected_inferior().read_memory(page, 64))
        code = code[:-(-len(code.rstrip(b"\0")) // 8) * 8]
        out.write("page %x %s\n" % (page, code.hex()))


def stopped_in():
    return gdb.newest_frame().name()


for command in ["set pagination off", "set confirm off", "set backtrace past-main on", "set backtrace past-entry on",
                "handle SIGUSR1 nostop noprint pass", "handle SIGILL nostop noprint pass",
                "target remote localhost:" + gdb.convenience_variable("port").string()]:
    gdb.execute(command)
places = ["deep"] if "deep" in STEPS else []
places += ["stop_leaf", "stop_callback", "stop_alloca", "with_alloca", "stop_handler", "trap_first"]
for place in places:
    gdb.execute("break *" + place)
    if gdb.selected_inferior().architecture().name().startswith("powerpc"):
        # After the setup of the table of contents: calls within a file enter there.
        gdb.execute("break *(%s + 8)" % place)
seen = {}
while True:
    try:
        gdb.execute("continue")
    except gdb.error:
        break
    if gdb.selected_inferior().pid == 0:
        break
    place = stopped_in()
    seen[place] = seen.get(place, 0) + 1
    if place in ("stop_callback", "deep") and seen[place] > 2:
        continue
    dump()
    for _ in range(STEPS.get(place, 3) - 1):
        gdb.execute("stepi")
        dump()
out.close()

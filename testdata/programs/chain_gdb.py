# Run by gdb on chain.c under an emulator: stops at chosen places, steps through some of them instruction by
# instruction, and writes for each stop the registers, the top of the stack and gdb's own backtrace.
# Lines of the output: "sample", "regs" x0 to x30 sp pc, "stack" bytes, "bt" the pc of each frame.
import gdb

STACK = 8192
STEPS = {"with_alloca": 12, "stop_leaf": 5, "trap_first": 1}
out = open("dump.txt", "w")


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


def dump():
    names = ["x%d" % i for i in range(31)] + ["sp", "pc"]
    mask = (1 << 64) - 1
    values = [int(gdb.parse_and_eval("(unsigned long)$" + name)) & mask for name in names]
    out.write("sample\nregs %s\n" % " ".join("%x" % value for value in values))
    out.write("stack %s\n" % stack(values[31]).hex())
    out.write("bt %s\n" % " ".join("%x" % pc for pc in frames()))


def stopped_in():
    return gdb.newest_frame().name()


for command in ["set pagination off", "set confirm off", "set backtrace past-main on", "set backtrace past-entry on",
                "handle SIGUSR1 nostop noprint pass", "handle SIGILL nostop noprint pass",
                "target remote localhost:" + gdb.convenience_variable("port").string()]:
    gdb.execute(command)
places = ["stop_leaf", "stop_callback", "stop_alloca", "with_alloca", "stop_handler", "trap_first"]
for place in places:
    gdb.execute("break *" + place)
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
    if place == "stop_callback" and seen[place] > 2:
        continue
    dump()
    for _ in range(STEPS.get(place, 3) - 1):
        gdb.execute("stepi")
        dump()
out.close()

# gdb's values of variables, for `cargo lab values`: gdb -batch -nx -x stops.py PROGRAM
# Breakpoints are set at random instructions of the program's own functions. At each stop, one JSON line has the stack,
# and for each physical frame the registers by DWARF number, the CFA, and gdb's values of all its functions.
# A stop with other mappings than the one before also has the text of /proc/PID/maps.
# VALUES_OUT: the file to write; VALUES_STOPS: the number of stops; VALUES_SOURCE: name of the source file;
# VALUES_SEED: seed of the random instructions.
import json
import os
import random
import re
import struct

import gdb

REGISTERS = "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split()
CALLER_SAVED = {"rax", "rdx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11"}
# Most that perf copies, in bytes.
STACK_BYTES = 65528
TEXT_BYTES = 256
ITEMS = 64
DEPTH = 3
STOPS = int(os.environ["VALUES_STOPS"])
SOURCE = os.environ["VALUES_SOURCE"]
random.seed(int(os.environ["VALUES_SEED"]))

for line in (
    "set pagination off",
    "set confirm off",
    "set debuginfod enabled off",
    "set disable-randomization on",
    "set startup-with-shell off",
    "set breakpoint pending off",
    "set print entry-values no",
    "set width 0",
    "set max-value-size 1048576",
    "handle SIGURG nostop noprint pass",
    "break main.main" if SOURCE.endswith(".go") else "break main",
    "run > /dev/null",
    "delete",
):
    gdb.execute(line, to_string=True)

process = gdb.selected_inferior()


def text_of_maps():
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as file:
        return file.read()


def maps():
    for row in text_of_maps().splitlines():
        words = row.split(maxsplit=5)
        start, end = (int(word, 16) for word in words[0].split("-"))
        yield start, end, words[5].strip() if len(words) > 5 else ""


PROGRAM = os.path.realpath(gdb.current_progspace().filename)
BIAS_START = min(start for start, _, name in maps() if name == PROGRAM)


def is_own(frame):
    try:
        symbol = frame.function()
        return symbol is not None and os.path.basename(symbol.symtab.filename) == SOURCE
    except (gdb.error, RuntimeError):
        return False


def functions():
    seen = set()
    for row in gdb.execute("maint print msymbols -objfile " + PROGRAM, to_string=True).splitlines():
        match = re.match(r"\[ ?\d+\] [tT] (0x[0-9a-f]+) ", row)
        if not match:
            continue
        address = int(match.group(1), 16)
        block = gdb.block_for_pc(address)
        while block is not None and block.function is None:
            block = block.superblock
        if block is None or block.start in seen:
            continue
        file = block.function.symtab
        if file is not None and os.path.basename(file.filename) == SOURCE:
            seen.add(block.start)
            yield block.start, block.end


def address_of(value):
    return int(value) & (1 << 64) - 1


def memory(address, size):
    try:
        return bytes(process.read_memory(address, size))
    except gdb.MemoryError:
        return None


def fields_of(value, kind):
    return {field.name: value[field] for field in kind.fields() if field.name and hasattr(field, "bitpos")}


def text_of(address, length):
    if length == 0:
        return ["text", ""]
    data = memory(address, min(length, TEXT_BYTES))
    return ["text", data.hex()] if data is not None else ["unreadable", ""]


def string_of(value, kind):
    """Strings, views and slices by their fields; None for other structures."""
    name = kind.name or ""
    parts = fields_of(value, kind)
    if "basic_string<char" in name and "_M_string_length" in parts:
        return text_of(address_of(parts["_M_dataplus"]["_M_p"]), int(parts["_M_string_length"]))
    if name.startswith("std::__1::basic_string<char") and kind.sizeof == 24:
        data = memory(address_of(value.address), 24)
        if data[0] & 1 == 0:
            return ["text", data[1 : 1 + data[0] // 2].hex()]
        return text_of(int.from_bytes(data[16:], "little"), int.from_bytes(data[8:16], "little"))
    if name == "string" and "str" in parts and "len" in parts:
        return text_of(address_of(parts["str"]), int(parts["len"]))
    if "_M_str" in parts and "_M_len" in parts:
        return text_of(address_of(parts["_M_str"]), int(parts["_M_len"]))
    if "data_ptr" in parts and "length" in parts and name.endswith("str"):
        return text_of(address_of(parts["data_ptr"]), int(parts["length"]))
    if name == "alloc::string::String" and "vec" in parts:
        inner = parts["vec"]["buf"]
        pointer = inner["inner"]["ptr"] if "inner" in fields_of(inner, inner.type) else inner["ptr"]
        while pointer.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
            pointer = pointer[pointer.type.fields()[0]]
        return text_of(address_of(pointer), int(parts["vec"]["len"]))
    return None


def scalar(value, kind):
    code = kind.code
    if code in (gdb.TYPE_CODE_PTR,):
        target = kind.target().strip_typedefs().unqualified()
        if target.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and target.name == "char" and target.sizeof == 1:
            address = address_of(value)
            data = bytearray()
            while len(data) < TEXT_BYTES and b"\0" not in data:
                more = memory(address + len(data), 16)
                if more is None:
                    break
                data += more
            return ["string", f"{address:x} {bytes(data[:TEXT_BYTES]).split(bytes(1))[0].hex()}"]
        return ["pointer", str(address_of(value))]
    if code == gdb.TYPE_CODE_ENUM:
        text = str(value).rsplit("::", 1)[-1]
        names = {field.name.rsplit("::", 1)[-1] for field in kind.fields()}
        return ["enum", text if text in names else str(int(value))]
    if code == gdb.TYPE_CODE_BOOL:
        return ["bool", "true" if int(value) else "false"]
    if code == gdb.TYPE_CODE_FLT:
        if kind.sizeof == 4:
            return ["float", struct.pack("<f", float(value)).hex()]
        if kind.sizeof == 8:
            return ["float", struct.pack("<d", float(value)).hex()]
        return None
    if code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR):
        return ["integer", str(int(value))]
    return None


def add(path, value, depth, out):
    """Appends [path, kind, text] of a value and its fields."""
    kind = value.type.strip_typedefs().unqualified()
    try:
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
            kind = value.type.strip_typedefs().unqualified()
        if value.is_optimized_out:
            out.append([path, "optimized", ""])
            return
        value.fetch_lazy()
        found = scalar(value, kind)
        if found is not None:
            if found[0] == "pointer" and SOURCE.endswith(".rs"):
                # References of Rust, of which gdb does not know that they are no pointers.
                behind = []
                if address_of(value):
                    add(path, value.dereference(), 0, behind)
                for _, *rest in behind[:1]:
                    found = [*found[:1], " ".join(found[1:] + rest)]
            out.append([path, *found])
        elif kind.code == gdb.TYPE_CODE_ARRAY:
            array(path, value, kind, out)
        elif kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            structure(path, value, kind, depth, out)
    except (gdb.MemoryError, gdb.error, OverflowError, ValueError, RuntimeError) as error:
        reason = "optimized" if "optimized out" in str(error) else "unreadable"
        out.append([path, reason, str(error)])


def array(path, value, kind, out):
    low, high = kind.range()
    element = kind.target().strip_typedefs().unqualified()
    if element.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and element.name == "char":
        data = bytes(int(value[index]) & 255 for index in range(low, min(high + 1, TEXT_BYTES)))
        out.append([path, "text", data.split(bytes(1))[0].hex()])
    elif element.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_FLT) and high - low < ITEMS:
        items = [scalar(value[index], element) for index in range(low, high + 1)]
        if None not in items:
            out.append([path, "list", " ".join(item[1] for item in items)])


def structure(path, value, kind, depth, out):
    found = string_of(value, kind)
    if found is not None:
        out.append([path, *found])
        return
    shown = str(value)
    variant = re.match(r"^[A-Za-z_][\w:<>&, \[\]']*::([A-Z]\w*)(\((.*)\))?(\{.*\})?$", shown, re.S)
    if SOURCE.endswith(".rs") and variant and kind.name and not shown.startswith(kind.name + " {"):
        out.append([path, "variant", f"{variant.group(1)} {variant.group(3) or ''}"])
        return
    if depth == 0:
        return
    for field in kind.fields():
        if not hasattr(field, "bitpos"):
            continue
        if field.is_base_class or not field.name:
            add(path, value[field], depth, out)
        elif re.fullmatch(r"\w+", field.name) and field.name != "_vptr":
            add(f"{path}.{field.name}", value[field], depth - 1, out)


def variables(frame):
    out, names = [], set()
    block = frame.block()
    while block is not None:
        for symbol in block:
            if (symbol.is_variable or symbol.is_argument) and symbol.name not in names:
                names.add(symbol.name)
                try:
                    add(symbol.name, symbol.value(frame), DEPTH, out)
                except (gdb.MemoryError, gdb.error, RuntimeError) as error:
                    out.append([symbol.name, "unreadable", str(error)])
        if block.function is not None:
            break
        block = block.superblock
    return out


def registers(frame, is_leaf):
    values = {}
    for number, name in enumerate(REGISTERS):
        if not is_leaf and name in CALLER_SAVED:
            continue
        value = frame.read_register(name)
        if not value.is_optimized_out:
            values[number] = str(address_of(value))
    if is_leaf:
        for number in range(16):
            value = frame.read_register(f"xmm{number}")["v2_int64"][0]
            values[17 + number] = str(address_of(value))
    return values


def cfa(frame):
    frame.select()
    match = re.search(r"frame at (0x[0-9a-f]+)", gdb.execute("info frame", to_string=True))
    return match.group(1) if match else None


def stop():
    physical = []
    frame = gdb.newest_frame()
    group = []
    while frame is not None and len(physical) < 40:
        group.append(frame)
        if frame.type() != gdb.INLINE_FRAME:
            is_leaf = not physical
            functions = []
            for one in group:
                if is_own(one):
                    functions.append({"name": one.function().name, "variables": variables(one)})
            if frame.type() != gdb.TAILCALL_FRAME:
                physical.append(
                    {
                        "pc": str(frame.pc()),
                        "registers": registers(frame, is_leaf),
                        "cfa": cfa(frame),
                        "functions": functions,
                    }
                )
            group = []
        frame = frame.older()
    top = address_of(gdb.newest_frame().read_register("rsp"))
    # The red zone of leaf functions is below the stack pointer; a recording has it not.
    end = max(end for start, end, _ in maps() if start <= top < end)
    stack = memory(top, min(end - top, STACK_BYTES)) or b""
    return {"start": str(top), "stack": stack.hex(), "frames": physical}


places = []
for start, end in functions():
    architecture = gdb.newest_frame().architecture()
    places.extend(row["addr"] for row in architecture.disassemble(start, end - 1))
random.shuffle(places)
places = places[: STOPS * 2]
for place in places:
    gdb.execute(f"break *{place}", to_string=True)

with open(os.environ["VALUES_OUT"], "w", encoding="utf-8") as out:
    out.write(json.dumps({"start": str(BIAS_START)}) + "\n")
    count = 0
    hits = {}
    last_maps = None
    while count < STOPS:
        try:
            gdb.execute("continue", to_string=True)
            pc = gdb.newest_frame().pc()
        except gdb.error:
            break
        hits[pc] = hits.get(pc, 0) + 1
        if hits[pc] > 1:
            gdb.execute(f"clear *{pc}", to_string=True)
        if is_own(gdb.newest_frame()):
            stopped = stop()
            mapped = text_of_maps()
            if mapped != last_maps:
                stopped["maps"] = last_maps = mapped
            out.write(json.dumps(stopped) + "\n")
            out.flush()
            count += 1

# Decodes OTLP profiles with the protocol's own bindings. Prints the sum of all weights, a tab, and the result of
# receiving them by HTTP and by gRPC; then a line for each function: own, inclusive, name. The rules are those of the
# protocol's comments, and of its checker for profiles; a violation ends the script.
import sys, threading, urllib.request
from concurrent import futures
from http.server import BaseHTTPRequestHandler, HTTPServer

import grpc
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2 as service
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2_grpc as stubs
from opentelemetry.proto.profiles.v1development import profiles_pb2 as protocol

data = open(sys.argv[1], "rb").read()
profiles = protocol.ProfilesData.FromString(data)
dictionary = profiles.dictionary
NAMES = ("mapping", "location", "function", "link", "string", "attribute", "stack")
tables = {name: getattr(dictionary, name + "_table") for name in NAMES}
used = {name: {0} for name in NAMES}


def expect(holds, *what):
    if not holds:
        sys.exit("not so: " + " ".join(map(str, what)))


def use(table, index, where):
    expect(0 <= index < len(tables[table]), where, "names row", index, "of", table)
    used[table].add(index)
    return index


def attributes(row, where):
    rows = [tables["attribute"][use("attribute", index, where)] for index in row.attribute_indices]
    keys = {row.key_strindex for row in rows}
    expect(len(keys) == len(rows), where, "has a key twice")


def check_tables():
    for name, rows in tables.items():
        encoded = [row if name == "string" else row.SerializeToString() for row in rows]
        expect(encoded and not encoded[0], name, "does not begin with its zero value")
        expect(len(set(encoded)) == len(encoded), name, "has a row twice")
    for row in dictionary.attribute_table[1:]:
        kind = row.value.WhichOneof("value")
        expect(row.key_strindex and kind in ("string_value", "int_value"), "attribute", row)
        use("string", row.key_strindex, "attribute")
    for row in dictionary.mapping_table[1:]:
        use("string", row.filename_strindex, "mapping")
        attributes(row, "mapping")
        expect(row.memory_start < row.memory_limit, "mapping", row)
    for row in dictionary.location_table[1:]:
        mapping = tables["mapping"][use("mapping", row.mapping_index, "location")]
        inside = mapping.memory_start <= row.address < mapping.memory_limit
        expect(not row.mapping_index or inside, "location", row)
        attributes(row, "location")
        for line in row.lines:
            expect(use("function", line.function_index, "line"), "line", row)
    for row in dictionary.function_table[1:]:
        expect(use("string", row.name_strindex, "function"), "function", row)
        use("string", row.filename_strindex, "function")
    for row in dictionary.stack_table[1:]:
        for index in row.location_indices:
            use("location", index, "stack")


own, inclusive, total, known = {}, {}, 0, set()


def functions(stack):
    for index in tables["stack"][stack].location_indices:
        lines = tables["location"][index].lines
        for line in lines:
            yield tables["string"][tables["function"][line.function_index].name_strindex]
        if not lines:
            yield "[nameless]"


def count(profile):
    global total
    for kind in (profile.sample_type, profile.period_type):
        expect(use("string", kind.type_strindex, "kind"), "kind", kind)
        expect(use("string", kind.unit_strindex, "unit"), "unit", kind)
    expect(len(profile.profile_id) == 16 and profile.profile_id not in known, "identification")
    known.add(profile.profile_id)
    attributes(profile, "profile")
    shapes = {(len(row.values), bool(row.timestamps_unix_nano)) for row in profile.samples}
    expect(shapes in ({(1, False)}, {(0, True)}), "shapes", shapes)
    identities = {(row.stack_index, *row.attribute_indices) for row in profile.samples}
    expect(len(identities) == len(profile.samples), "a sample is there twice")
    end = profile.time_unix_nano + profile.duration_nano
    for row in profile.samples:
        use("stack", row.stack_index, "sample")
        attributes(row, "sample")
        times = row.timestamps_unix_nano
        expect(all(profile.time_unix_nano <= time < end for time in times), "times", times)
        weight = len(times) * profile.period if times else row.values[0]
        total += weight
        names = list(functions(row.stack_index))
        for name in names[:1]:
            own[name] = own.get(name, 0) + weight
        for name in set(names):
            inclusive[name] = inclusive.get(name, 0) + weight


def check_profiles():
    for resource in profiles.resource_profiles:
        keys = [pair.key for pair in resource.resource.attributes]
        expect("service.name" in keys and len(set(keys)) == len(keys), "resource", keys)
        for scope in resource.scope_profiles:
            expect(scope.scope.name == "unwind-perf", "scope", scope.scope)
            for profile in scope.profiles:
                count(profile)
    for name, rows in tables.items():
        for index in set(range(len(rows))) - used[name]:
            expect(False, name, "has a row that nothing names:", rows[index])


received = []


class GrpcReceiver(stubs.ProfilesServiceServicer):
    def Export(self, request, context):
        received.append(request)
        return service.ExportProfilesServiceResponse()


class HttpReceiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        received.append(service.ExportProfilesServiceRequest.FromString(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def send():
    web = HTTPServer(("127.0.0.1", 0), HttpReceiver)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{web.server_port}/v1development/profiles"
    header = {"content-type": "application/x-protobuf"}
    urllib.request.urlopen(urllib.request.Request(address, data, header)).read()
    most = [("grpc.max_receive_message_length", -1)]
    server = grpc.server(futures.ThreadPoolExecutor(1), options=most)
    stubs.add_ProfilesServiceServicer_to_server(GrpcReceiver(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        request = service.ExportProfilesServiceRequest.FromString(data)
        stubs.ProfilesServiceStub(channel).Export(request)
    server.stop(None)
    bytes_of = [request.SerializeToString() for request in received]
    expect(bytes_of == [profiles.SerializeToString()] * 2, "what was received is not what was sent")


check_tables()
check_profiles()
send()
print(total, f"{len(known)} profiles, by HTTP and by gRPC", sep="\t")
for name, weight in inclusive.items():
    print(own.get(name, 0), weight, name, sep="\t")

// Variables of many types and places for `cargo lab values`.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace net {

enum class State : uint8_t { Idle, Busy = 3, Closed = 250 };
enum Plain { One = 1, Two };

static volatile long sink;

struct Base {
    int id;
    virtual ~Base() = default;
    explicit Base(int id) : id(id) {}
};

template <typename T> struct Pair {
    T first;
    T second;
};

class Connection : public Base {
public:
    std::string host;
    State state = State::Idle;
    bool secure : 1;
    unsigned retries : 4;
    Pair<short> range{ -1, 300 };
    union {
        int code;
        unsigned char raw[4];
    };
    Connection(int id, std::string host) : Base(id), host(std::move(host)), secure(true), retries(9), code(258) {}
    NOINLINE long send(std::string_view text, const std::string &label, int &count);
    NOINLINE long send(int number, State next);
    static NOINLINE int shared(unsigned value);
    long weigh(long by) const {
        long weight = by * id;
        return weight + static_cast<long>(host.size());
    }
};

long Connection::send(std::string_view text, const std::string &label, int &count) {
    long hash = 5381;
    for (char c : text) {
        int step = c * 3;
        hash = hash * 33 + step;
        count++;
    }
    const std::string copy = label + "!";
    sink = sink + static_cast<long>(copy.size());
    state = State::Busy;
    return hash + weigh(count);
}

long Connection::send(int number, State next) {
    State before = state;
    state = next;
    double ratio = number / 3.0;
    sink = sink + static_cast<long>(ratio);
    return static_cast<long>(before) + weigh(number);
}

int Connection::shared(unsigned value) {
    char16_t wide = u'x';
    char32_t wider = U'\u20ac';
    wchar_t native = L'n';
    sink = sink + wide + wider + native;
    return static_cast<int>(value >> 1);
}

template <typename T> NOINLINE T largest(const std::vector<T> &values, T start) {
    T best = start;
    for (const T &value : values) {
        if (best < value) {
            T previous = best;
            best = value;
            sink = sink + static_cast<long>(previous);
        }
    }
    return best;
}

namespace {
NOINLINE int hidden(Plain plain, Pair<int> pair, Pair<double> reals, const Pair<long> &behind) {
    int sum = pair.first + pair.second + static_cast<int>(plain);
    double real = reals.first * reals.second;
    sink = sink + static_cast<long>(real) + behind.second;
    return sum;
}
}

struct Visitor {
    int seen = 0;
    long operator()(int value) {
        seen += value;
        return seen * 2L;
    }
};

template <typename F> NOINLINE long each(int n, F &&function) {
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += function(i);
    return sum;
}

NOINLINE void fail(int depth, const char *why) {
    std::string message = std::string("failed: ") + why + " with a reason that is longer than the short buffer";
    if (depth == 0)
        throw message;
    fail(depth - 1, why);
    sink = sink + 1;
}

NOINLINE long run(int round) {
    Connection connection(round + 10, round & 1 ? "short" : "a host with a name that is long");
    Connection &reference = connection;
    std::unique_ptr<Connection> owned = std::make_unique<Connection>(round, "heap");
    int count = 0;
    long total = reference.send("view of text", connection.host, count);
    total += owned->send(round, State::Closed);
    total += Connection::shared(static_cast<unsigned>(round) * 7);
    std::vector<int> ints{ 3, 9, round, 27 };
    std::vector<double> reals{ 0.5, round * 1.5 };
    total += largest(ints, 1) + static_cast<long>(largest(reals, 0.25));
    Pair<long> pair{ total, -total };
    total += hidden(round & 1 ? One : Two, { round, 5 }, { 1.5, 2.5 }, pair);
    total += each(round + 2, [&](int value) {
        int inner = value + count;
        return static_cast<long>(inner) * round;
    });
    Visitor visitor;
    total += each(3, visitor);
    try {
        fail(round & 3, "test");
    } catch (const std::string &message) {
        total += static_cast<long>(message.size());
    }
    return total;
}

}

int main(int argc, char **argv) {
    std::string name = argv[0] ? "program" : "";
    long all = 0;
    for (int round = 0; round < 4 + argc; round++) {
        long result = net::run(round);
        all += result;
    }
    std::printf("%s %ld\n", name.c_str(), all);
    return 0;
}

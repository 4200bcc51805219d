// Functions without linkage names: lambdas, one in the other, and members of local and of unnamed types.
using Number = unsigned long;
volatile Number sink;

namespace geo {
namespace {
struct Hidden {
  Number weigh(Number x) const { return x * 3 + sink; }
};
} // namespace

template <class T> Number apply(T f, Number x) { return f(x) + sink; }

class Shape {
public:
  Number area(Number n) const {
    struct Local {
      Number side(Number x) { return x * 5 + sink; }
    } local;
    auto outer = [&](Number x) {
      auto inner = [&](Number y) { return y * 7 + local.side(x); };
      return inner(x) * 11 + sink;
    };
    return outer(n) * 13 + sink;
  }
};
} // namespace geo

extern "C" __attribute__((noinline)) Number run(Number n) {
  geo::Hidden hidden;
  geo::Shape shape;
  Number sum = hidden.weigh(n) * 17 + sink;
  sum += shape.area(n) * 19 + sink;
  sum += geo::apply([](Number x) { return x * 23 + sink; }, n) * 29 + sink;
  return sum;
}

extern "C" void _start() {
  sink = run(sink);
  for (;;) {
  }
}

// Exceptions thrown through several frames: samples inside the C++ runtime's own unwinder, and in functions with
// landing pads (.gcc_except_table, .text.unlikely parts).
#include <stdexcept>
#include <string>

static volatile unsigned long sink;

struct Guard {
    std::string name;
    ~Guard() { sink += name.size(); }
};

[[gnu::noinline]] static void thrower(int depth)
{
    Guard guard{"a name longer than the small string buffer"};
    if (depth == 0)
        throw std::runtime_error("bottom");
    thrower(depth - 1);
    sink++;
}

int main()
{
    for (int i = 0; i < 12000; i++) {
        try {
            thrower(i % 8);
        } catch (const std::exception &error) {
            sink += error.what()[0];
        }
    }
    return 0;
}

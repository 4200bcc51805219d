// What programs do, in D: templates, ranges, exceptions, garbage.
import std.algorithm, std.array, std.conv, std.range, std.stdio;

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int down(int n) { if (n == 0) throw new Exception("deep"); return down(n - 1) + 1; }
size_t words() {
    int[string] counts;
    foreach (i; 0 .. 20_000) counts[to!string(i * 7919 % 5003)]++;
    return counts.keys.sort!((a, b) => a < b).map!(a => a.length).sum;
}
void main() {
    size_t sum;
    foreach (i; 0 .. 30) {
        sum += fib(27) + words();
        try sum += down(50); catch (Exception error) sum += error.msg.length;
    }
    writeln(sum);
}

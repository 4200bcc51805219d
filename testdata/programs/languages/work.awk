# What programs do, in AWK.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
BEGIN { for (i = 0; i < 60; i++) s += fib(20) + length(sprintf("%d %s", i, counts[i % 7] = i)); print s }

# What programs do, in Nim: recursion, tables, sorting.
import algorithm, tables
proc fib(n: int): int = (if n < 2: n else: fib(n - 1) + fib(n - 2))
proc words(): int =
  var counts = initTable[string, int]()
  for i in 0 ..< 20000: counts.mgetOrPut($(i * 7919 mod 5003), 0) += 1
  var list: seq[string]
  for word in counts.keys: list.add word
  list.sort()
  list.len
var sum = 0
for i in 0 ..< 60: sum += fib(27) + words()
echo sum

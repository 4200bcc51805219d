# What programs do, in Python.
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def words():
    counts = {}
    for i in range(8000): counts[str(i * 7919 % 5003)] = counts.get(str(i * 7919 % 5003), 0) + 1
    return len(sorted(counts, key=lambda word: (-counts[word], word)))
print(sum(fib(20) + words() for _ in range(60)))

# What programs do, in Ruby.
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
def words = (0...8000).map { |i| (i * 7919 % 5003).to_s }.tally.sort_by { |word, count| [-count, word] }.size
puts (0...25).sum { fib(21) + words }

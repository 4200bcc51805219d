; What programs do, in Scheme.
(define (fib n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(define (rounds n sum) (if (= n 0) sum (rounds (- n 1) (+ sum (fib 29) (length (sort (iota 20000) >))))))
(display (rounds 20 0))

; What programs do, in Lisp.
(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
(defun words () (let ((counts (make-hash-table :test 'equal))) (dotimes (i 20000) (incf (gethash (format nil "~d" (mod (* i 7919) 5003)) counts 0))) (hash-table-count counts)))
(print (loop repeat 30 sum (+ (fib 28) (words))))

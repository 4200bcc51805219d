# What programs do, in Tcl.
proc fib {n} { if {$n < 2} { return $n }; return [expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]}] }
for {set i 0} {$i < 12} {incr i} { incr sum [fib 19]; lappend all {*}[lsort -integer -decreasing [lrepeat 2000 $i 7 3]] }
puts $sum

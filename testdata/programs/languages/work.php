<?php // What programs do, in PHP.
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function words() { $counts = []; for ($i = 0; $i < 20000; $i++) { $word = 'w' . $i * 7919 % 5003; $counts[$word] = ($counts[$word] ?? 0) + 1; } ksort($counts); return count($counts); }
$sum = 0;
for ($i = 0; $i < 60; $i++) $sum += fib(21) + words();
echo $sum, "\n";

# What programs do, in Perl.
use strict;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub words { my %counts; $counts{"w" . $_ * 7919 % 5003}++ for 0 .. 8000; return scalar(sort { $counts{$b} <=> $counts{$a} || $a cmp $b } keys %counts) || 1 }
my $sum = 0;
$sum += fib(19) + words() for 1 .. 50;
print "$sum\n";

{ What programs do, in Pascal: recursion, sorting. }
program work;
var list: array[0..39999] of longint; i, round: longint; sum: int64;
function fib(n: longint): longint;
begin
  if n < 2 then fib := n else fib := fib(n - 1) + fib(n - 2);
end;
procedure sort(low, high: longint);
var i, j, pivot, kept: longint;
begin
  i := low; j := high; pivot := list[(low + high) div 2];
  repeat
    while list[i] < pivot do inc(i);
    while list[j] > pivot do dec(j);
    if i <= j then begin kept := list[i]; list[i] := list[j]; list[j] := kept; inc(i); dec(j); end;
  until i > j;
  if low < j then sort(low, j);
  if i < high then sort(i, high);
end;
begin
  sum := 0;
  for round := 1 to 60 do begin
    for i := 0 to 39999 do list[i] := (i * 7919 + round) mod 40009;
    sort(0, 39999);
    sum := sum + fib(28) + list[7];
  end;
  writeln(sum);
end.

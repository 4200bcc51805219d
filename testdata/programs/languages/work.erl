%% What programs do, in Erlang.
-module(work).
-export([main/0]).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
words() -> maps:size(lists:foldl(fun(I, Counts) -> maps:update_with(integer_to_list(I * 7919 rem 5003), fun(N) -> N + 1 end, 1, Counts) end, #{}, lists:seq(0, 20000))).
main() -> io:format("~p~n", [lists:sum([fib(25) + words() || _ <- lists:seq(1, 60)])]), halt().

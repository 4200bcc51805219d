(* What programs do, in OCaml: recursion, closures, maps, exceptions. *)
module Words = Map.Make (String)
exception Deep of int
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
let rec down n = if n = 0 then raise (Deep n) else 1 + down (n - 1)
let words () =
  let count = ref Words.empty in
  for i = 0 to 20000 do
    let word = string_of_int (i * 7919 mod 5003) in
    count := Words.update word (function None -> Some 1 | Some n -> Some (n + 1)) !count
  done;
  List.length (List.sort compare (Words.bindings !count))
let () =
  let sum = ref 0 in
  for _ = 1 to 40 do
    sum := !sum + fib 27 + words () + (try down 100 with Deep n -> n)
  done;
  print_int !sum

-- What programs do, in Haskell: lazy lists, maps.
import qualified Data.List as List
fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
main :: IO ()
main = print (sum [fib 24 + length (List.nub [x * 7919 `mod` 503 | x <- [1 .. 2000 + n]]) | n <- [1 .. 20]])

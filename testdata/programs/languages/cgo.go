// Go that calls C that calls Go.
package main

/*
static int square(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += i * i % 7; return sum; }
extern int callback(int n);
static int through(int n) { return callback(n) + square(n); }
*/
import "C"
import "fmt"

//export callback
func callback(n C.int) C.int {
	sum := C.int(0)
	for i := C.int(0); i < n; i++ {
		sum += i % 5
	}
	return sum
}

func main() {
	sum := 0
	for i := 0; i < 40000; i++ {
		sum += int(C.through(C.int(i % 30000)))
	}
	fmt.Println(sum)
}

// Variables of many types and places for `cargo lab values`.
package main

import "fmt"

type level uint8

type point struct{ x, y int32 }

type request struct {
	path   string
	size   uint16
	weight float32
	level  level
	corner point
	tags   []int16
	next   *request
	done   bool
}

var sink int64

//go:noinline
func sum(values []int, start int) int {
	total := start
	for index, value := range values {
		part := value * index
		total += part
	}
	return total
}

//go:noinline
func numbers(a int8, b uint16, c int32, d uint64, e float32, f float64, g bool, h rune) (result float64, ok bool) {
	whole := int64(a) + int64(b) + int64(c)
	sink += int64(d) + whole
	result = float64(e)*f + float64(whole)
	ok = g && h > 'a'
	return result, ok
}

func double(value int) int {
	twice := value * 2
	return twice
}

//go:noinline
func handle(r *request, name string, depth int) int {
	local := *r
	local.size += uint16(depth)
	label := name
	if depth > 0 {
		local.next = r
		sink += int64(handle(&local, label+"-", depth-1))
	}
	bytes := []byte(label)
	count := len(bytes) + double(depth)
	for _, tag := range local.tags {
		count += int(tag)
	}
	return count
}

//go:noinline
func apply(function func(int) int, start int) int {
	once := function(start)
	return function(once)
}

func main() {
	total := 0
	ints := []int{3, 5, 8, 13}
	for round := 0; round < 5; round++ {
		r := request{path: "/index", size: 7, weight: 1.5, level: 3, corner: point{int32(round), -4}, tags: []int16{1, -2, 3}}
		total += handle(&r, "name", round)
		total += sum(ints, round)
		real, ok := numbers(-3, 60000, int32(round-3), 1<<40, 0.5, 2.25, round == 2, 'é')
		if ok {
			total += int(real)
		}
		total += apply(func(value int) int { return value*round + total }, 7)
	}
	fmt.Println(total, sink)
}

// What programs do, in Go: goroutines, maps, interfaces, garbage.
package main

import (
	"fmt"
	"sort"
	"strings"
	"sync"
)

type tree struct {
	left, right *tree
	key         int
}

func (t *tree) insert(key int) *tree {
	if t == nil {
		return &tree{key: key}
	}
	if key < t.key {
		t.left = t.left.insert(key)
	} else {
		t.right = t.right.insert(key)
	}
	return t
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func words() int {
	counts := map[string]int{}
	for i := 0; i < 20000; i++ {
		counts[strings.Repeat("x", i%17)+fmt.Sprint(i%991)]++
	}
	var list []string
	for word := range counts {
		list = append(list, word)
	}
	sort.Slice(list, func(a, b int) bool { return list[a] < list[b] })
	return len(list)
}

func round(i int) int {
	var root *tree
	key := 1
	for k := 0; k < 20000; k++ {
		key = key * 1103515245 % 2147483647
		root = root.insert(key)
	}
	return fib(25) + words() + root.key + i
}

func main() {
	var group sync.WaitGroup
	sums := make([]int, 40)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			sums[i] = round(i)
		}(i)
	}
	group.Wait()
	fmt.Println(sums[3])
}

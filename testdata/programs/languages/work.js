// What programs do, in JavaScript.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function words() {
  const counts = new Map();
  for (let i = 0; i < 20000; i++) { const word = String(i * 7919 % 5003); counts.set(word, (counts.get(word) || 0) + 1); }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).length;
}
let sum = 0;
for (let i = 0; i < 60; i++) sum += fib(27) + words() + JSON.parse(JSON.stringify([...Array(2000).keys()])).length;
console.log(sum);

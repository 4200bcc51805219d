// What programs do, in Java: objects, collections, exceptions, threads.
import java.util.*;
public class Work {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static int down(int n) { if (n == 0) throw new IllegalStateException("deep"); return down(n - 1) + 1; }
    static int words() {
        Map<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < 20000; i++) counts.merge(Integer.toString(i * 7919 % 5003), 1, Integer::sum);
        List<String> list = new ArrayList<>(counts.keySet());
        list.sort(Comparator.reverseOrder());
        return list.size();
    }
    public static void main(String[] arguments) throws Exception {
        int[] sum = new int[2];
        Thread other = new Thread(() -> { for (int i = 0; i < 60; i++) sum[1] += words(); });
        other.start();
        for (int i = 0; i < 80; i++) {
            sum[0] += fib(29) + words();
            try { down(30); } catch (IllegalStateException error) { sum[0]++; }
        }
        other.join();
        System.out.println(sum[0] + sum[1]);
    }
}

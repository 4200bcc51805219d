/* Calls through the procedure linkage table, and one through a slot that is bound at once. */
extern int first(int);
extern int second(int);
extern int third(int);
int (*pointer(void))(int) { return third; }
int calls(int x) { return first(x) + second(x) + third(x); }

/* Load a library, use it, unload it, load another at the same addresses: the recording has no record of the unloading. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char base[256];

__attribute__((noinline)) static void *use(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", base, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    void (*run)(unsigned long);
    *(void **)&run = dlsym(library, "run");
    for (int i = 0; i < 20; i++)
        run(800000);
    void *address = *(void **)&run;
    dlclose(library);
    return address;
}

int main(int argc, char **argv)
{
    (void)argc;
    strncpy(base, argv[0], sizeof base - 1);
    *strrchr(base, '/') = 0;
    void *first = use("libfirst.so");
    void *second = use("libother.so");
    return first == second ? 0 : 1; /* the test is about this */
}

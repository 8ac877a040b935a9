/* LD_PRELOAD for nothing_lost/memory.c: the n-th allocation of the judge fails, or that and all after it.
 * Children of the judge, which inherit the variable, are left alone. LOST_AT=n, LOST_ONWARD=1;
 * LOST_COUNT=PATH gets their number. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long seen;
static long at;
static bool active, onward;

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *run, int argc, char **argv, void (*begin)(void), void (*end)(void),
                           void (*end_loader)(void), void *stack_end);
static main_function *tool_main;

static int counted_main(int argc, char **argv, char **environment)
{
    const char *number = getenv("LOST_AT");
    onward = getenv("LOST_ONWARD") != NULL;
    at = number ? strtol(number, NULL, 10) : 0;
    active = strcmp(program_invocation_short_name, "unseen") == 0;
    return tool_main(argc, argv, environment);
}

/* From main on. Before it, a linked CUDA runtime registers its kernels and does not check for memory. */
int __libc_start_main(main_function *run, int argc, char **argv, void (*begin)(void), void (*end)(void),
                      void (*end_loader)(void), void *stack_end)
{
    start_function *start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    tool_main = run;
    return start(counted_main, argc, argv, begin, end, end_loader, stack_end);
}

static __attribute__((destructor)) void end(void)
{
    char text[32];
    const char *path = active ? getenv("LOST_COUNT") : NULL;
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    active = false;
    if (fd >= 0 && write(fd, text, (size_t)snprintf(text, sizeof text, "%ld\n", atomic_load(&seen))) < 0)
        perror(path);
    if (fd >= 0)
        close(fd);
}

static bool fails(void)
{
    if (!active)
        return false;
    const long number = atomic_fetch_add(&seen, 1) + 1;
    const bool now = at > 0 && (number == at || (onward && number > at));
    if (now)
        errno = ENOMEM;
    return now;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *made = memalign(alignment, size);
    if (made)
        *block = made;
    return made ? 0 : ENOMEM;
}

/* The tool's own mappings. The C library's mappings for itself do not pass here. */
void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return fails() ? (void *)-1 : (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

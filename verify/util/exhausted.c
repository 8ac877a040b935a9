#include "exhausted.h"

#include <execinfo.h>
#include <gmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_bool done;
static int end_status;
static void (*end_all)(void);

/* Uses no exit(): other threads are running, and exit handlers may need memory, too. */
static __attribute__((noreturn)) void leave(const char *text)
{
    const ssize_t wrote = write(STDERR_FILENO, text, strlen(text));
    (void)wrote; /* a failed write cannot be reported */
    end_all();
    _exit(end_status);
}

static __attribute__((noreturn)) void run_out(void)
{
    leave("unseen: out of memory while judging; no verdict was reached\n"
          "---> free some, or draw fewer configurations (--unseen N)\n");
}

static void *allocate(size_t size)
{
    void *block = malloc(size);
    if (!block)
        run_out();
    return block;
}

static void *reallocate(void *block, size_t old_size, size_t size)
{
    (void)old_size;
    block = realloc(block, size);
    if (!block)
        run_out();
    return block;
}

static void release(void *block, size_t size)
{
    (void)size;
    free(block);
}

/* The library has already printed its own message. */
static void on_exit_of_library(int status, void *data)
{
    (void)data;
    if (status == EXIT_FAILURE && !atomic_load(&done))
        leave("unseen: a library ended the run, out of memory or of threads; no verdict was reached\n"
              "---> free some, or raise the limits (ulimit -a)\n");
}

void exhausted_prepare(int status, void (*end)(void))
{
    void *frame;
    end_status = status;
    end_all = end;
    mp_set_memory_functions(allocate, reallocate, release);
    on_exit(on_exit_of_library, NULL);
    backtrace(&frame,
              /* loads the code that ending threads need, those of libgomp last; without it they would
               * abort */
              1);
}

int exhausted_done(int status)
{
    atomic_store(&done, true);
    return status;
}

/* The arena (arena.h) and the filter that protects its mappings, against the runner as well. */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "arena.h"
#include "runner_internal.h"

enum { PLACES = 3, API_LEVEL = 6 /* Linux 5.7, which can continue a call after asking about it */ };

static uint64_t arena; /* 0: there is no arena */

static bool reserve_addresses(void)
{
    for (uint64_t place = 1; place <= PLACES && !arena; place++) {
        void *const wanted = (void *)(place * ARENA_BYTES);
        void *const got = mmap(wanted, ARENA_BYTES, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == wanted)
            arena = place * ARENA_BYTES;
        else if (got != MAP_FAILED) /* an older kernel treats the address as a hint */
            munmap(got, ARENA_BYTES);
    }
    return arena != 0;
}

static struct scmp_arg_cmp in_arena(unsigned argument)
{
    return SCMP_CMP64(argument, SCMP_CMP_MASKED_EQ, ~(ARENA_BYTES - 1), arena);
}

/* A mapping that begins below the arena may reach into it. */
static struct scmp_arg_cmp is_long(unsigned argument)
{
    return SCMP_CMP64(argument, SCMP_CMP_GE, ARENA_MARGIN);
}

/* Refuses system calls that unmap addresses, move them or change their protection. */
static int refuse_changes(scmp_filter_ctx filter)
{
    const struct {
        int call;
        struct scmp_arg_cmp when;
    } refused[] = {{SCMP_SYS(munmap), in_arena(0)},        {SCMP_SYS(munmap), is_long(1)},
                   {SCMP_SYS(mprotect), in_arena(0)},      {SCMP_SYS(mprotect), is_long(1)},
                   {SCMP_SYS(pkey_mprotect), in_arena(0)}, {SCMP_SYS(pkey_mprotect), is_long(1)},
                   {SCMP_SYS(mremap), in_arena(0)},        {SCMP_SYS(mremap), is_long(1)},
                   {SCMP_SYS(mremap), in_arena(4)},        {SCMP_SYS(mremap), is_long(2)}};
    int error = 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused && error == 0; i++)
        if (refused[i].call >= 0) /* this architecture has it */
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i].call, 1, refused[i].when);
    if (error == 0) /* it may replace mappings, and its length is not an argument */
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(shmat), 1,
                                 SCMP_A2(SCMP_CMP_MASKED_EQ, SHM_REMAP, SHM_REMAP));
    return error;
}

/* The kernel asks the judge about mappings that can be accessed and may replace existing ones. An
 * inaccessible mapping reveals nothing. */
static int ask_about_mappings(scmp_filter_ctx filter)
{
    const struct scmp_arg_cmp there[] = {in_arena(0), is_long(1)};
    int error = 0;
    for (int i = 0; i < 2 && error == 0; i++)
        error = seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(mmap), 3, there[i],
                                 SCMP_A2(SCMP_CMP_NE, PROT_NONE),
                                 SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_FIXED, MAP_FIXED));
    return error;
}

int arena_begin(uint64_t *base)
{
    *base = 0;
    if (arena || !reserve_addresses())
        return -1;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int listener = -1, error = !filter ? -ENOMEM : seccomp_api_get() < API_LEVEL ? -ENOSYS : 0;
    if (error == 0)
        error = refuse_changes(filter);
    if (error == 0)
        error = ask_about_mappings(filter);
    if (error == 0)
        error = seccomp_load(filter);
    if (error == 0)
        listener = seccomp_notify_fd(filter); /* nobody else closes it */
    seccomp_release(filter);
    if (listener < 0) {
        munmap((void *)arena, ARENA_BYTES);
        arena = 0;
        fprintf(stderr, "unseen-runner: guard pages can be opened here: no filter: %s\n", strerror(-error));
    }
    *base = arena;
    return listener;
}

char *arena_place(unsigned slot, size_t mapped)
{
    return arena && mapped <= ARENA_ROOM ? (char *)arena_address(arena, slot) : NULL;
}

bool arena_holds(const void *address)
{
    return arena && (uintptr_t)address - arena < ARENA_BYTES;
}

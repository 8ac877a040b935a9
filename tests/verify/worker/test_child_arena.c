/* Guard pages stay protected, whatever the candidate asks of the system: a touch of one ends it. */
#include "child_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "skip.h"
#include "verify/worker/child_internal.h"

/* n chooses the way to open the guard above y. Then it is touched. */
static const char opener[] =
    "#define _GNU_SOURCE\n#include <dirent.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n"
    "#include <sys/mman.h>\n#include <sys/shm.h>\n#include <sys/syscall.h>\n#include <sys/wait.h>\n#include "
    "<unistd.h>\n"
    "enum { RW = PROT_READ | PROT_WRITE, OWN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, PAGE = 4096 };\n"
    "static const size_t far = (size_t)3 << 43, window = (size_t)16 << 20;\n"
    "static void *own(size_t bytes) { return mmap(NULL, bytes, RW, OWN, -1, 0); }\n"
    "int opens(const float *x, float *y, int64_t n, void *stream)\n{\n"
    "    char *const guard = (char *)(((uintptr_t)(y + 1021) + PAGE - 1) & -(uintptr_t)PAGE);\n"
    "    char *const below = (char *)((uintptr_t)y & -((uintptr_t)1 << 45)) - PAGE;\n"
    "    (void)x, (void)stream;\n"
    "    switch (n) {\n"
    "    case 0: mprotect(guard, PAGE, RW); break;\n"
    "    case 1: mmap(below, PAGE, RW, OWN | MAP_FIXED, -1, 0); mprotect(below, far, RW); break;\n"
    "    case 2: syscall(SYS_pkey_mprotect, guard, PAGE, RW, -1); break;\n"
    "    case 3: mmap(below, PAGE, RW, OWN | MAP_FIXED, -1, 0);\n"
    "        syscall(SYS_pkey_mprotect, below, far, RW, -1); break;\n"
    "    case 4: munmap(guard, PAGE); mmap(guard, PAGE, RW, OWN, -1, 0); break;\n"
    "    case 5: munmap(below, far); mmap(guard, PAGE, RW, OWN, -1, 0); break;\n"
    "    case 6: mmap(guard, PAGE, RW, OWN | MAP_FIXED, -1, 0); break;\n"
    "    case 7: mmap(below, far, RW, OWN | MAP_FIXED, -1, 0); break;\n"
    "    case 8: mremap(own(PAGE), PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, guard); break;\n"
    "    case 9: mremap(guard, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, own(PAGE));\n"
    "        mmap(guard, PAGE, RW, OWN, -1, 0); break;\n"
    "    case 10: mremap(own(PAGE), PAGE, far, MREMAP_MAYMOVE | MREMAP_FIXED, below); break;\n"
    "    case 11: { const int id = shmget(IPC_PRIVATE, window, IPC_CREAT | 0600);\n"
    "        shmat(id, guard, SHM_REMAP); shmctl(id, IPC_RMID, NULL); break; }\n"
    "    case 12: { const pid_t pid = fork(); int status;\n"
    "        if (pid == 0) { mprotect(guard, PAGE, RW); *(volatile char *)guard = 1; _exit(0); }\n"
    "        return waitpid(pid, &status, 0) < 0 || status; }\n"
    "    case 13: mmap(below, PAGE, RW, OWN | MAP_FIXED, -1, 0); mremap(below, far, PAGE, 0);\n"
    "        mmap(guard, PAGE, RW, OWN, -1, 0); break;\n"
    "    }\n"
    "    *(volatile char *)guard = 1;\n"
    "    return 0;\n}\n"
    /* The owner of the descriptor by which the kernel asks could answer in the judge's place. */
    "int looks(const float *x, float *y, int64_t n, void *stream)\n{\n"
    "    char path[64], to[64];\n    (void)x, (void)y, (void)n, (void)stream;\n"
    "    for (int i = 0; i < 512; i++) {\n"
    "        snprintf(path, sizeof path, \"/proc/self/fd/%d\", i);\n"
    "        const ssize_t got = readlink(path, to, sizeof to - 1);\n"
    "        to[got > 0 ? got : 0] = 0;\n        if (strstr(to, \"seccomp\")) return i;\n    }\n    return "
    "0;\n}\n";
enum { WAYS = 14 };

static struct build openers;

static void start(const char *symbol)
{
    ck_assert_msg(fixture_start_object(openers.object, symbol, NULL) == CHILD_OK, "%s", it.text);
    if (it.child->arena.base == 0)
        SKIP_TEST("no filter that asks, or no 32 TiB of addresses");
    ck_assert_msg(child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
    ck_assert_msg(child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
}

static enum child_status opens(int way, int *returned)
{
    struct call call = fixture_make_call(PLACE_HIGH);
    call.argument[0].value.whole = way;
    return fixture_make(&call, 20, returned);
}

START_TEST(no_call_opens_a_guard)
{
    int returned = -1;
    start("opens");
    ck_assert_msg(opens(_i, &returned) == CHILD_OVERRUN, "way %d: returned %d; %s", _i, returned, it.text);
    ck_assert_int_eq(child_fault(it.child).slot, 1);
    ck_assert(!child_fault(it.child).below);
}
END_TEST

START_TEST(the_kernel_asks_nobody_but_the_judge)
{
    int returned = -1;
    start("looks");
    ck_assert_int_eq(fixture_call(PLACE_LOW, 20, &returned), CHILD_OK);
    ck_assert_int_eq(returned, 0);
}
END_TEST

/* The same windows again and again, as configurations come and go; the earlier content is gone. */
START_TEST(tensors_come_and_go_in_the_arena)
{
    int returned = -1;
    start("looks");
    for (int i = 0; i < 50; i++) {
        ck_assert_int_eq(fixture_call(PLACE_LOW, 20, &returned), CHILD_OK);
        ck_assert_int_eq(child_unmap(it.child, 0, it.text, sizeof it.text), CHILD_OK);
        ck_assert_int_eq(child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text), CHILD_OK);
        ck_assert_int_eq(child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text), CHILD_OK);
        ck_assert_int_eq(child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text), CHILD_OK);
    }
}
END_TEST

static void compile(void)
{
    fixture_compile(&openers, "opens.c", opener);
}

static void clear(void)
{
    char path[128];
    build_clear(&openers);
    snprintf(path, sizeof path, "%s/opens.c", it.folder);
    unlink(path);
}

TCase *child_arena_case(void)
{
    TCase *tests = tcase_create("arena");
    fixture_add(tests);
    tcase_add_unchecked_fixture(tests, compile, clear);
    tcase_add_loop_test(tests, no_call_opens_a_guard, 0, WAYS);
    tcase_add_test(tests, the_kernel_asks_nobody_but_the_judge);
    tcase_add_test(tests, tensors_come_and_go_in_the_arena);
    return tests;
}

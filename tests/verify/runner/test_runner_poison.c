/* The C library's cached memory is overwritten, and nothing else is, whatever other threads do meanwhile. It
 * runs in a program of its own, all of whose threads share one heap. Part of the suite `python`. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "suites.h"

static const char program[] =
    "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include "
    "<string.h>\n"
    "void poison_heap(void);\n"
    "enum { KEPT = 100, LARGE = 200000 };\n"
    "static atomic_int stop, wrong;\n"
    "static void *work(void *data)\n{\n"
    "    unsigned seed = (unsigned)(size_t)data;\n"
    "    unsigned char *kept[KEPT] = {0};\n    size_t size[KEPT];\n"
    "    while (!stop) {\n"
    "        const int i = rand_r(&seed) % KEPT;\n"
    "        if (!kept[i]) {\n"
    "            size[i] = (size_t)data % 2 ? 3000 : (size_t)(rand_r(&seed) % 40000 + 1);\n"
    "            if ((kept[i] = malloc(size[i])))\n                memset(kept[i], i, size[i]);\n"
    "            continue;\n        }\n"
    "        for (size_t j = 0; j < size[i]; j++)\n            wrong += kept[i][j] != i;\n"
    "        free(kept[i]);\n        kept[i] = NULL;\n    }\n    return NULL;\n}\n"
    /* poison_heap takes blocks of 3000 itself to find the heap, and these meet them. Returns how many bytes
     * that were all 1 are unchanged when the block comes back. */
    "static long left(void)\n{\n"
    "    long n = 0;\n    unsigned char *block = malloc(LARGE), *after = malloc(64);\n"
    "    memset(block, 1, LARGE);\n    free(block);\n    poison_heap();\n    block = malloc(LARGE);\n"
    "    for (int i = 64; i < LARGE - 64; i++)\n        n += block[i] == 1;\n"
    "    free(block);\n    free(after);\n    return n;\n}\n"
    "int main(void)\n{\n"
    "    pthread_t thread[3];\n    free(malloc(LARGE)); /* from now on such blocks come from the heap */\n"
    "    for (size_t i = 0; i < 3; i++)\n        pthread_create(&thread[i], NULL, work, (void *)(i + 1));\n"
    "    for (int i = 0; i < 100000; i++) {\n        poison_heap();\n        free(malloc(5000));\n    }\n"
    "    stop = 1;\n    for (int i = 0; i < 3; i++)\n        pthread_join(thread[i], NULL);\n    const long "
    "n = left();\n"
    "    printf(\"left %ld wrong %d\\n\", n, wrong);\n    return n || wrong;\n}\n";

START_TEST(free_memory_is_overwritten_and_nothing_else_is)
{
    char command[1400];
    cli_put("poison.c", program);
    const char *const root = cli_repository(".");
    snprintf(command, sizeof command,
             "cc -std=gnu11 -D_GNU_SOURCE -O1 -pthread -I'%.400s' -o poison poison.c "
             "'%.400s/verify/runner/runner_poison.c' "
             "'%.400s/verify/util/defence.c' && MALLOC_ARENA_MAX=1 ./poison",
             root, root, root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

TCase *python_poison_case(void)
{
    TCase *tests = tcase_create("poison");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_add_test(tests, free_memory_is_overwritten_and_nothing_else_is);
    return tests;
}

#include "skip.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST = 512, REASON_SIZE = 96 };

static struct skipped {
    atomic_int count;
    char reason[MOST][REASON_SIZE];
} * skipped; /* shared with the tests' processes */

void skip_open(void)
{
    skipped = mmap(NULL, sizeof *skipped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (skipped == MAP_FAILED) {
        perror("skipped tests cannot be counted");
        exit(2);
    }
}

void skip_test(const char *reason)
{
    const int i = atomic_fetch_add(&skipped->count, 1);
    if (i < MOST)
        snprintf(skipped->reason[i], REASON_SIZE, "%s", reason);
}

int skip_count(void)
{
    return atomic_load(&skipped->count);
}

static int count_reason(const char *reason, int from, int to)
{
    int count = 0;
    for (int i = from; i < to; i++)
        count += strcmp(skipped->reason[i], reason) == 0;
    return count;
}

void skip_print(void)
{
    const int known = skip_count() < MOST ? skip_count() : MOST;
    const char *comma = "";
    for (int i = 0; i < known; i++) {
        if (count_reason(skipped->reason[i], 0, i) > 0)
            continue;
        printf("%s%s (%d)", comma, skipped->reason[i], count_reason(skipped->reason[i], i, known));
        comma = ", ";
    }
}

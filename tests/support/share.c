#include "share.h"

#include <check.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verify/cli/options.h"

enum { MOST = 256, NAME_SIZE = 128 };

/* Names of the tests that asked for their part; shared with the tests' processes. */
static struct asked {
    atomic_int count;
    char name[MOST][NAME_SIZE];
} * asked;
static const char *program;

void share_open(const char *path)
{
    program = path;
    asked = mmap(NULL, sizeof *asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (asked == MAP_FAILED) {
        perror("parts of loops cannot be listed");
        exit(2);
    }
}

static bool has_asked(const char *name)
{
    const int count = atomic_load(&asked->count);
    for (int i = 0; i < count && i < MOST; i++)
        if (strcmp(asked->name[i], name) == 0)
            return true;
    return false;
}

/* Outside of a test, a suite that is being made prints its own command. */
static void record_test(void)
{
    const char *name = tcase_name(); /* of the test, in spite of its name */
    if (!name || has_asked(name))
        return;
    const int i = atomic_fetch_add(&asked->count, 1);
    if (i < MOST)
        snprintf(asked->name[i], NAME_SIZE, "%s", name);
}

int share_number(const char *name, int least, int otherwise)
{
    const char *text = getenv(name);
    return text && *text && atoi(text) >= least ? atoi(text) : otherwise;
}

/* FNV-1a of the commit's name; changes in the working tree do not count. */
static int rotation_of(const char *commit)
{
    uint32_t hash = 0x811c9dc5u;
    for (const char *end = strstr(commit, "-dirty"), *c = commit; *c && c != end; c++)
        hash = (hash ^ (unsigned char)*c) * 0x01000193u;
    return (int)((hash ^ hash >> 16) & 0x7fff);
}

static int rotation(void)
{
    return share_number("BATTERY_ROTATION", 0, rotation_of(unseen_git));
}

int share_size(void)
{
    return share_number("BATTERY_SHARE", 1, 1);
}

int share_rotation_of(int size)
{
    record_test();
    return rotation() % size;
}

bool share_has(int i, int size)
{
    return share_size() <= 1 || (i + share_rotation_of(size)) % size == 0;
}

void share_print(const char *suite, const char *tcase)
{
    static const char *const more[] = {"BATTERY_ONLY", "BATTERY_KERNEL", "BATTERY_SEED"};
    printf("again: BATTERY_SHARE=%d BATTERY_ROTATION=%d ", share_size(), rotation());
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (getenv(more[i]))
            printf("%s='%s' ", more[i], getenv(more[i]));
    if (tcase)
        printf("CK_RUN_CASE='%s' ", tcase);
    printf("%s %s\n", program, suite);
    fflush(stdout);
}

/* The log has "Running suite NAME" and then "FILE:LINE:RESULT:CASE:TEST:ITERATION: MESSAGE" for each test.
 * Tests of a case follow each other. */
void share_print_all(const char *log)
{
    char *line = NULL, suite[NAME_SIZE] = "", tcase[NAME_SIZE], test[NAME_SIZE], last[NAME_SIZE] = "";
    size_t size = 0;
    FILE *in = fopen(log, "re");
    while (in && getline(&line, &size, in) > 0) {
        if (sscanf(line, "Running suite %127s", suite) == 1) {
            last[0] = '\0';
            continue;
        }
        if (sscanf(line, "%*[^:]:%*d:%*c:%127[^:]:%127[^:]:", tcase, test) != 2 || !has_asked(test) ||
            strcmp(tcase, last) == 0)
            continue;
        strcpy(last, tcase);
        share_print(suite, tcase);
    }
    free(line);
    if (in)
        fclose(in);
}

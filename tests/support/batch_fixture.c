#include "batch_fixture.h"

#include <check.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

void batch_enter(void)
{
    strcpy(folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

void batch_leave(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void batch_limit_files(long bytes)
{
    const struct rlimit limit = {(rlim_t)bytes, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

void batch_put(const char *path, const char *text)
{
    FILE *const file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static bool no_option(const char *name, bool *takes_value)
{
    (void)name, (void)takes_value;
    return false;
}

struct batch_list batch_some(int count)
{
    struct batch_list list = {.count = 0};
    char name[20], error[500];
    const struct batch_defaults defaults = {"softmax", json_pack("[ss]", "--seed", "5"), no_option};
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "k%d", i);
        batch_put(name, name);
        ck_assert_msg(batch_list_add(&list, &defaults, name, error, sizeof error) == 0, "%s", error);
    }
    json_decref(defaults.words);
    return list;
}

json_t *batch_ended(const struct batch_item *item, int status, int attempts)
{
    json_t *const result = json_pack("{s:s, s:i}", "verdict", status ? "broken" : "general", "seed", 5);
    const bool lost = status < 0 || status > 1;
    const struct batch_end end = {.status = status,
                                  .reason = lost ? "no reason" : NULL,
                                  .result = result,
                                  .seconds = 1,
                                  .attempts = attempts};
    json_t *const line = batch_line(item, &end);
    json_decref(result);
    return line;
}

#include "work_folder.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char work_folder[64];

void work_folder_enter(void)
{
    strcpy(work_folder, "/tmp/unseen-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(work_folder));
    ck_assert_int_eq(chdir(work_folder), 0);
    setenv("TMPDIR", work_folder, 1);
    setenv("XDG_CACHE_HOME", work_folder, 1);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

void work_folder_leave(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    nftw(work_folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void work_folder_write(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(content, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

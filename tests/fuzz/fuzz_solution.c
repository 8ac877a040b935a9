/* FlashInfer-Bench's solutions, which write files: none outside of their folder. */
#include <dirent.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "verify/build/solution.h"

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static int entries(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    closedir(directory);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char outer[64], error[4096] = "";
    struct build build = {.object = ""};
    snprintf(outer, sizeof outer, "/dev/shm/unseen-fuzz-solution-%ld", (long)getpid());
    FUZZ_CHECK(mkdir(outer, 0700) == 0);
    snprintf(build.python.folder, sizeof build.python.folder, "%s/in", outer);
    FUZZ_CHECK(mkdir(build.python.folder, 0700) == 0);
    const enum build_status status = solution_unpack(&build, fuzz_file(data, size), error, sizeof error);
    if (status != BUILD_OK)
        fuzz_error(error);
    else
        FUZZ_CHECK(strncmp(build.object, outer, strlen(outer)) == 0 && *build.python.entry);
    FUZZ_CHECK(entries(outer) == 3);
    nftw(outer, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

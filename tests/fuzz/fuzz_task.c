/* The output of `unseen import`, which its owner may have edited: NAME.task. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "gen/contract/instantiate.h"
#include "verify/torch/task_internal.h"

static void put(const char *folder, const char *name, const void *data, size_t size)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    FUZZ_CHECK(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* Every extent 2, where it is a number. */
static void measure(const struct problem *problem)
{
    struct config config = {.problem = problem, .seed = 1};
    struct instance instance;
    for (int i = 0; problem->axes[i].name; i++)
        config.value[i] = problem->axes[i].kind == AXIS_NUMBER ? 2 : 0;
    if (config_measure(&config, &instance) == 0)
        instance_clear(&instance);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char source[] = "class Model:\n    pass\n";
    char folder[64], error[4096] = "";
    snprintf(folder, sizeof folder, "/dev/shm/unseen-fuzz-task-%ld", (long)getpid());
    FUZZ_CHECK(mkdir(folder, 0700) == 0);
    put(folder, "x.task", data, size);
    put(folder, "x.py", source, sizeof source - 1);
    const struct problem *problem = imported_read(folder, "x", NULL, error, sizeof error);
    if (problem) {
        measure(problem);
        imported_free((struct imported *)problem->task);
    } else {
        fuzz_error(error);
    }
    snprintf(error, sizeof error, "%s/x.task", folder);
    unlink(error);
    snprintf(error, sizeof error, "%s/x.py", folder);
    unlink(error);
    rmdir(folder);
    return 0;
}

/* Lists of configurations: .seen and .regress files, and the configuration of a command line. */
#include <string.h>

#include "fuzz.h"
#include "gen/contract/space.h"

static void look_at(const struct config *config, const struct space *space)
{
    char line[1024];
    struct config again;
    const int length = config_format(config, line, sizeof line);
    FUZZ_CHECK(length > 0 && length < (int)sizeof line);
    FUZZ_CHECK(config_parse(&again, config->problem, line, "again", NULL) == 0 &&
               config_equal(config, &again) && (!space || space_contains(space, config, NULL)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    struct space space;
    struct space_error error = {.text = ""};
    struct config_list list = {.count = 0};
    struct config config;
    const struct problem *problem = fuzz_problem(&data, &size);
    snprintf(path, sizeof path, "shapes/%s.space", problem->name);
    FUZZ_CHECK(space_read(&space, problem, path, &error) == 0); /* run from the top of the tree */
    if (config_list_read(&list, &space, fuzz_file(data, size), false, &error) != 0)
        fuzz_error(error.text);
    for (int i = 0; i < list.count; i++)
        look_at(&list.item[i], &space);
    char *line = fuzz_text(data, size);
    if (config_parse(&config, problem, line, "configuration", &error) == 0)
        look_at(&config, NULL);
    else
        fuzz_error(error.text);
    free(line);
    config_list_clear(&list);
    space_clear(&space);
    return 0;
}

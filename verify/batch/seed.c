#include "seed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/session/task.h"

static const char option[] = "--seed";

static bool has_seed(const json_t *words)
{
    size_t i;
    json_t *word;
    json_array_foreach((json_t *)words, i,
                       word) if (strcmp(json_string_value(word), option) == 0) return true;
    return false;
}

/* The seed in a line of a row without one of its own: it is the first option. NULL: it is another line. */
static const char *seed_of(const struct batch_list *list, const json_t *line)
{
    const char *const id = json_string_value(json_object_get(line, "id"));
    const json_t *const words = json_object_get(line, "options");
    const char *const first = json_string_value(json_array_get(words, 0));
    for (int i = 0; id && first && strcmp(first, option) == 0 && i < list->count; i++)
        if (strcmp(list->item[i].id, id) == 0)
            return has_seed(list->item[i].words) ? NULL : json_string_value(json_array_get(words, 1));
    return NULL;
}

/* The seed that the file's lines have. False: none of them has one. */
static bool read_seed(const struct batch_list *list, const char *path, char *seed, size_t size)
{
    char *text = NULL;
    size_t room = 0;
    bool found = false;
    FILE *const in = fopen(path, "re");
    while (in && !found && getline(&text, &room, in) > 0) {
        json_t *const line = json_loads(text, 0, NULL);
        const char *const of_line = seed_of(list, line);
        if (of_line)
            snprintf(seed, size, "%s", of_line);
        found = of_line;
        json_decref(line);
    }
    free(text);
    if (in)
        fclose(in);
    return found;
}

int batch_seed_share(struct batch_list *list, const char *resumed, char *error, size_t error_size)
{
    char text[32];
    uint64_t seed;
    if (!resumed || !read_seed(list, resumed, text, sizeof text)) {
        if (!task_draw_seed(&seed)) {
            snprintf(error, error_size, "the system gives no entropy\n---> use --seed");
            return -1;
        }
        snprintf(text, sizeof text, "%" PRIu64, seed);
    }
    for (int i = 0; i < list->count; i++) {
        json_t *const words = list->item[i].words;
        if (has_seed(words))
            continue;
        json_array_insert_new(words, 0, json_string(text));
        json_array_insert_new(words, 0, json_string(option));
    }
    return 0;
}

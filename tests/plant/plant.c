#include "plant.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/contract/instantiate.h"

/* With fewer values than this, none may have lost bits. */
enum { ENOUGH_ELEMENTS = 64 };

/* --- the field --- */

static void list_sources(struct plant_field *field)
{
    static const char *const host[] = {"baseline.c", "honest/*.c"};
    static const char *const cuda[] = {"baseline.cu", "fast.cu", "honest/*.cu"};
    const int patterns = field->cuda ? 3 : 2;
    for (int p = 0; p < patterns; p++) {
        char pattern[PLANT_PATH];
        glob_t matches;
        snprintf(pattern, sizeof pattern, "%s/problems/%s/%s", field->root, field->problem->name,
                 field->cuda ? cuda[p] : host[p]);
        if (glob(pattern, 0, NULL, &matches) != 0)
            continue;
        for (size_t i = 0; i < matches.gl_pathc && field->sources < PLANT_MAX_SOURCES; i++)
            snprintf(field->source[field->sources++], PLANT_PATH, "%s", matches.gl_pathv[i]);
        globfree(&matches);
    }
}

/* The tool's own choice: a seen set for the host where there is one. */
static void find_seen(const struct plant_field *field, char *path, size_t size)
{
    snprintf(path, size, "%s/shapes/%s.host.seen", field->root, field->problem->name);
    if (field->cuda || access(path, R_OK) != 0)
        snprintf(path, size, "%s/shapes/%s.seen", field->root, field->problem->name);
}

int plant_field_open(struct plant_field *field, const struct problem *problem, bool cuda, const char *root,
                     const struct draw_caps *caps)
{
    char path[PLANT_PATH];
    struct space_error error;
    *field = (struct plant_field){.problem = problem, .cuda = cuda, .caps = *caps};
    snprintf(field->root, sizeof field->root, "%s", root);
    snprintf(path, sizeof path, "%s/shapes/%s.space", root, problem->name);
    if (space_read(&field->space, problem, path, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return -1;
    }
    find_seen(field, path, sizeof path);
    list_sources(field);
    if (config_list_read(&field->seen, &field->space, path, false, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        plant_field_clear(field);
        return -1;
    }
    if (field->sources == 0) {
        fprintf(stderr, "no honest candidates under %s/problems/%s\n---> run in the repository's root\n",
                root, problem->name);
        plant_field_clear(field);
        return -1;
    }
    return 0;
}

void plant_field_clear(struct plant_field *field)
{
    space_clear(&field->space);
    config_list_clear(&field->seen);
}

/* --- one fault --- */

int plant_draw(struct plant *plant, const struct plant_field *field, uint64_t seed, int number)
{
    char purpose[96];
    snprintf(purpose, sizeof purpose, "%s/plant/%d", field->problem->name, number);
    struct pcg *pcg = pcg_new(seed, purpose);
    *plant = (struct plant){.problem = field->problem, .seed = seed, .number = number};
    int status = pcg ? plant_draw_condition(plant, field, pcg) : -1;
    if (status == 0) {
        plant->source = field->source[pcg_below(pcg, (uint64_t)field->sources)];
        plant_draw_damage(plant, field, pcg);
        plant->reachable = plant_search(plant, field, true, false, pcg, &plant->example);
    } else {
        plant_clear(plant);
    }
    pcg_free(pcg);
    return status;
}

void plant_clear(struct plant *plant)
{
    condition_free(plant->condition);
    plant->condition = NULL;
}

bool plant_may_show(const struct plant *plant, const struct config *config)
{
    return condition_holds(plant->condition, config);
}

static double output_elements(const struct plant *plant, const struct config *config)
{
    struct instance instance;
    if (config_measure(config, &instance) != 0)
        return 0;
    const double elements = (double)instance_tensor_count(&instance.tensor[plant->output]);
    instance_clear(&instance);
    return elements;
}

/* Choices whose values may hide lost bits. Zeros and small integers have none to lose. Where terms cancel or
 * grow without bound, the allowed error is larger than the loss. */
static bool hides_bits(const char *axis, const char *choice)
{
    if (strcmp(axis, "input") == 0)
        return strcmp(choice, "normal") != 0 && strcmp(choice, "large") != 0;
    if (strcmp(axis, "decay") == 0)
        return strcmp(choice, "published") != 0;
    return (strcmp(axis, "beta") == 0 && strcmp(choice, "zero") == 0) ||
           (strcmp(axis, "zero") == 0 && strcmp(choice, "equal") == 0) ||
           (strcmp(axis, "ignored") == 0 && strcmp(choice, "all") == 0);
}

/* Hopper adds fp8 products with 13 bits, which in long sums loses as much as the fault. Softmax of a single
 * number is 1 and the loss of a single class 0, and neither has bits to lose. */
static bool loses_bits(const struct plant *plant, const struct config *config)
{
    if ((strcmp(plant->problem->name, "softmax") == 0 && config_value(config, "cols") == 1) ||
        (strcmp(plant->problem->name, "cross_entropy") == 0 && config_value(config, "vocab") == 1))
        return true;
    const size_t length = strlen(plant->source);
    const bool cuda = length > 3 && strcmp(plant->source + length - 3, ".cu") == 0;
    return cuda && plant->problem->arithmetic_class == ARITHMETIC_FP8 && config_value(config, "k") > 4096;
}

bool plant_must_show(const struct plant *plant, const struct config *config)
{
    if (!plant_may_show(plant, config) || !plant->by_bits)
        return plant_may_show(plant, config);
    if (loses_bits(plant, config))
        return false;
    for (int i = 0; plant->problem->axes[i].name; i++) {
        const struct axis *axis = &plant->problem->axes[i];
        if (axis->kind == AXIS_CHOICE &&
            hides_bits(axis->name, problem_choice(plant->problem, i, config->value[i])))
            return false;
    }
    return output_elements(plant, config) >= ENOUGH_ELEMENTS;
}

bool plant_on_seen(const struct plant *plant, const struct plant_field *field)
{
    for (int i = 0; i < field->seen.count; i++)
        if (plant_may_show(plant, &field->seen.item[i]))
            return true;
    return false;
}

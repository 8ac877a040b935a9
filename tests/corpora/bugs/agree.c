/* unseen-agree PROBLEM CONDITION..
 *     One line for each configuration on standard input: a digit for each condition, 1 where it holds, and the
 *     configuration.
 * unseen-agree PROBLEM --steps FILE.space
 *     The steps of plant_steps.h within that contract for each configuration, a line each.
 * Exit status 2: no condition, no configuration, no contract or no problem. */
#include <stdio.h>
#include <string.h>

#include "gen/contract/condition.h"
#include "tests/plant/plant_steps.h"

enum { CONDITIONS = 8 };

static int read_conditions(const struct problem *problem, char **text, int count,
                           struct condition **condition)
{
    char why[512];
    for (int i = 0; i < count; i++) {
        condition[i] = condition_parse(problem, text[i], why, sizeof why);
        if (!condition[i]) {
            fprintf(stderr, "agree: '%s': %s\n", text[i], why);
            return 2;
        }
    }
    return 0;
}

/* 1: *config is the next one on standard input; 0: end of input; -1: the line is no configuration. */
static int read_config(const struct problem *problem, struct config *config, char *line, size_t size)
{
    struct space_error error;
    if (!fgets(line, (int)size, stdin))
        return 0;
    line[strcspn(line, "#\n")] = '\0';
    if (config_parse(config, problem, line, "configuration", &error) == 0)
        return 1;
    fprintf(stderr, "agree: %s\n", error.text);
    return -1;
}

static int print_holds(const struct problem *problem, struct condition *const *condition, int count)
{
    char line[4096];
    struct config config;
    int read;
    while ((read = read_config(problem, &config, line, sizeof line)) > 0) {
        for (int i = 0; i < count; i++)
            putchar(condition_holds(condition[i], &config) ? '1' : '0');
        printf(" %s\n", line);
    }
    return read < 0 ? 2 : 0;
}

static int print_steps(const struct problem *problem, const char *contract)
{
    static struct config steps[PLANT_STEPS];
    char line[4096];
    struct space space;
    struct space_error error;
    struct config config;
    int read;
    if (space_read(&space, problem, contract, &error) != 0) {
        fprintf(stderr, "agree: %s\n", error.text);
        return 2;
    }
    while ((read = read_config(problem, &config, line, sizeof line)) > 0)
        for (int i = 0, count = plant_steps(&space, &config, steps); i < count; i++) {
            config_format(&steps[i], line, sizeof line);
            puts(line);
        }
    space_clear(&space);
    return read < 0 ? 2 : 0;
}

int main(int argc, char **argv)
{
    struct condition *condition[CONDITIONS] = {NULL};
    const struct problem *problem = argc > 1 ? problem_find(argv[1]) : NULL;
    int status = 2;
    if (problem && argc == 4 && strcmp(argv[2], "--steps") == 0)
        return print_steps(problem, argv[3]);
    if (problem && argc > 2 && argc - 2 <= CONDITIONS)
        status = read_conditions(problem, argv + 2, argc - 2, condition);
    else
        fprintf(
            stderr,
            "agree: expected a problem and 1 to %d conditions\n---> unseen-agree softmax 'cols < 8' <FILE\n",
            CONDITIONS);
    if (!status)
        status = print_holds(problem, condition, argc - 2);
    for (int i = 0; i < CONDITIONS; i++)
        condition_free(condition[i]);
    return status;
}

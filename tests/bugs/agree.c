/* unseen-agree PROBLEM CONDITION.. : for each configuration on standard input, one line with a digit for each condition, 1 where
 * it holds, and the configuration. Exit status 2 for what is no condition, no configuration or no problem. */
#include <stdio.h>
#include <string.h>

#include "gen/contract/condition.h"

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

static int print_holds(const struct problem *problem, struct condition *const *condition, int count)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        struct config config;
        struct space_error error;
        line[strcspn(line, "#\n")] = '\0';
        if (config_parse(&config, problem, line, "configuration", &error)) {
            fprintf(stderr, "agree: %s\n", error.text);
            return 2;
        }
        for (int i = 0; i < count; i++)
            putchar(condition_holds(condition[i], &config) ? '1' : '0');
        printf(" %s\n", line);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct condition *condition[CONDITIONS] = {NULL};
    const struct problem *problem = argc > 1 ? problem_find(argv[1]) : NULL;
    int status = 2;
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

/* The contracts that the suites read from shapes/ and write as lines. */
#include "gen_fixture.h"

#include <stdio.h>
#include <string.h>

struct space published_space(const char *problem)
{
    struct space space;
    struct space_error error = {""};
    char path[64];
    snprintf(path, sizeof path, "shapes/%s.space", problem);
    ck_assert_msg(space_read(&space, problem_find(problem), path, &error) == 0, "%s", error.text);
    return space;
}

struct config_list published_seen(const struct space *space, const char *suffix)
{
    struct config_list list = {0};
    struct space_error error = {""};
    char path[64];
    snprintf(path, sizeof path, "shapes/%s%s", space->problem->name, suffix);
    ck_assert_msg(config_list_read(&list, space, path, false, &error) == 0, "%s", error.text);
    return list;
}

struct config parse(const char *problem, const char *line)
{
    struct config config;
    struct space_error error = {""};
    ck_assert_msg(config_parse(&config, problem_find(problem), line, "configuration", &error) == 0, "%s",
                  error.text);
    return config;
}

void expect_contains(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "'%s' lacks '%s'", text, part);
}

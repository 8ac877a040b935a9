/* Where a problem's files are. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "prove_internal.h"
#include "verify/problem/paths.h"

int prove_shape(const struct problem *problem, const char *ending, char *path, size_t size)
{
    char name[128];
    snprintf(name, sizeof name, "%s.%s", problem->name, ending);
    return paths_shape(path, size, name);
}

/* Beside shapes/. */
int prove_source(const struct problem *problem, const char *file, char *path, size_t size)
{
    char shape[1024];
    prove_shape(problem, "space", shape, sizeof shape);
    for (int i = 0; i < 2; i++)
        if (strrchr(shape, '/'))
            *strrchr(shape, '/') = '\0';
    snprintf(path, size, "%s/problems/%s/%s", shape, problem->name, file);
    return access(path, F_OK);
}

/* Problems without mathematics: no fuzzed target judges. */
#include "reference/judge.h"

#define PROBLEM(name) const struct reference reference_##name = {.problem = NULL};
#define JUDGED(name, output) const struct reference reference_##name##_##output = {.problem = NULL};
#include "problems/registry.def"

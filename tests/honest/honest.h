/* A program with switches: one honest kernel for every combination of the freedoms that a problem's declared
 * arithmetic admits. Beside them it has mutants, each with one numerical fault. tests/honest/NAME.c and
 * NAME.cu hold one for every problem. Each is a candidate like any other. Its choices are set
 *   - at compile time: -DHONEST_SETTING='"split=16 merge=late"' or -DHONEST_MUTANT='"tf32_operands"', or the
 *     same in two lines before an #include of the program (a switch that is not named keeps its first value);
 *   - at run time, by the program that loads it (tests/honest/margins_main.c), through the variables below.
 *
 * This header defines those variables: it belongs into the one translation unit of a program. */
#ifndef UNSEEN_TEST_HONEST_H
#define UNSEEN_TEST_HONEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "switches.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both tables are the program's. */
extern const struct honest_switch honest_switches[];
extern const struct honest_mutant honest_mutants[];

/* The value of each switch, an index into its `values`. */
int honest_choice[HONEST_MAX_SWITCHES];
/* 0: honest; else 1 + an index into honest_mutants. */
int honest_mutating;
/* A second place for the output, as double and before its last rounding, to show the share of the allowed
 * error that the arithmetic takes. NULL: none. On the GPU device memory. */
double *honest_unrounded;

/* Reads "name=value name=value" into honest_choice and a mutant's name into honest_mutating. Unknown words
 * end the program: a test that sets nothing would test nothing. */
static void honest_unknown(const char *what, const char *word)
{
    fprintf(stderr, "honest: no %s '%s'\n", what, word);
    abort();
}

static void honest_set_switch(const char *word)
{
    const char *equals = strchr(word, '=');
    for (int s = 0; equals && honest_switches[s].name; s++) {
        if (strncmp(honest_switches[s].name, word, (size_t)(equals - word)) != 0 ||
            honest_switches[s].name[equals - word] != '\0')
            continue;
        for (int v = 0; honest_switches[s].values[v]; v++)
            if (strcmp(honest_switches[s].values[v], equals + 1) == 0) {
                honest_choice[s] = v;
                return;
            }
    }
    honest_unknown("switch", word);
}

static void honest_set(const char *setting, const char *mutant)
{
    char text[1024], *rest = NULL;
    snprintf(text, sizeof text, "%s", setting);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        honest_set_switch(word);
    for (int m = 0; *mutant && !honest_mutating; m++) {
        if (!honest_mutants[m].name)
            honest_unknown("mutant", mutant);
        if (strcmp(honest_mutants[m].name, mutant) == 0)
            honest_mutating = m + 1;
    }
}

#ifndef HONEST_SETTING
#define HONEST_SETTING ""
#endif
#ifndef HONEST_MUTANT
#define HONEST_MUTANT ""
#endif
/* A setting that is linked in (tests/honest/verify.sh): compiled once, the program serves them all. */
extern const char honest_linked_setting[] __attribute__((weak));

__attribute__((constructor)) static void honest_at_load(void)
{
    honest_set(honest_linked_setting ? honest_linked_setting : HONEST_SETTING, HONEST_MUTANT);
}

#ifdef __cplusplus
}
#endif

#endif

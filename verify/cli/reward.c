#include "reward.h"

#include <stdio.h>
#include <string.h>

static int refuse_name(const char *word)
{
    char names[512] = "";
    for (int i = 0; i < SCORE_NAMES; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 score_traits((enum score_name)i)->name);
    options_error("--reward '%s'; expected one of %s\n"
                  "---> for example --reward score, or --reward score@seen",
                  word, names);
    return EXIT_USAGE;
}

/* What cannot come out as a number is said before minutes are spent. */
static int check(const struct reward *reward, const struct options *o)
{
    const struct score_traits *const score = score_traits(reward->name);
    const bool is_table = reward->name == SCORE_TABLE;
    if (is_table && !reward->has_table) {
        options_error("--reward table; expected the table\n---> add --reward-table FILE (doc/formats.md)");
        return EXIT_USAGE;
    }
    if (!o->timing && (is_table ? reward_table_is_timed(&reward->table) : score->timed)) {
        options_error("--reward %s is made of times; expected a run that takes them\n"
                      "---> leave out --no-timing, or take pass_rate or fast_0",
                      score->name);
        return EXIT_USAGE;
    }
    if (!o->baseline && (is_table ? reward_table_compares(&reward->table) : score->compares)) {
        options_error("--reward %s compares with a baseline; expected one\n"
                      "---> add --baseline FILE, or --baseline own for the problem's",
                      score->name);
        return EXIT_USAGE;
    }
    return 0;
}

int reward_open(struct reward *reward, const struct options *options)
{
    char error[1024];
    const char *const word = options->reward;
    *reward = (struct reward){.name = SCORE_NAMES};
    if (options->reward_table) {
        reward->has_table =
            reward_table_read(options->reward_table, &reward->table, error, sizeof error) == 0;
        if (!reward->has_table) {
            options_error("%s", error);
            return EXIT_USAGE;
        }
    }
    if (!word)
        return 0;
    const size_t length = strcspn(word, "@");
    reward->name = score_find(word, length);
    reward->seen = strcmp(word + length, "@seen") == 0;
    if (reward->name == SCORE_NAMES ||
        (word[length] && !reward->seen && strcmp(word + length, "@unseen") != 0))
        return refuse_name(word);
    return check(reward, options);
}

const struct reward_table *reward_table_of(const struct reward *reward)
{
    return reward->has_table ? &reward->table : NULL;
}

static void print(FILE *out, const char *name, bool seen, const struct score_value *score)
{
    if (score->state == SCORE_VALUE)
        fprintf(out, "%.6g", score->value == 0 ? 0 : score->value); /* never "-0" */
    else
        fprintf(out, "%s", score_state_name(score->state));
    fprintf(out, " %s%s: %s\n", name, seen ? "@seen" : "", score->reason);
}

void reward_print(FILE *out, const struct reward *reward, const struct result *result)
{
    const struct result_scores *const scores = &result->scores;
    print(out, score_traits(reward->name)->name, reward->seen,
          reward->seen ? &scores->seen[reward->name] : &scores->unseen[reward->name]);
}

void reward_print_uncompiled(FILE *out, const struct reward *reward)
{
    if (reward->name == SCORE_NAMES)
        return;
    const struct score_value score = scores_uncompiled(reward->name, reward_table_of(reward));
    print(out, score_traits(reward->name)->name, reward->seen, &score);
}

#include "reward.h"

#include <stdio.h>
#include <string.h>

#include "problems/suggest.h"

static int refuse_name(const char *word)
{
    char names[512] = "", meant[80];
    struct suggestion near = {.word = word};
    for (int i = 0; i < SCORE_NAMES; i++) {
        suggest_offer(&near, score_traits((enum score_name)i)->name);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 score_traits((enum score_name)i)->name);
    }
    options_error("--reward '%s'%s; expected one of %s\n"
                  "---> for example --reward score, or --reward score@seen",
                  word, suggest_text(&near, meant, sizeof meant), names);
    return EXIT_USAGE;
}

/* Rejects at once what cannot give a number, before minutes are spent. */
static int check(const struct reward *reward, const struct options *o)
{
    const struct score_traits *const score = score_traits(reward->name);
    const bool is_table = reward->name == SCORE_TABLE;
    if (is_table && !reward->has_table) {
        options_error("--reward table; expected the table\n---> add --reward-table FILE (doc/formats.md)");
        return EXIT_USAGE;
    }
    if (!o->timing && (is_table ? reward_table_is_timed(&reward->table) : score->timed)) {
        options_error(
            "--reward %s is made of times; expected a run that takes them\n"
            "---> leave out --no-timing (beside --effort reward add --timing), or take pass_rate or fast_0",
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
        fprintf(out, "%.6g", score->value == 0 ? 0 : score->value); /* avoids "-0" */
    else
        fprintf(out, "%s", score_state_name(score->state));
    fprintf(out, " %s%s: %s\n", name, seen ? "@seen" : "", score->reason);
}

void reward_print(FILE *out, const struct reward *reward, const struct result *result)
{
    const struct score_value score =
        scores_reward(result, !reward->seen, reward->name, reward_table_of(reward));
    print(out, score_traits(reward->name)->name, reward->seen, &score);
}

void reward_print_unusable(FILE *out, const struct reward *reward, bool is_object)
{
    const struct score_value score =
        scores_unusable(reward->name, reward_table_of(reward), is_object ? REWARD_LOAD : REWARD_COMPILE);
    print(out, score_traits(reward->name)->name, reward->seen, &score);
}

static void print_first_line(FILE *out, const struct reward *reward, enum score_state state,
                             const char *error)
{
    struct score_value score = {.state = state};
    snprintf(score.reason, sizeof score.reason, "%.*s", (int)strcspn(error, "\n"), error);
    print(out, score_traits(reward->name)->name, reward->seen, &score);
}

void reward_print_broken(FILE *out, const struct reward *reward, const char *error)
{
    print_first_line(out, reward, SCORE_INCONCLUSIVE, error);
}

void reward_print_given_up(FILE *out, const struct reward *reward, const struct result *result,
                           enum owner owner)
{
    if (owner == OWNER_SETTINGS)
        print_first_line(out, reward, SCORE_NONE, result->partial_reason);
    else
        reward_print(out, reward, result);
}

static int refuse_set(const struct reward *reward, const char *set, const char *found, const char *hint)
{
    options_error(
        "--reward %s is of the %s set, which %s; expected at least one configuration that it can be made of\n"
        "---> %s",
        score_traits(reward->name)->name, set, found, hint);
    return EXIT_USAGE;
}

int reward_check_sets(const struct reward *reward, const struct task *task)
{
    const struct drawn_list *const set = reward->seen ? &task->seen_set : &task->unseen_set;
    const char *const word = reward->seen ? "seen" : "unseen";
    const bool timed = reward->name == SCORE_TABLE ? reward_table_is_timed(&reward->table)
                                                   : score_traits(reward->name)->timed;
    if (set->count == 0)
        return refuse_set(reward, word, "is empty",
                          reward->seen ? "give another --seen FILE, or take the score of the unseen set"
                                       : "--unseen N with N above 0, or --small N, draws one");
    if (timed && drawn_scouts(set) == set->count)
        return refuse_set(reward, word, "holds scouts only, and scouts are never timed",
                          "--unseen N with N above 0, or a score without times, such as pass_rate");
    return 0;
}

/* What --scores prints: one line for each score, both sets side by side; where there is no number, why. */
#include <string.h>

#include "scores.h"
#include "text.h"

enum { TITLE = 34, COLUMN = 14, INDENT = 6 };

static const char *score_text(char *buffer, size_t size, const struct score_value *score)
{
    char digits[TEXT_NUMBER_SIZE];

    snprintf(buffer, size, "%s",
             score->state == SCORE_VALUE  ? text_number(digits, score->value, 4)
             : score->state == SCORE_NONE ? "-"
                                          : score_state_name(score->state));
    return buffer;
}

static void print_reason(FILE *out, const char *set, const struct score_value *score)
{
    char text[sizeof score->reason + 32];

    if (score->state == SCORE_VALUE)
        return;
    fprintf(out, "%*s", INDENT, "");
    snprintf(text, sizeof text, "%s%s", set, score->reason);
    text_wrap(out, INDENT, INDENT + 2, text);
}

static void print_one(FILE *out, enum score_name name, const struct score_value *seen,
                      const struct score_value *unseen)
{
    char first[32], second[32];

    fprintf(out, "    %-*s%*s%*s\n", TITLE, score_traits(name)->title, COLUMN,
            score_text(first, sizeof first, seen), COLUMN, score_text(second, sizeof second, unseen));
    if (seen->state == unseen->state && strcmp(seen->reason, unseen->reason) == 0) {
        print_reason(out, "", seen);
        return;
    }
    print_reason(out, "seen: ", seen);
    print_reason(out, "unseen: ", unseen);
}

static void print_quadrants(FILE *out, const char *set, const struct score_quadrants *q)
{
    fprintf(out, "    %-8s%10d%12d%13d%10d%10d\n", set, q->both, q->regression, q->improvement, q->neither,
            q->unknown);
}

void terminal_scores(FILE *out, const struct result *result)
{
    const struct result_scores *scores = &result->scores;

    if (!scores->present)
        return;
    fprintf(out, "\n  scores  (doc/scores.md)\n    %-*s%*s%*s\n", TITLE, "", COLUMN, "seen", COLUMN,
            "unseen");
    for (int i = 0; i < SCORE_NAMES; i++)
        print_one(out, (enum score_name)i, &scores->seen[i], &scores->unseen[i]);
    if (!scores->compared)
        return;
    fprintf(out, "\n    %-8s%10s%12s%13s%10s%10s\n", "passes", "both", "baseline", "candidate", "neither",
            "unknown");
    print_quadrants(out, "seen", &scores->seen_quadrants);
    print_quadrants(out, "unseen", &scores->unseen_quadrants);
}

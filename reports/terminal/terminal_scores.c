/* The table of --scores: one line per score, both sets side by side, and below it the reasons for missing
 * numbers. */
#include <string.h>

#include "reports/record/scores.h"
#include "reports/record/text.h"

enum { TITLE = 34, COLUMN = 18, INDENT = 6, NOTES = 2 * SCORE_NAMES };

/* Footnotes: each reason stands once below the table, and its number stands beside the scores it concerns. */
struct notes {
    const char *text[NOTES];
    int count;
};

static int note_number(struct notes *notes, const char *reason)
{
    for (int i = 0; i < notes->count; i++)
        if (strcmp(notes->text[i], reason) == 0)
            return i + 1;
    notes->text[notes->count++] = reason;
    return notes->count;
}

static const char *score_text(char *buffer, size_t size, const struct score_value *score, struct notes *notes)
{
    char digits[TEXT_NUMBER_SIZE];

    if (score->state == SCORE_VALUE)
        snprintf(buffer, size, "%s", text_number(digits, score->value, 4));
    else
        snprintf(buffer, size, "%s [%d]", score->state == SCORE_NONE ? "-" : score_state_name(score->state),
                 note_number(notes, score->reason));
    return buffer;
}

static void print_one(FILE *out, enum score_name name, const struct result_scores *scores,
                      struct notes *notes)
{
    char first[32], second[32];

    score_text(first, sizeof first, &scores->seen[name], notes);
    score_text(second, sizeof second, &scores->unseen[name], notes);
    fprintf(out, "    %-*s%*s%*s\n", TITLE, score_traits(name)->title, COLUMN, first, COLUMN, second);
}

static void print_notes(FILE *out, const struct notes *notes)
{
    for (int i = 0; i < notes->count; i++) {
        char text[sizeof(struct score_value) + 16];
        snprintf(text, sizeof text, "[%d] %s", i + 1, notes->text[i]);
        fprintf(out, "%*s", INDENT, "");
        text_wrap(out, INDENT, INDENT + 4, text);
    }
}

static void print_quadrants(FILE *out, const char *set, const struct score_quadrants *q)
{
    fprintf(out, "    %-8s%10d%12d%13d%10d%10d\n", set, q->both, q->regression, q->improvement, q->neither,
            q->unknown);
}

void terminal_scores(FILE *out, const struct result *result)
{
    const struct result_scores *scores = &result->scores;
    struct notes notes = {.count = 0};

    if (!scores->present)
        return;
    fprintf(out, "\n  scores  (doc/scores.md)\n    %-*s%*s%*s\n", TITLE, "", COLUMN, "seen", COLUMN,
            "unseen");
    for (int i = 0; i < SCORE_NAMES; i++)
        print_one(out, (enum score_name)i, scores, &notes);
    print_notes(out, &notes);
    if (!scores->compared)
        return;
    fprintf(out, "\n    %-8s%10s%12s%13s%10s%10s\n", "passes", "both", "baseline", "candidate", "neither",
            "unknown");
    print_quadrants(out, "seen", &scores->seen_quadrants);
    print_quadrants(out, "unseen", &scores->unseen_quadrants);
}

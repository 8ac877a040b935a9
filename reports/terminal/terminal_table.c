/* Both sets side by side. Sets are columns, so that any number of outcomes fits the width. */
#include <math.h>
#include <string.h>

#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "reports/record/scores.h"
#include "terminal_internal.h"
#include "reports/record/text.h"

enum { LABEL = 22, COLUMN = 16, NARROW_LABEL = 15, NARROW_COLUMN = 11 };

static void row(FILE *out, const char *label, const char *seen, const char *unseen)
{
    const bool narrow = text_width() < 2 + LABEL + 2 * COLUMN;
    const int column = narrow ? NARROW_COLUMN : COLUMN;

    fprintf(out, "  %-*s%*s%*s\n", narrow ? NARROW_LABEL : LABEL, label, column, seen, column, unseen);
}

static void row_count(FILE *out, const char *label, int seen, int unseen)
{
    char first[16], second[16];

    snprintf(first, sizeof first, "%d", seen);
    snprintf(second, sizeof second, "%d", unseen);
    row(out, label, first, second);
}

/* Without a time a dash is printed: 0 would read as a measurement. */
static const char *timed_text(char *buffer, size_t size, const struct set_score *set, double value,
                              const char *unit)
{
    char digits[TEXT_NUMBER_SIZE];

    snprintf(buffer, size, "%s%s", set->timed ? text_number(digits, value, 3) : "-", set->timed ? unit : "");
    return buffer;
}

static void row_timed(FILE *out, const char *label, const struct result *result, double seen, double unseen,
                      const char *unit)
{
    char first[48], second[48];

    row(out, label, timed_text(first, sizeof first, &result->seen, seen, unit),
        timed_text(second, sizeof second, &result->unseen, unseen, unit));
}

/* The score, or the word of score_open if the machine's load invalidated it (doc/scores.md). */
static const char *score_text(char *buffer, size_t size, const struct result *result, bool unseen)
{
    const struct set_score *set = unseen ? &result->unseen : &result->seen;

    if (!score_open(result, unseen))
        return timed_text(buffer, size, set, set->score, "");
    snprintf(buffer, size, "%s", score_open(result, unseen));
    return buffer;
}

/* The reason for a missing score; once if both sets have the same reason. */
static void print_open(FILE *out, const struct result *result)
{
    const struct score_value *const seen = &result->scores.seen[SCORE_OURS], *const unseen =
                                                                                 &result->scores
                                                                                      .unseen[SCORE_OURS];
    const bool open[2] = {score_open(result, false) != NULL, score_open(result, true) != NULL};
    const bool same = open[0] && open[1] && strcmp(seen->reason, unseen->reason) == 0;
    char text[sizeof seen->reason + 16];

    for (int i = 0; i < 2; i++) {
        const char *const set = same ? "both sets" : i ? "unseen" : "seen";
        if (!open[i] || (same && i))
            continue;
        snprintf(text, sizeof text, "%s: %s", set, i ? unseen->reason : seen->reason);
        terminal_line(out, "no score", text);
    }
}

static const char *range_text(char *buffer, size_t size, const struct set_score *set)
{
    if (!set->timed)
        snprintf(buffer, size, "-");
    else if (!isfinite(set->fraction_high))
        snprintf(buffer, size, "from one time");
    else if (set->fraction_high > 10 * set->fraction_low)
        snprintf(buffer, size, "too few times");
    else
        snprintf(buffer, size, "%.2g..%.2g%%", 100 * set->fraction_low, 100 * set->fraction_high);
    return buffer;
}

static void print_throughput(FILE *out, const struct result *result)
{
    const struct set_score *seen = &result->seen, *unseen = &result->unseen;
    char first[48], second[48];

    if (!seen->timed && !unseen->timed)
        return;
    row_timed(out, result->memory_bound ? "geomean GB/s" : "geomean TFLOP/s", result, seen->geomean_rate,
              unseen->geomean_rate, "");
    row_timed(out, "of attainable", result, 100 * seen->geomean_fraction, 100 * unseen->geomean_fraction,
              "%");
    row(out, "  95% interval", range_text(first, sizeof first, seen),
        range_text(second, sizeof second, unseen));
    row(out, "score", score_text(first, sizeof first, result, false),
        score_text(second, sizeof second, result, true));
    print_open(out, result);
}

static void print_comparison(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];

    if (summary_drop(text, result))
        terminal_line(out, "drop", text);
    if (summary_retention(text, result))
        terminal_line(out, "retention", text);
}

static void print_outcomes(FILE *out, const struct result *result)
{
    const struct set_score *seen = &result->seen, *unseen = &result->unseen;
    char text[SUMMARY_SIZE];

    row(out, "", "seen", "unseen");
    row_count(out, "configurations", seen->configs, unseen->configs);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (i == OUTCOME_PASS || seen->outcome[i] + unseen->outcome[i] > 0)
            row_count(out, outcome_name(i), seen->outcome[i], unseen->outcome[i]);
    if (summary_directed(text, result))
        terminal_line(out, "directed", text);
}

void terminal_table(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];

    print_outcomes(out, result);
    print_throughput(out, result);
    print_comparison(out, result);
    if (summary_no_score(text, result))
        terminal_line(out, "no score", text);
}

/* The brief table shows times only as a fraction of the attainable rate. */
static void print_speed(FILE *out, const struct result *result)
{
    const struct set_score *seen = &result->seen, *unseen = &result->unseen;
    char text[SUMMARY_SIZE], first[48], second[48];

    if (seen->timed || unseen->timed) {
        row_timed(out, "of possible speed", result, 100 * seen->geomean_fraction,
                  100 * unseen->geomean_fraction, "%");
        row(out, "score", score_text(first, sizeof first, result, false),
            score_text(second, sizeof second, result, true));
    }
    if (summary_no_score(text, result))
        terminal_line(out, "no score", text);
}

void terminal_table_brief(FILE *out, const struct result *result)
{
    const enum element_verdict verdict = result_verdict(result);

    print_outcomes(out, result);
    /* times of these candidates mean nothing */
    if (verdict != VERDICT_CHEATING && verdict != VERDICT_FORBIDDEN)
        print_speed(out, result);
}

/* Failures with the commands that reproduce them; skipped configurations with the reasons. */
#include <string.h>

#include "reports/record/summary.h"
#include "terminal_internal.h"
#include "reports/record/text.h"

enum { SHOWN_FAILURES = 6, SHOWN_REASONS = 6 };

/* Distributes the shown failures over outcomes: one of each first, so that hundreds of wrong results do not
 * crowd out a rare crash. */
static void share_out(const int count[OUTCOME_COUNT], int shown[OUTCOME_COUNT], int left)
{
    bool moved = true;

    memset(shown, 0, OUTCOME_COUNT * sizeof shown[0]);
    while (left > 0 && moved) {
        moved = false;
        for (int i = 0; i < OUTCOME_COUNT && left > 0; i++) {
            if (!outcome_is_rejected(i) || shown[i] == count[i])
                continue;
            shown[i]++;
            left--;
            moved = true;
        }
    }
}

void terminal_command(FILE *out, const struct result *result, const struct config_result *config)
{
    fputs("  ", out);
    summary_command(out, result, config);
    fputc('\n', out);
}

static void print_failure(FILE *out, const struct result *result, const struct config_result *config)
{
    enum { INDENT = 4 };
    char text[RESULT_DETAIL_SIZE + SUMMARY_SIZE], element[SUMMARY_SIZE];

    terminal_command(out, result, config);
    element[0] = '\0';
    if (config->worst.present)
        text_element(element, sizeof element, &config->worst);
    snprintf(text, sizeof text, "%s: %s%s%s", config->unseen ? text_or(config->why, "unseen") : "seen",
             text_or(config->detail, outcome_name(config->outcome)), element[0] != '\0' ? "; " : "", element);
    fprintf(out, "%*s", INDENT, "");
    text_wrap(out, INDENT, INDENT, text);
}

static void print_group(FILE *out, const struct result *result, enum outcome outcome, int count, int shown,
                        bool colour)
{
    fprintf(out, "%s%s: %d configuration%s%s", terminal_paint(PAINT_STRONG, colour), outcome_name(outcome),
            count, count == 1 ? "" : "s", terminal_plain(colour));
    if (shown < count)
        fprintf(out, " (%d shown)", shown);
    fputc('\n', out);
    for (int i = 0; i < result->result_count && shown > 0; i++) {
        if (result->results[i].outcome != outcome)
            continue;
        print_failure(out, result, &result->results[i]);
        shown--;
    }
}

void terminal_failures(FILE *out, const struct result *result, bool colour)
{
    int count[OUTCOME_COUNT] = {0}, shown[OUTCOME_COUNT];

    for (int i = 0; i < result->result_count; i++)
        count[result->results[i].outcome]++;
    share_out(count, shown, SHOWN_FAILURES);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (outcome_is_rejected(i) && count[i] > 0)
            print_group(out, result, i, count[i], shown[i], colour);
}

/* Skipped for the same reason with the same text? Texts with different figures get separate lines. */
static bool same_reason(const struct config_result *a, const struct config_result *b)
{
    return a->outcome == OUTCOME_SKIPPED && b->outcome == OUTCOME_SKIPPED &&
           a->reason.cause == b->reason.cause && strcmp(a->detail, b->detail) == 0;
}

/* Number of results before `end` that were skipped for the same reason as `config`. */
static int count_reason(const struct result *result, const struct config_result *config, int end)
{
    int count = 0;

    for (int i = 0; i < end; i++)
        count += same_reason(&result->results[i], config);
    return count;
}

void terminal_skipped(FILE *out, const struct result *result)
{
    int reasons = 0, hidden = 0;

    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];
        char text[RESULT_DETAIL_SIZE + RESULT_LINE_SIZE + 64];

        if (config->outcome != OUTCOME_SKIPPED || count_reason(result, config, i) > 0)
            continue;
        const int same = count_reason(result, config, result->result_count);
        if (reasons++ >= SHOWN_REASONS) {
            hidden += same;
            continue;
        }
        snprintf(text, sizeof text, "%d: %s (the first: %s %s)", same,
                 text_or(config->detail, "no reason recorded"), config->unseen ? "unseen" : "seen",
                 config->line);
        terminal_line(out, "skipped", text);
    }
    if (hidden > 0) {
        char text[96];

        snprintf(text, sizeof text, "%d more for other reasons (--json lists them)", hidden);
        terminal_line(out, "skipped", text);
    }
}

/* What failed and how to see it again; what was skipped and why. */
#include <string.h>

#include "terminal_internal.h"
#include "text.h"

enum { SHOWN_FAILURES = 6, SHOWN_EXPLAINED = 2, SHOWN_REASONS = 6 };

static bool failed(enum outcome outcome)
{
    return outcome != OUTCOME_PASS && outcome != OUTCOME_SKIPPED;
}

/* How many of each outcome to show: one of each first, so that a rare crash is not crowded out by
 * hundreds of wrong results. */
static void share_out(const int count[OUTCOME_COUNT], int shown[OUTCOME_COUNT], int left)
{
    bool moved = true;

    memset(shown, 0, OUTCOME_COUNT * sizeof shown[0]);
    while (left > 0 && moved) {
        moved = false;
        for (int i = 0; i < OUTCOME_COUNT && left > 0; i++) {
            if (!failed(i) || shown[i] == count[i])
                continue;
            shown[i]++;
            left--;
            moved = true;
        }
    }
}

void terminal_command(FILE *out, const struct result *result, const char *label,
                      const struct config_result *config, const char *repro_suffix)
{
    const bool timed = config->timed_config[0] != '\0';

    terminal_label(out, label);
    fprintf(out, "unseen check ");
    text_shell(out, text_or(result->problem_word, text_or(result->problem, "PROBLEM")));
    fputc(' ', out);
    text_shell(out, result->candidate_path);
    fputc(' ', out);
    text_shell(out, timed ? config->timed_config : config->config);
    fprintf(out, "%s%s%s\n", timed ? " --timing" : "", text_or(repro_suffix, "")[0] != '\0' ? " " : "",
            text_or(repro_suffix, ""));
}

static void print_failure(FILE *out, const struct result *result, const struct config_result *config,
                          const char *repro_suffix)
{
    char element[400];

    terminal_label(out, config->unseen ? "unseen" : "seen");
    text_plain(out, config->config);
    fputc('\n', out);
    terminal_line(out, "  drawn as", text_or(config->why, "no reason recorded"));
    if (config->detail[0] != '\0')
        terminal_line(out, "  found", config->detail);
    if (config->worst.present) {
        text_element(element, sizeof element, &config->worst);
        terminal_line(out, "  worst", element);
    }
    terminal_command(out, result, "  reproduce", config, repro_suffix);
}

static void print_group(FILE *out, const struct result *result, enum outcome outcome, int count, int shown,
                        bool colour, const char *repro_suffix)
{
    fprintf(out, "%s%s: %d configuration%s%s", terminal_paint(PAINT_STRONG, colour), outcome_name(outcome),
            count, count == 1 ? "" : "s", terminal_plain(colour));
    if (shown < count)
        fprintf(out, " (%d shown)", shown);
    fputc('\n', out);
    for (int i = 0; i < result->result_count && shown > 0; i++) {
        if (result->results[i].outcome != outcome)
            continue;
        print_failure(out, result, &result->results[i], repro_suffix);
        shown--;
    }
}

void terminal_failures(FILE *out, const struct result *result, bool colour, const char *repro_suffix)
{
    int count[OUTCOME_COUNT] = {0}, shown[OUTCOME_COUNT];

    for (int i = 0; i < result->result_count; i++)
        count[result->results[i].outcome]++;
    share_out(count, shown, result->diagnosis.present ? SHOWN_EXPLAINED : SHOWN_FAILURES);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (failed(i) && count[i] > 0)
            print_group(out, result, i, count[i], shown[i], colour, repro_suffix);
}

/* True when an earlier configuration was skipped for the same reason. */
static bool repeats(const struct result *result, int index)
{
    for (int i = 0; i < index; i++)
        if (result->results[i].outcome == OUTCOME_SKIPPED &&
            strcmp(result->results[i].detail, result->results[index].detail) == 0)
            return true;
    return false;
}

static int same_reason(const struct result *result, const char *reason)
{
    int count = 0;

    for (int i = 0; i < result->result_count; i++)
        count +=
            result->results[i].outcome == OUTCOME_SKIPPED && strcmp(result->results[i].detail, reason) == 0;
    return count;
}

void terminal_skipped(FILE *out, const struct result *result)
{
    int reasons = 0, hidden = 0;

    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];
        char text[RESULT_DETAIL_SIZE + RESULT_CONFIG_SIZE + 64];

        if (config->outcome != OUTCOME_SKIPPED || repeats(result, i))
            continue;
        if (reasons++ >= SHOWN_REASONS) {
            hidden += same_reason(result, config->detail);
            continue;
        }
        snprintf(text, sizeof text, "%d: %s (the first: %s %s)", same_reason(result, config->detail),
                 text_or(config->detail, "no reason recorded"), config->unseen ? "unseen" : "seen",
                 config->config);
        terminal_line(out, "skipped", text);
    }
    if (hidden > 0) {
        char text[96];

        snprintf(text, sizeof text, "%d more for other reasons (--json lists them)", hidden);
        terminal_line(out, "skipped", text);
    }
}

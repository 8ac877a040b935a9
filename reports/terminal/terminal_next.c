/* The next steps: each a comment and a command to paste. */
#include <string.h>

#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "terminal_internal.h"
#include "reports/record/text.h"

static void advice(FILE *out, const char *text)
{
    enum { INDENT = 2 };

    fprintf(out, "%*s", INDENT, "");
    text_wrap(out, INDENT, INDENT, text);
}

static void step(FILE *out, const char *text)
{
    fprintf(out, "  # %s\n  ", text);
}

/* The command of the run with one more option. */
static void print_again(FILE *out, const struct result *result, const char *text, const char *option)
{
    step(out, text);
    summary_command_again(out, result);
    fprintf(out, " %s\n", option);
}

/* Compares two lines up to the seed: lines of one point may differ in their seeds. */
static bool is_same_point(const char *a, const char *b)
{
    const char *const end_a = strstr(a, " seed="), *const end_b = strstr(b, " seed=");
    const size_t length = end_a != NULL ? (size_t)(end_a - a) : strlen(a);

    return length == (end_b != NULL ? (size_t)(end_b - b) : strlen(b)) && strncmp(a, b, length) == 0;
}

/* `freeze` accepts no point of the seen set, since that runs anyway. A task in a single file has no folder
 * for regressions. */
static bool may_be_frozen(const struct result *result, const char *line)
{
    const char *const word = text_or(result->problem_word, "");
    const size_t length = strlen(word);

    if (length > 3 && strcmp(word + length - 3, ".py") == 0)
        return false;
    for (int i = 0; i < result->result_count; i++)
        if (!result->results[i].unseen && is_same_point(result->results[i].line, line))
            return false;
    return true;
}

static const struct config_result *first_failure(const struct result *result)
{
    for (int i = 0; i < result->result_count; i++)
        if (outcome_is_rejected(result->results[i].outcome))
            return &result->results[i];
    return NULL;
}

static void print_failure_steps(FILE *out, const struct result *result)
{
    const struct config_result *const first = first_failure(result);
    const char *const smallest = result->diagnosis.present ? result->diagnosis.minimal.line : NULL;

    if (smallest == NULL && first != NULL) {
        step(out, "run one failure again; find the smallest failure of its kind");
        summary_command(out, result, first);
        fputs("\n  ", out);
        summary_command_shrink(out, result, first->line);
        fputc('\n', out);
    }
    if (smallest != NULL && may_be_frozen(result, smallest)) {
        step(out, "run the smallest failure first from now on");
        summary_command_freeze(out, result, smallest);
        fputc('\n', out);
    }
}

/* Times of two runs are comparable relative to the problem's own baseline, which both runs time. Without
 * times no baseline is needed. */
static void print_passed_steps(FILE *out, const struct result *result)
{
    const bool timed = result->seen.timed || result->unseen.timed;
    const bool has_baseline = result->baseline.own;

    print_again(out, result, "keep this result, and hold a later version of the candidate against it",
                timed && !has_baseline ? "--baseline own --json baseline.json" : "--json baseline.json");
    fputs("  ", out);
    summary_command_compare(out, result, "baseline.json");
    fputs(timed ? "\n" : " --no-timing\n", out);
}

static void print_inconclusive(FILE *out, const struct result *result)
{
    int unseen = 0;

    for (int i = 0; i < result->result_count; i++)
        unseen += result->results[i].unseen;
    if (result->forbid_blind)
        advice(out, "This machine hides what the candidate loads, so --forbid proves nothing here.");
    else if (result->result_count > 0 && unseen == 0)
        advice(out, "You asked for no unseen configuration. Give --unseen N or --small N above 0.");
    else
        advice(out, "This is no word about the candidate. Mend the reason above, then run it again.");
}

static void print_advice(FILE *out, const struct result *result, enum element_verdict verdict)
{
    switch (verdict) {
    case VERDICT_LIMITED:
        advice(out, "The candidate returned nonzero there: its own choice. Where it is meant to, take these "
                    "configurations out of the contract (--contract FILE).");
        break;
    case VERDICT_CHEATING:
        advice(out, "This is the candidate's doing: no honest kernel and no other program causes it "
                    "(doc/threat-model.md).");
        break;
    case VERDICT_FORBIDDEN:
        advice(out, "Take it out of the candidate, or out of --forbid where it may be used.");
        break;
    case VERDICT_INCONCLUSIVE: print_inconclusive(out, result); break;
    default: break;
    }
}

void terminal_next(FILE *out, const struct result *result)
{
    const enum element_verdict verdict = result_verdict(result);

    fprintf(out, "\nNext:\n");
    print_advice(out, result, verdict);
    print_failure_steps(out, result);
    if (verdict == VERDICT_GENERAL)
        print_passed_steps(out, result);
    print_again(out, result, "every configuration as a page; for the full report add -v instead",
                "--html unseen.html");
}

/* The default report, one screen: verdict, rule, smallest failure, both sets, next steps. terminal.c prints
 * the rest with -v. */
#include <string.h>

#include "reports/record/content_text.h"
#include "reports/record/plain_rule.h"
#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "terminal.h"
#include "terminal_internal.h"
#include "reports/record/text.h"
#include "reports/record/oracle_quality.h"

enum { SHOWN_FINDINGS = 4, SHOWN_OUTCOMES = 4, SHOWN_CAUSES = 3, SHOWN_REMARKS = 3 };

static void paragraph(FILE *out, const char *text)
{
    enum { INDENT = 2 };

    fprintf(out, "%*s", INDENT, "");
    text_wrap(out, INDENT, INDENT, text);
}

/* ---- What is wrong ---- */

static void print_findings(FILE *out, const struct result *result)
{
    terminal_findings(out, result, SHOWN_FINDINGS, "-v");
    if (result->finding_count > 0)
        fputc('\n', out);
}

static void print_rule(FILE *out, const struct result *result, bool colour)
{
    const struct diagnosis *const d = &result->diagnosis;
    const bool strong = colour && d->rule.present;
    char text[SUMMARY_SIZE];

    plain_rule(text, result);
    fputs(terminal_paint(PAINT_STRONG, strong), out);
    paragraph(out, text);
    fputs(terminal_plain(strong), out);
    for (int i = 0; i < d->kinds; i++) {
        plain_rule_kind(text, &d->kind[i]);
        paragraph(out, text);
    }
}

static void print_smallest(FILE *out, const struct diagnosis *d)
{
    char text[SUMMARY_SIZE];

    terminal_label(out, "smallest");
    text_plain(out, d->minimal.line); /* on one line, so that it can be copied */
    fputc('\n', out);
    summary_smallest(text, d);
    terminal_line(out, "  found", text);
    if (d->minimal.worst.present && d->minimal.outcome != OUTCOME_UNWRITTEN) {
        text_element_plain(text, sizeof text, &d->minimal.worst);
        terminal_line(out, "  worst", text);
    }
    if (d->pattern.present)
        terminal_line(out, "  where", d->pattern.text);
}

static void print_diagnosis(FILE *out, const struct result *result, bool colour)
{
    const struct diagnosis *d = &result->diagnosis;
    char text[SUMMARY_SIZE];

    if (!d->present)
        return;
    print_rule(out, result, colour);
    fputc('\n', out);
    print_smallest(out, d);
    terminal_command(out, result, &d->minimal);
    if (result->finding_count == 0 && content_text(text, d))
        terminal_line(out, "values", text);
    fputc('\n', out);
}

/* ---- Failures by outcome ---- */

/* The failure of an outcome that moves least bytes; the first one of a tie. NULL: there is none. */
static const struct config_result *example_of(const struct result *result, enum outcome outcome)
{
    const struct config_result *best = NULL;

    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];

        if (config->outcome == outcome && (best == NULL || config->bytes < best->bytes))
            best = config;
    }
    return best;
}

static void print_example(FILE *out, const char *label, const struct config_result *config, int count)
{
    terminal_label(out, label);
    fprintf(out, "%d %s, for example ", count, outcome_name(config->outcome));
    text_plain(out, config->line); /* on one line, so that it can be copied */
    fputs(config->unseen ? "\n" : " (seen)\n", out);
    if (config->detail[0] != '\0')
        terminal_line(out, "", config->detail);
}

/* Does the diagnosis cover this outcome, by its smallest failure or by one of its kinds? */
static bool is_told(const struct diagnosis *d, enum outcome outcome)
{
    bool told = d->minimal.outcome == outcome;

    for (int i = 0; i < d->kinds; i++)
        told = told || d->kind[i].outcome == outcome;
    return d->present && told;
}

static void print_failures(FILE *out, const struct result *result)
{
    int count[OUTCOME_COUNT] = {0}, shown = 0;

    for (int i = 0; i < result->result_count; i++)
        count[result->results[i].outcome]++;
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        const enum outcome outcome = (enum outcome)i;

        if (!outcome_is_rejected(outcome) || count[i] == 0 || is_told(&result->diagnosis, outcome) ||
            shown++ >= SHOWN_OUTCOMES)
            continue;
        print_example(out, result->diagnosis.present ? "also" : "fails", example_of(result, outcome),
                      count[i]);
    }
}

/* ---- Skipped configurations: cause, who is responsible, what to do ---- */

/* The party or the circumstance that caused a skip. NULL: the detail already names it. */
static const char *cause_words(enum cause cause)
{
    switch (cause) {
    case CAUSE_MEMORY: return "this machine; free memory, or give fewer --jobs";
    case CAUSE_CAPS: return "this machine";
    case CAUSE_OPEN:
    case CAUSE_NO_REFERENCE: return "the judge, not the candidate";
    case CAUSE_TIME:
    case CAUSE_PATIENCE: return "the candidate; mend that first";
    case CAUSE_BUDGET: return "give more --budget";
    default: return NULL;
    }
}

static void print_unjudged(FILE *out, const struct result *result, int most)
{
    int count[CAUSE_COUNT] = {0}, shown = 0;
    const char *detail[CAUSE_COUNT] = {0};

    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];

        if (config->outcome == OUTCOME_SKIPPED && count[config->reason.cause]++ == 0)
            detail[config->reason.cause] = config->detail;
    }
    for (int i = 0; i < CAUSE_COUNT; i++) {
        const char *const words = cause_words((enum cause)i);
        char text[RESULT_DETAIL_SIZE + 96];

        if (count[i] == 0 || shown++ >= most)
            continue;
        snprintf(text, sizeof text, "%d: %s%s%s%s", count[i], text_or(detail[i], "no reason recorded"),
                 words ? " (whose doing: " : "", words ? words : "", words ? ")" : "");
        terminal_line(out, "not judged", text);
    }
}

/* ---- The whole report ---- */

static void print_remarks(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];
    int lines = 0;

    for (const char *rest = result->remarks; *rest != '\0';) {
        const size_t length = strcspn(rest, "\n");

        snprintf(text, sizeof text, "%.*s", (int)length, rest);
        if (length > 0 && ++lines <= SHOWN_REMARKS)
            terminal_line(out, "note", text);
        rest += length + (rest[length] == '\n');
    }
    if (lines > SHOWN_REMARKS) {
        snprintf(text, sizeof text, "%d more (-v shows them)", lines - SHOWN_REMARKS);
        terminal_line(out, "note", text);
    }
}

/* Only for a precision downgrade. If no class explains the errors, an arithmetic would mislead. */
static void print_arithmetic(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];

    if (!result->downgrade || result->unexplained)
        return;
    summary_arithmetic(text, result);
    terminal_line(out, "arithmetic", text);
}

/* How the right answers of an imported task are known. False: it is another problem; or the values of a
 * failure take the screen's last lines, and -v says it. */
static bool print_answers(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];
    const bool known = !result->diagnosis.content.present && oracle_quality_brief(result, text, sizeof text);

    if (known)
        terminal_line(out, "answers", text);
    return known;
}

/* Of most use where nothing fails. Otherwise the failure takes the screen's lines, and -v has the
 * branches. */
static void print_branches(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];

    if (!result->diagnosis.present && result->finding_count == 0 && result->forbid[0] == '\0' &&
        summary_branches(text, result))
        terminal_line(out, "coverage", text);
}

static void print_ran(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE], device[SUMMARY_SIZE];

    summary_device(device, result);
    snprintf(text, sizeof text, "%.300s, in %.1f s", device, result->seconds);
    terminal_line(out, "run on", text);
}

void terminal_summary(FILE *out, const struct result *result, bool colour)
{
    fputs("  ", out);
    /* on one line, so that it can be copied */
    text_plain(out, text_or(result->candidate_path, "unknown candidate"));
    fputs("\n\n", out);
    terminal_verdict(out, result, colour);
    fputc('\n', out);
    print_findings(out, result);
    print_diagnosis(out, result, colour);
}

void terminal_brief(FILE *out, const struct result *result, bool colour)
{
    fputc('\n', out);
    terminal_verdict(out, result, colour);
    fputc('\n', out);
    print_findings(out, result);
    print_diagnosis(out, result, colour);
    terminal_table_brief(out, result);
    print_failures(out, result);
    print_unjudged(out, result, print_answers(out, result) ? SHOWN_CAUSES - 1 : SHOWN_CAUSES);
    print_arithmetic(out, result);
    terminal_forbid(out, result);
    print_branches(out, result);
    print_remarks(out, result);
    print_ran(out, result);
    terminal_next(out, result);
}

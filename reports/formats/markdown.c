#include "markdown.h"

#include <stdlib.h>
#include <string.h>

#include "reports/record/content_text.h"
#include "reports/html/markup.h"
#include "reports/record/plain_rule.h"
#include "reports/record/published.h"
#include "reports/record/quadrants.h"
#include "reports/record/summary.h"
#include "reports/record/scores.h"
#include "reports/record/text.h"

enum { SHOWN_FAILURES = 8, SHOWN_CANDIDATES = 12, SHOWN_FINDINGS = 4, SHOWN_COMMANDS = 4 };

static void print_line(FILE *out, const char *name, const char *line)
{
    fprintf(out, "- **%s**: ", name);
    markup_code(out, line);
    fputc('\n', out);
}

static void print_field(FILE *out, const char *name, const char *text)
{
    fprintf(out, "- **%s**: ", name);
    markup_markdown(out, text);
    fputc('\n', out);
}

/* Prints commands in a fence that is longer than any run of backticks in a path. */
static void print_commands(FILE *out, char *const *command, int count)
{
    size_t longest = 2;
    char fence[64];

    for (int i = 0; i < count; i++)
        for (const char *c = command[i]; *c != '\0'; c++) {
            const size_t run = strspn(c, "`");

            longest = run > longest ? run : longest;
            c += run > 0 ? run - 1 : 0;
        }
    longest = longest + 1 < sizeof fence ? longest + 1 : sizeof fence - 1;
    memset(fence, '`', longest);
    fence[longest] = '\0';
    fprintf(out, "%ssh\n", fence);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s\n", command[i]);
    fprintf(out, "%s\n", fence);
}

/* Shows the simplest failure, then one of every outcome. */
static void print_failures(FILE *out, const struct result *result)
{
    char *command[SHOWN_FAILURES];
    int count = 0, shown[OUTCOME_COUNT] = {0}, failures = 0;

    if (result->diagnosis.present &&
        (command[count] = summary_command_text(result, &result->diagnosis.minimal)) != NULL)
        count++;
    for (int i = 0; i < result->result_count; i++) {
        const enum outcome outcome = config_outcome(&result->results[i], published_decides(result));

        if (!outcome_is_rejected(outcome))
            continue;
        failures++;
        if (shown[outcome]++ < 2 && count < SHOWN_FAILURES &&
            (command[count] = summary_command_text(result, &result->results[i])) != NULL)
            count++;
    }
    if (count > 0) {
        fprintf(out, "\n%d configuration%s fail%s; to see it again:\n\n", failures, failures == 1 ? "" : "s",
                failures == 1 ? "s" : "");
        print_commands(out, command, count);
    }
    for (int i = 0; i < count; i++)
        free(command[i]);
}

static void print_figure(FILE *out, const struct set_score *set, double value, const char *unit)
{
    char digits[TEXT_NUMBER_SIZE];

    fprintf(out, " %s%s |", set->timed ? text_number(digits, value, 3) : "-", set->timed ? unit : "");
}

/* If the machine's load invalidated the score, `open` says so in place of a number (doc/scores.md). */
static void print_score(FILE *out, const struct set_score *set, const char *open)
{
    if (open)
        fprintf(out, " %s |", open);
    else
        print_figure(out, set, set->score, "");
}

static void print_sets(FILE *out, const struct result *result)
{
    const struct set_score *seen = &result->seen, *unseen = &result->unseen;

    fputs("\n| | seen | unseen |\n|---|---:|---:|\n", out);
    fprintf(out, "| configurations | %d | %d |\n", seen->configs, unseen->configs);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (i == OUTCOME_PASS || seen->outcome[i] + unseen->outcome[i] > 0)
            fprintf(out, "| %s | %d | %d |\n", outcome_name((enum outcome)i), seen->outcome[i],
                    unseen->outcome[i]);
    if (!seen->timed && !unseen->timed)
        return;
    fputs("| of attainable |", out);
    print_figure(out, seen, 100 * seen->geomean_fraction, "%");
    print_figure(out, unseen, 100 * unseen->geomean_fraction, "%");
    fputs("\n| score |", out);
    print_score(out, seen, score_open(result, false));
    print_score(out, unseen, score_open(result, true));
    fputc('\n', out);
}

static void print_one(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE], other[SUMMARY_SIZE];

    summary_verdict(text, result);
    markup_markdown(out, text);
    fputs("\n\n", out);
    if (result->diagnosis.present) {
        plain_rule(text, result);
        print_field(out, "when", text);
        print_line(out, "smallest", result->diagnosis.minimal.line);
        if (result->diagnosis.minimal.pair.present)
            print_field(out, "after", result->diagnosis.minimal.pair.after_line);
        summary_smallest(text, &result->diagnosis);
        print_field(out, "found", text);
        if (content_text(text, &result->diagnosis))
            print_field(out, "values", text);
        if (result->diagnosis.content.special[0] != '\0')
            print_field(out, "special", result->diagnosis.content.special);
    }
    for (int i = 0; i < result->finding_count && i < SHOWN_FINDINGS; i++)
        print_field(out, finding_name(result->finding[i].kind), result->finding[i].evidence);
    if (summary_partial(text, result))
        print_field(out, "partial", text);
    const char *const check = summary_checks(text, other, result);
    if (check != NULL) {
        print_field(out, "our check", text);
        print_field(out, check, other);
    }
    if (summary_no_score(text, result))
        print_field(out, "no score", text);
    if (summary_drop(text, result))
        print_field(out, "drop", text);
    if (summary_retention(text, result))
        print_field(out, "retention", text);
    print_sets(out, result);
    print_failures(out, result);
}

static void print_provenance(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];

    fputs("\n<sub>", out);
    markup_code(out, result->candidate_path);
    summary_candidate(text, result);
    fputs(" (", out);
    markup_markdown(out, text);
    fputs(") on ", out);
    summary_device(text, result);
    markup_markdown(out, text);
    snprintf(text, sizeof text, "; effort %.40s, seed %llu, unseen set %.16s, unseen %.40s",
             text_or(result->effort, "not named"), (unsigned long long)result->seed,
             text_or(result->commitment, "not recorded"), text_or(result->version, ""));
    markup_markdown(out, text);
    fputs("</sub>\n", out);
}

/* ---- Several results ---- */

static void print_row(FILE *out, const struct result *result)
{
    const struct passed seen = passed_of(result, false), unseen = passed_of(result, true);
    char text[SUMMARY_SIZE] = "";

    fputs("| ", out);
    markup_code(out, result->candidate_path);
    fprintf(out, " | **%s** | %d/%d | %d/%d |", verdict_name(result_verdict(result)), seen.pass, seen.judged,
            unseen.pass, unseen.judged);
    print_figure(out, &result->seen, 100 * result->seen.geomean_fraction, "%");
    print_figure(out, &result->unseen, 100 * result->unseen.geomean_fraction, "%");
    if (result->diagnosis.present)
        summary_rule(text, &result->diagnosis);
    fputc(' ', out);
    markup_markdown(out, text);
    fputs(" |\n", out);
}

static void print_quadrants(FILE *out, const struct result *first, const struct result *other)
{
    fputs("| ", out);
    markup_code(out, other->candidate_path);
    fputs(" |", out);
    for (int unseen = 0; unseen < 2; unseen++) {
        const struct quadrants q = quadrants_of(first, other, unseen);

        fprintf(out, " %d | %d | %d | %d |", q.both, q.first, q.second, q.neither);
    }
    fputc('\n', out);
}

static void print_several(FILE *out, const struct result *const *results, int count)
{
    const int shown = count < SHOWN_CANDIDATES ? count : SHOWN_CANDIDATES;
    char *command[SHOWN_COMMANDS];
    int commands = 0;

    fputs("| candidate | verdict | seen | unseen | attainable, seen | unseen | when |\n"
          "|---|---|---:|---:|---:|---:|---|\n",
          out);
    for (int i = 0; i < shown; i++)
        print_row(out, results[i]);
    if (shown < count)
        fprintf(out, "\n%d more are left out.\n", count - shown);
    fputs("\nOn configurations that both judged, beside the first candidate:\n\n"
          "| candidate | seen: both | first only | this only | neither | unseen: both | first only | this "
          "only | "
          "neither |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n",
          out);
    for (int i = 1; i < shown; i++)
        print_quadrants(out, results[0], results[i]);
    for (int i = 0; i < shown && commands < SHOWN_COMMANDS; i++)
        if (results[i]->diagnosis.present &&
            (command[commands] = summary_command_text(results[i], &results[i]->diagnosis.minimal)) != NULL)
            commands++;
    if (commands > 0) {
        fputs("\nThe simplest failures:\n\n", out);
        print_commands(out, command, commands);
    }
    for (int i = 0; i < commands; i++)
        free(command[i]);
}

void markdown_print(FILE *out, const struct result *const *results, int count)
{
    fputs("### unseen: ", out);
    markup_markdown(out, text_or(results[0]->problem, "unknown problem"));
    if (count == 1)
        fprintf(out, ": %s", verdict_name(result_verdict(results[0])));
    fputs("\n\n", out);
    if (count == 1)
        print_one(out, results[0]);
    else
        print_several(out, results, count);
    print_provenance(out, results[0]);
}

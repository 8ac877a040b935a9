#include "html.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reports/record/content_text.h"
#include "html_internal.h"
#include "markup.h"
#include "reports/record/plain_rule.h"
#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "reports/record/scores.h"
#include "reports/record/text.h"
#include "reports/record/oracle_quality.h"

static const char *paint_class(enum paint paint)
{
    return paint == PAINT_GOOD ? "good" : paint == PAINT_BAD ? "bad" : "doubtful";
}

static void field(FILE *out, const char *name, const char *text)
{
    html_element(out, "dt", NULL, name);
    html_element(out, "dd", NULL, text);
}

/* ---- Top of the page ---- */

static void print_findings(FILE *out, const struct result *result)
{
    for (int i = 0; i < result->finding_count; i++) {
        fputs("<p class=\"finding\"><b class=\"bad\">", out);
        markup_text(out, finding_name(result->finding[i].kind));
        fputs("</b> ", out);
        markup_text(out, result->finding[i].evidence);
        fputs("</p>\n", out);
    }
}

static void print_pattern(FILE *out, const struct pattern *pattern)
{
    if (!pattern->present)
        return;
    field(out, "where", pattern->text);
    if (pattern->rows < 1 || (pattern->rows == 1 && strlen(pattern->map[0]) < 2))
        return;
    fputs("<dt>map</dt><dd><pre>", out);
    for (int i = 0; i < pattern->rows; i++) {
        markup_text(out, pattern->map[i]);
        fputc('\n', out);
    }
    fputs("</pre>. right, o some wrong, # all wrong</dd>\n", out);
}

static void print_diagnosis(FILE *out, const struct result *result)
{
    const struct diagnosis *d = &result->diagnosis;
    char text[SUMMARY_SIZE];

    if (!d->present)
        return;
    plain_rule(text, result);
    html_element(out, "p", d->rule.present ? "rule" : "rule none", text);
    for (int i = 0; i < d->kinds; i++) {
        plain_rule_kind(text, &d->kind[i]);
        html_element(out, "p", d->kind[i].rule.present ? "rule" : "rule none", text);
    }
    fputs("<dl><dt>smallest</dt><dd><code>", out);
    markup_text(out, d->minimal.line);
    fputs("</code></dd>\n", out);
    if (d->minimal.pair.present)
        field(out, "after", d->minimal.pair.after_line);
    summary_smallest(text, d);
    field(out, "found", text);
    print_pattern(out, &d->pattern);
    if (content_text(text, d))
        field(out, "values", text);
    if (d->content.special[0] != '\0')
        field(out, "special", d->content.special);
    fputs("</dl>\n", out);
    html_command(out, result, &d->minimal, "Run the smallest failure again:");
    html_command(out, result, NULL, "The same with just these values:");
}

/* Identifies the run: date, seed, command line. */
static void print_run(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE], device[SUMMARY_SIZE];

    summary_device(device, result);
    snprintf(text, sizeof text, "%.20s%seffort %.40s, seed %" PRIu64 ", on %.300s", result->started,
             result->started[0] != '\0' ? ", " : "", text_or(result->effort, "not named"), result->seed,
             device);
    html_element(out, "p", "run", text);
    html_command_again(out, result);
}

static void print_verdict(FILE *out, const struct result *result)
{
    const enum element_verdict verdict = result_verdict(result);
    char text[SUMMARY_SIZE];

    fprintf(out, "<header class=\"verdict\"><p class=\"what\">");
    markup_text(out, text_or(result->problem, "unknown problem"));
    fputs(" &#183; ", out);
    markup_text(out, text_or(result->candidate_path, "unknown candidate"));
    fprintf(out, "</p><h1 class=\"%s\">%s</h1>\n", paint_class(verdict_paint(verdict)),
            verdict_name(verdict));
    summary_verdict(text, result);
    html_element(out, "p", "why", text);
    if (summary_partial(text, result))
        html_element(out, "p", "partial", text);
    print_diagnosis(out, result);
    print_findings(out, result);
    print_run(out, result);
    fputs("</header>\n", out);
}

/* ---- Scores of both sets ---- */

static void print_counts(FILE *out, const char *name, int seen, int unseen)
{
    fprintf(out, "<tr><th>%s</th><td class=\"number\">%d</td><td class=\"number\">%d</td></tr>\n", name, seen,
            unseen);
}

static void print_figure(FILE *out, const struct set_score *set, double value, const char *unit)
{
    char text[TEXT_NUMBER_SIZE];

    fprintf(out, "<td class=\"number\">%s%s</td>", set->timed ? text_number(text, value, 3) : "-",
            set->timed ? unit : "");
}

/* If the machine's load invalidated the score, `open` says so in place of a number (doc/scores.md). */
static void print_score(FILE *out, const struct set_score *set, const char *open)
{
    if (open)
        fprintf(out, "<td class=\"number\">%s</td>", open);
    else
        print_figure(out, set, set->score, "");
}

static void print_figures(FILE *out, const char *name, const struct result *result, double seen,
                          double unseen, const char *unit)
{
    fprintf(out, "<tr><th>%s</th>", name);
    print_figure(out, &result->seen, seen, unit);
    print_figure(out, &result->unseen, unseen, unit);
    fputs("</tr>\n", out);
}

static void print_checks(FILE *out, const struct result *result)
{
    char ours[SUMMARY_SIZE], other[SUMMARY_SIZE];
    const char *const name = summary_checks(ours, other, result);

    if (name == NULL)
        return;
    field(out, "our check", ours);
    field(out, name, other);
}

static void print_sets(FILE *out, const struct result *result)
{
    const struct set_score *seen = &result->seen, *unseen = &result->unseen;
    char text[SUMMARY_SIZE];

    fputs(
        "<section class=\"sets\"><h2>Both "
        "sets</h2>\n<div class=\"both\"><table><thead><tr><th></th><th>seen</th><th>unseen</th></tr></thead>"
        "<tbody>\n",
        out);
    print_counts(out, "configurations", seen->configs, unseen->configs);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (i == OUTCOME_PASS || seen->outcome[i] + unseen->outcome[i] > 0)
            print_counts(out, outcome_name((enum outcome)i), seen->outcome[i], unseen->outcome[i]);
    print_figures(out, result->memory_bound ? "geomean GB/s" : "geomean TFLOP/s", result, seen->geomean_rate,
                  unseen->geomean_rate, "");
    print_figures(out, "of attainable", result, 100 * seen->geomean_fraction, 100 * unseen->geomean_fraction,
                  "%");
    fputs("<tr><th>score</th>", out);
    print_score(out, seen, score_open(result, false));
    print_score(out, unseen, score_open(result, true));
    fputs("</tr>\n", out);
    fputs("</tbody></table>\n<dl>", out);
    if (seen->timed || unseen->timed)
        field(
            out, "attainable",
            "the least time that this hardware needs for the bytes and operations of a configuration; the "
            "share says how near the candidate comes (geometric mean). The score is the pass rate times it.");
    if (summary_no_score(text, result))
        field(out, "no score", text);
    if (summary_drop(text, result))
        field(out, "drop", text);
    if (summary_retention(text, result))
        field(out, "retention", text);
    print_checks(out, result);
    summary_arithmetic(text, result);
    if (!result->unexplained) /* if no arithmetic class fits the results, naming one would mislead */
        field(out, "arithmetic", text);
    if (oracle_quality_line(result, text, sizeof text))
        field(out, "answers", text);
    fputs("</dl></div></section>\n", out);
}

/* ---- Branches of the candidate ---- */

static void print_branches(FILE *out, const struct result *result)
{
    const struct result_branches *const b = &result->branches;
    char text[SUMMARY_SIZE];

    if (!b->present)
        return;
    fputs("<section class=\"branches\"><h2>Branch coverage</h2>\n<dl>", out);
    snprintf(text, sizeof text,
             "%d of %d branches, in %d of %d configurations, %d of them drawn for branches", b->taken,
             b->count, b->called, b->configurations, b->added);
    field(out, "reached", text);
    if (b->note[0] != '\0')
        field(out, "note", b->note);
    if (b->nevers > 0) {
        fputs("<dt>never</dt><dd class=\"lines\">", out);
        for (int i = 0; i < b->nevers; i++) {
            summary_branch(text, sizeof text, &b->never[i]);
            html_element(out, "p", NULL, text);
        }
        fputs("</dd>\n", out);
    }
    fputs("</dl></section>\n", out);
}

/* ---- Bottom of the page ---- */

static void print_provenance(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];

    fputs("<section class=\"provenance\"><h2>What was judged</h2>\n<dl>", out);
    field(out, "candidate", text_or(result->candidate_path, "unknown"));
    summary_candidate(text, result);
    field(out, "built", text);
    field(out, "sha256", text_or(result->candidate_sha256, "not recorded"));
    summary_device(text, result);
    field(out, "device", text);
    if (summary_ceilings(text, result))
        field(out, "ceilings", text);
    snprintf(text, sizeof text, "%" PRIu64, result->seed);
    field(out, "seed", text);
    field(out, "commitment", text_or(result->commitment, "none"));
    field(out, "effort", text_or(result->effort, "not named"));
    if (result->sandbox[0] != '\0')
        field(out, "isolation", result->sandbox);
    if (result->forbid[0] != '\0')
        field(out, "forbidden", result->forbid);
    if (result->notes[0] != '\0') {
        fputs("<dt>notes</dt><dd class=\"lines\">", out);
        for (const char *rest = result->notes; *rest != '\0';) {
            char line[sizeof result->notes];
            const size_t length = strcspn(rest, "\n");

            snprintf(line, sizeof line, "%.*s", (int)length, rest);
            html_element(out, "p", NULL, line);
            rest += length + (rest[length] == '\n');
        }
        fputs("</dd>\n", out);
    }
    snprintf(text, sizeof text, "%s (%s), %.1f s", text_or(result->version, "unknown"),
             text_or(result->git, "unknown"), result->seconds);
    field(out, "unseen", text);
    fputs("</dl></section>\n", out);
}

static void print_result(FILE *out, const struct result *result, int number)
{
    fprintf(out, "<article id=\"result%d\">\n", number);
    print_verdict(out, result);
    print_sets(out, result);
    html_map(out, result);
    fputs("<div class=\"charts\">\n", out);
    html_roofline(out, result);
    html_speed(out, result);
    fputs("</div>\n", out);
    html_worst(out, result, number);
    html_reproduce(out, result);
    html_rows(out, result, number);
    print_branches(out, result);
    print_provenance(out, result);
    fputs("</article>\n", out);
}

void html_print(FILE *out, const struct result *const *results, int count)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; "
          "script-src 'unsafe-inline'\">\n<title>unseen: ",
          out);
    markup_text(out, text_or(results[0]->problem, "unknown problem"));
    if (count == 1)
        fprintf(out, ": %s", verdict_name(result_verdict(results[0])));
    fputs("</title>\n", out);
    html_style(out);
    fputs("</head>\n<body>\n<main>\n", out);
    if (count > 1)
        html_side_by_side(out, results, count);
    for (int i = 0; i < count; i++)
        print_result(out, results[i], i);
    fputs("</main>\n<div id=\"tip\" hidden></div>\n", out);
    html_script(out);
    fputs("</body>\n</html>\n", out);
}

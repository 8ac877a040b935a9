/* The part of the terminal report for newcomers: the fault found, the condition under which it shows, and a
 * command that reproduces it. */
#include <stdio.h>
#include <string.h>

#include "reports/record/content_text.h"
#include "reports/record/summary.h"
#include "terminal_internal.h"
#include "reports/record/text.h"

static void print_rule(FILE *out, const struct diagnosis *d, bool colour)
{
    const bool strong = colour && d->rule.present;
    char text[SUMMARY_SIZE];

    summary_rule(text, d);
    fputs(terminal_paint(PAINT_STRONG, strong), out);
    terminal_line(out, "when", text);
    fputs(terminal_plain(strong), out);
    for (int i = 0; i < RULE_UNEXPLAINED && d->rule.unexplained[i][0]; i++)
        terminal_line(out, "  other", d->rule.unexplained[i]);
    for (int i = 0; i < d->kinds; i++) {
        summary_kind(text, &d->kind[i]);
        terminal_line(out, "  kind", text);
        terminal_line(out, "", d->kind[i].line);
    }
}

static void print_smallest(FILE *out, const struct diagnosis *d)
{
    char text[SUMMARY_SIZE];

    terminal_label(out, "smallest");
    text_plain(out, d->minimal.line); /* on one line, so that it can be copied */
    fputc('\n', out);
    if (d->minimal.pair.present) {
        terminal_label(out, "  after");
        text_plain(out, d->minimal.pair.after_line);
        fputc('\n', out);
    }
    summary_smallest(text, d);
    terminal_line(out, "  found", text);
    if (d->minimal.worst.present && d->minimal.outcome != OUTCOME_UNWRITTEN) {
        text_element(text, sizeof text, &d->minimal.worst);
        terminal_line(out, "  worst", text);
    }
}

/* The map is as wide as its longest row; on a narrower terminal it is omitted. */
static void print_map(FILE *out, const struct pattern *pattern)
{
    static const char legend[] = ". right, o some wrong, # all wrong";
    const int width = TERMINAL_LABEL + 2 + (int)strlen(pattern->map[0]);
    const bool beside = width + 2 + (int)strlen(legend) <= text_width();

    if (width > text_width())
        return;
    for (int i = 0; i < pattern->rows; i++) {
        terminal_label(out, i == 0 ? "  map" : "");
        fprintf(out, "|%s|%s%s\n", pattern->map[i], i == 0 && beside ? "  " : "",
                i == 0 && beside ? legend : "");
    }
    if (!beside)
        terminal_line(out, "", legend);
}

static void print_pattern(FILE *out, const struct pattern *pattern)
{
    if (!pattern->present)
        return;
    terminal_line(out, "  where", pattern->text);
    if (pattern->rows > 1 || pattern->map[0][1] != '\0') /* a single cell needs no map */
        print_map(out, pattern);
}

void terminal_values(FILE *out, const struct result *result, const char *text)
{
    terminal_line(out, "values", text);
    if (result->diagnosis.content.values[0] == '\0')
        return;
    fputs("  ", out);
    content_command(out, result);
    fputc('\n', out);
}

static void print_content(FILE *out, const struct result *result)
{
    const struct diagnosis *d = &result->diagnosis;
    char text[SUMMARY_SIZE];

    if (!content_text(text, d))
        return;
    terminal_values(out, result, text);
    if (d->content.special[0] != '\0')
        terminal_line(out, "  special", d->content.special);
}

void terminal_diagnosis(FILE *out, const struct result *result, bool colour)
{
    const struct diagnosis *d = &result->diagnosis;

    if (!d->present)
        return;
    print_rule(out, d, colour);
    print_smallest(out, d);
    print_pattern(out, &d->pattern);
    terminal_command(out, result, &d->minimal);
    print_content(out, result);
    fputc('\n', out);
}

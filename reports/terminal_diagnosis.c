/* What is wrong, when, and which line shows it: the part of a report that a newcomer reads. */
#include <stdio.h>

#include "rule_text.h"
#include "terminal_internal.h"
#include "text.h"

/* The rule, and the failures that it leaves unexplained. */
static void print_rule(FILE *out, const struct diagnosis *d, bool colour)
{
    const struct result_rule *rule = &d->rule;
    char text[RULE_TEXT_SIZE];

    rule_text(text, d);
    fputs(terminal_paint(PAINT_STRONG, colour && rule->present), out);
    terminal_line(out, "when", text);
    fputs(terminal_plain(colour && rule->present), out);
    for (int i = 0; i < RESULT_UNEXPLAINED && rule->unexplained[i][0]; i++)
        terminal_line(out, "  other", rule->unexplained[i]);
}

static void print_smallest(FILE *out, const struct diagnosis *d)
{
    char text[RESULT_LINE_SIZE + RESULT_DETAIL_SIZE + 8], element[400];

    terminal_label(out, "smallest");
    text_plain(out, d->minimal.line);
    fputc('\n', out);
    snprintf(text, sizeof text, "%s%s", text_or(d->minimal.detail, outcome_name(d->minimal.outcome)),
             d->locally_minimal || d->minimal.reason.stage == STAGE_TIMED
                 ? ""
                 : " (the search ended early: a simpler one may fail too)");
    terminal_line(out, "  found", text);
    if (d->minimal.worst.present && d->minimal.outcome != OUTCOME_UNWRITTEN) {
        text_element(element, sizeof element, &d->minimal.worst);
        terminal_line(out, "  worst", element);
    }
}

static void print_pattern(FILE *out, const struct pattern *pattern)
{
    if (!pattern->present)
        return;
    terminal_line(out, "  where", pattern->text);
    if (pattern->rows == 1 && pattern->map[0][1] == '\0')
        return; /* one element: nothing to draw */
    for (int i = 0; i < pattern->rows; i++) {
        terminal_label(out, i == 0 ? "  map" : "");
        fprintf(out, "|%s|%s\n", pattern->map[i], i == 0 ? "  . right, o some wrong, # all wrong" : "");
    }
}

void terminal_diagnosis(FILE *out, const struct result *result, bool colour, const char *repro_suffix)
{
    const struct diagnosis *d = &result->diagnosis;

    if (!d->present)
        return;
    print_rule(out, d, colour);
    print_smallest(out, d);
    print_pattern(out, &d->pattern);
    terminal_command(out, result, "  see it", &d->minimal, repro_suffix);
    fputc('\n', out);
}

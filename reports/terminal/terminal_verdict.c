/* The verdict and its reason in one sentence, for a first-time reader. */
#include <string.h>

#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "terminal_internal.h"
#include "reports/record/text.h"

static void print_published(FILE *out, const struct result *result)
{
    char ours[SUMMARY_SIZE], other[SUMMARY_SIZE];
    const char *const name = summary_checks(ours, other, result);

    if (name == NULL)
        return;
    terminal_line(out, "our check", ours);
    terminal_line(out, name, other);
}

void terminal_verdict(FILE *out, const struct result *result, bool colour)
{
    const enum element_verdict verdict = result_verdict(result);
    char text[SUMMARY_SIZE];

    summary_verdict(text, result);
    fprintf(out, "%s%s%s: ", terminal_paint(verdict_paint(verdict), colour), verdict_name(verdict),
            terminal_plain(colour));
    text_wrap(out, (int)strlen(verdict_name(verdict)) + 2, 2, text);
    if (verdict != VERDICT_INCONCLUSIVE && summary_partial(text, result))
        terminal_line(out, "partial", text);
    print_published(out, result);
}

/* The verdict in words: one sentence that says why, for a reader who never saw the tool. */
#include <string.h>

#include "published.h"
#include "said.h"
#include "terminal_internal.h"
#include "text.h"
#include "told.h"

static void print_published(FILE *out, const struct result *result)
{
    struct published_tally tally = published_count(result);
    char text[256], alone[96] = "the published tolerance";

    if (!result->published_judged)
        return;
    snprintf(text, sizeof text, "%s (%selement by element against the reference)",
             verdict_name(result->verdict), published_decides(result) ? "" : "decides: ");
    terminal_line(out, "our check", text);
    if (result->own_tolerance.present)
        snprintf(alone, sizeof alone, "atol=%g rtol=%g of the contract", result->own_tolerance.atol,
                 result->own_tolerance.rtol);
    snprintf(text, sizeof text,
             "%s (%s%s alone); passes %d of the %d "
             "configurations that we reject",
             verdict_name(result->published_verdict), published_decides(result) ? "decides: " : "", alone,
             tally.accepted, tally.rejected);
    terminal_line(out, result->own_tolerance.present ? "your check" : "published", text);
}

void terminal_verdict(FILE *out, const struct result *result, bool colour)
{
    const enum verdict verdict = result_verdict(result);
    char text[SAID_SIZE];

    said_verdict(text, result);
    fprintf(out, "%s%s%s: ", terminal_paint(verdict_paint(verdict), colour), verdict_name(verdict),
            terminal_plain(colour));
    text_wrap(out, (int)strlen(verdict_name(verdict)) + 2, 2, text);
    if (verdict != VERDICT_INCONCLUSIVE && said_partial(text, result))
        terminal_line(out, "partial", text);
    print_published(out, result);
    if (told_line(result, text, sizeof text))
        terminal_line(out, "answers", text);
}

#include "comparison_terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/record/rule_text.h"
#include "terminal_internal.h"
#include "reports/record/text.h"

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

/* --- before anything runs --- */

static void print_side(FILE *out, const char *label, const struct comparison_side *side)
{
    terminal_label(out, label);
    text_plain(out, side->path);
    if (side->sha256[0] != '\0')
        fprintf(out, " (sha256 %.16s)", side->sha256);
    fprintf(out, "\n");
}

void comparison_header(FILE *out, const struct comparison *c)
{
    static const char *const how[] = {
        [COMPARISON_NOW] = "timed now, in turns on the same inputs",
        [COMPARISON_STORED] = "stored times as they are: the machine's state in each run is not known",
        [COMPARISON_DRIFT] = "times of two runs, each held against the problem's own baseline in its run"};

    fprintf(out, "unseen %s: %s\n", text_or(c->version, ""), text_or(c->problem, "unknown problem"));
    print_side(out, "old", &c->side[0]);
    print_side(out, "new", &c->side[1]);
    terminal_line(out, "device", text_or(c->device, "unknown"));
    terminal_line(out, "compared",
                  c->outcomes_only ? "outcomes on the same inputs; no times are taken (--no-timing)"
                                   : how[c->kind]);
    fflush(out);
}

/* --- the gate --- */

/* "slower by 1.31 (95%: 1.27 to 1.36)": the time has grown by that factor. For "faster" the ratio is
 * inverted. */
static void ratio_text(char *text, size_t size, const struct interval *log_ratio)
{
    const bool slower = log_ratio->value >= 0;
    const double value = exp(fabs(log_ratio->value));
    const double low = exp(slower ? log_ratio->low : -log_ratio->high);
    const double high = exp(slower ? log_ratio->high : -log_ratio->low);

    if (isfinite(low) && isfinite(high) && low > 0)
        snprintf(text, size, "by %.3f (95%%: %.3f to %.3f)", value, low, high);
    else
        snprintf(text, size, "by %.3f (too few times for an interval)", value);
}

static void say_regression(char *text, size_t size, const struct comparison *c)
{
    const int slower = c->changed[CHANGE_SLOWER];
    const char *between = "";
    size_t used = 0;

    if (c->lost > 0) {
        used = (size_t)snprintf(text, size, "%d configuration%s no longer right", c->lost,
                                c->lost == 1 ? " is" : "s are");
        between = ", ";
    }
    if (c->finding[0] != '\0') {
        used += (size_t)snprintf(text + used, size - used, "%sthe new one games the measurement", between);
        between = ", ";
    }
    if (slower > 0)
        snprintf(text + used, size - used, "%s%d of %d timed configurations slower", between, slower,
                 c->timed);
    else if (c->overall.change == CHANGE_SLOWER)
        snprintf(text + used, size - used, "%sslower over all configurations together", between);
}

static void say_passed(char *text, size_t size, const struct comparison *c)
{
    const int undecided = c->changed[CHANGE_UNDECIDED];
    size_t used = 0;

    if (c->timed == 0)
        used = (size_t)snprintf(text, size, "no configuration is worse; none was timed");
    else if (undecided == 0)
        used = (size_t)snprintf(text, size, "no configuration is worse");
    else
        used = (size_t)snprintf(text, size, "no configuration is known to be worse; %d of %d undecided",
                                undecided, c->timed);
    if (c->changed[CHANGE_FASTER] > 0)
        used += (size_t)snprintf(text + used, size - used, ", %d faster", c->changed[CHANGE_FASTER]);
    if (c->gained > 0)
        snprintf(text + used, size - used, ", %d right that were not", c->gained);
}

void comparison_verdict(FILE *out, const struct comparison *c, bool colour)
{
    static const enum paint paint[] = {
        [GATE_PASSED] = PAINT_GOOD, [GATE_REGRESSION] = PAINT_BAD, [GATE_INCONCLUSIVE] = PAINT_DOUBTFUL};
    char text[400] = "";

    if (c->gate == GATE_REGRESSION)
        say_regression(text, sizeof text, c);
    else if (c->gate == GATE_PASSED)
        say_passed(text, sizeof text, c);
    else if (c->timed == 0)
        snprintf(text, sizeof text, "nothing could be compared");
    else
        snprintf(text, sizeof text, "%d of %d timed configurations are undecided, and so are all together",
                 c->changed[CHANGE_UNDECIDED], c->timed);
    fprintf(out, "%s%s%s: ", terminal_paint(paint[c->gate], colour), gate_name(c->gate),
            terminal_plain(colour));
    text_wrap(out, (int)strlen(gate_name(c->gate)) + 2, 2, text);
}

static void print_rule(FILE *out, const struct comparison *c)
{
    char text[RULE_TEXT_SIZE];

    if (!c->rule.present) {
        if (c->rule.reason[0] != '\0')
            terminal_line(out, "no rule", c->rule.reason);
        return;
    }
    rule_text_slower(text, &c->rule, c->rule_ratio);
    terminal_line(out, "when", text);
}

/* --- configurations --- */

/* Sort key: the most important changes come first. */
static int weight(const struct compared *item)
{
    static const int of_change[] = {
        [CHANGE_SLOWER] = 4, [CHANGE_UNDECIDED] = 1, [CHANGE_FASTER] = 2, [CHANGE_SAME] = 0};

    if (item->correctness == CORRECTNESS_LOST)
        return 5;
    if (item->correctness == CORRECTNESS_GAINED)
        return 3;
    return item->shift.log_ratio.present ? of_change[item->shift.change] : 0;
}

static int by_weight(const void *a, const void *b)
{
    const struct compared *x = *(const struct compared *const *)a, *y = *(const struct compared *const *)b;
    const double p = fabs(x->shift.log_ratio.value), q = fabs(y->shift.log_ratio.value);

    if (weight(x) != weight(y))
        return weight(y) - weight(x);
    return p != q ? (q > p) - (q < p) : (x > y) - (x < y);
}

static void print_item(FILE *out, const struct compared *item)
{
    char text[160] = "", detail[RESULT_DETAIL_SIZE + 64];
    const bool timed = item->shift.log_ratio.present;

    if (item->correctness == CORRECTNESS_LOST || item->correctness == CORRECTNESS_GAINED)
        snprintf(text, sizeof text, "%s, was %s", outcome_name(item->outcome[1]),
                 outcome_name(item->outcome[0]));
    else if (timed)
        ratio_text(text, sizeof text, &item->shift.log_ratio);
    fprintf(out, "  %-10s",
            item->correctness == CORRECTNESS_LOST     ? "lost"
            : item->correctness == CORRECTNESS_GAINED ? "gained"
            : timed                                   ? change_name(item->shift.change)
                                                      : "not timed");
    fprintf(out, "  %s", item->line);
    fprintf(out, "\n");
    const char *const way = item->shift.change == CHANGE_SLOWER || item->shift.change == CHANGE_FASTER ? ""
                            : item->shift.log_ratio.value >= 0 ? "slower "
                                                               : "faster ";
    if (timed && item->shift.change == CHANGE_UNDECIDED && item->pairs > 0)
        snprintf(detail, sizeof detail, "%s%s, %d pairs of %d processes", way, text, item->pairs,
                 item->processes);
    else if (timed)
        snprintf(detail, sizeof detail, "%s%s: %.4g ms, was %.4g ms", way, text, item->ms[1], item->ms[0]);
    else
        snprintf(detail, sizeof detail, "%s%s%.300s", text, item->detail[0] != '\0' && *text ? ": " : "",
                 item->correctness == CORRECTNESS_LOST ? item->detail : "");
    fprintf(out, "%*s", TERMINAL_LABEL, "");
    text_wrap(out, TERMINAL_LABEL, TERMINAL_LABEL, detail);
}

static void print_items(FILE *out, const struct comparison *c, bool all)
{
    enum { SHOWN_UNDECIDED = 8 };
    const struct compared **sorted = malloc(((size_t)c->count + 1) * sizeof *sorted);
    int undecided = 0, left = 0;

    if (sorted == NULL)
        return;
    for (int i = 0; i < c->count; i++)
        sorted[i] = &c->item[i];
    qsort(sorted, (size_t)c->count, sizeof *sorted, by_weight);
    for (int i = 0; i < c->count; i++) {
        const int w = weight(sorted[i]);

        if (!all && (w == 0 || (w == 1 && ++undecided > SHOWN_UNDECIDED))) {
            left += w == 1;
            continue;
        }
        print_item(out, sorted[i]);
    }
    if (left > 0)
        fprintf(out, "  undecided   %d more (-v shows them)\n", left);
    free(sorted);
}

/* --- the summary --- */

static void print_ratio(FILE *out, const char *label, const struct interval *log_ratio)
{
    char text[128];

    if (!log_ratio->present)
        return;
    if (isfinite(log_ratio->high))
        snprintf(text, sizeof text, "%.4f of the old time (95%%: %.4f to %.4f)", exp(log_ratio->value),
                 exp(log_ratio->low), exp(log_ratio->high));
    else
        snprintf(text, sizeof text, "%.4f of the old time (from one configuration)", exp(log_ratio->value));
    terminal_line(out, label, text);
}

static void print_counts(FILE *out, const struct comparison *c)
{
    char text[256];

    snprintf(text, sizeof text, "%d faster, %d same, %d slower, %d undecided of %d that were timed",
             c->changed[CHANGE_FASTER], c->changed[CHANGE_SAME], c->changed[CHANGE_SLOWER],
             c->changed[CHANGE_UNDECIDED], c->timed);
    if (c->timed > 0)
        terminal_line(out, "times", text);
    snprintf(text, sizeof text, "%d lost, %d gained, %d kept, %d not known", c->lost, c->gained,
             c->count - c->lost - c->gained - c->unknown, c->unknown);
    terminal_line(out, "outcomes", text);
    if (c->unmatched[0] + c->unmatched[1] > 0) {
        snprintf(text, sizeof text,
                 "%d configuration%s of the old result and %d of the new one have no counterpart",
                 c->unmatched[0], plural(c->unmatched[0]), c->unmatched[1]);
        terminal_line(out, "unmatched", text);
    }
}

static void print_notes(FILE *out, const char *notes)
{
    for (const char *line = notes; *line != '\0';) {
        char text[1024];
        const size_t length = strcspn(line, "\n");

        snprintf(text, sizeof text, "%.*s", (int)length, line);
        terminal_line(out, "note", text);
        line += length + (line[length] == '\n');
    }
}

void comparison_report(FILE *out, const struct comparison *c, bool all, bool colour)
{
    fprintf(out, "\n");
    comparison_verdict(out, c, colour);
    fprintf(out, "\n");
    print_rule(out, c);
    if (c->finding[0] != '\0')
        terminal_line(out, "finding", c->finding);
    print_items(out, c, all);
    if (c->timed > 0)
        fprintf(out, "\n");
    print_ratio(out, "seen", &c->set[0]);
    print_ratio(out, "unseen", &c->set[1]);
    print_ratio(out, "all", &c->overall.log_ratio);
    print_counts(out, c);
    print_notes(out, c->notes);
}

/* The frame of a drawing: scales, ticks, dots. */
#include "html_internal.h"

#include <math.h>
#include <string.h>

#include "markup.h"
#include "reports/record/text.h"

enum { LEFT = 86, RIGHT = 14, TOP = 12, BOTTOM = 46 };

struct scale scale_new(bool logarithmic, double first, double last)
{
    return (struct scale){
        .logarithmic = logarithmic, .low = INFINITY, .high = -INFINITY, .first = first, .last = last};
}

struct scale chart_x(bool logarithmic)
{
    return scale_new(logarithmic, LEFT, CHART_WIDTH - RIGHT);
}

struct scale chart_y(bool logarithmic)
{
    return scale_new(logarithmic, CHART_HEIGHT - BOTTOM, TOP);
}

void scale_residues(struct scale *scale, int64_t modulus)
{
    enum { MANY = 128 };

    scale->logarithmic = modulus > MANY;
    scale->shift = 1;
}

void scale_see(struct scale *scale, double value)
{
    if (!isfinite(value) || (scale->logarithmic && value + scale->shift <= 0))
        return;
    scale->low = fmin(scale->low, value);
    scale->high = fmax(scale->high, value);
}

/* Adds 5% of the range on both sides, so that no dot lies on the frame. */
void scale_finish(struct scale *scale)
{
    if (scale->low > scale->high)
        scale->low = scale->high = 1;
    if (scale->logarithmic) {
        const double low = scale->low + scale->shift, high = scale->high + scale->shift;
        const double room = high > low ? pow(high / low, 0.05) : 2;

        scale->low = low / room - scale->shift;
        scale->high = high * room - scale->shift;
    } else {
        const double room = scale->high > scale->low ? (scale->high - scale->low) * 0.05 : 1;

        scale->low -= room;
        scale->high += room;
    }
}

static double category_width(const struct scale *scale)
{
    return (scale->last - scale->first) / scale->categories;
}

static double place_category(const struct scale *scale, double value)
{
    int at = 0;

    while (at + 1 < scale->categories && scale->category[at] < value)
        at++;
    return scale->first + (at + 0.5) * category_width(scale);
}

double scale_place_apart(const struct scale *scale, double value, int number)
{
    enum { STEPS = 29 };
    static const double most = 0.35;

    if (scale->categories == 0)
        return scale_place(scale, value);
    return place_category(scale, value) +
           most * category_width(scale) * ((number * 11 % STEPS) * 2.0 / (STEPS - 1) - 1);
}

double scale_place(const struct scale *scale, double value)
{
    double share;

    if (scale->categories > 0)
        return place_category(scale, value);
    if (scale->logarithmic)
        share = value + scale->shift > 0 ? log((value + scale->shift) / (scale->low + scale->shift)) /
                                               log((scale->high + scale->shift) / (scale->low + scale->shift))
                                         : 0;
    else
        share = (value - scale->low) / (scale->high - scale->low);
    share = !(share > 0) ? 0 : share > 1 ? 1 : share;
    return scale->first + share * (scale->last - scale->first);
}

/* ---- Ticks ---- */

/* Keeps a label inside the drawing, also with the larger letters of narrow screens. */
static void print_label_across(FILE *out, double at, const char *text)
{
    static const double half_letter = 5;
    const double half = half_letter * (double)strlen(text);
    const bool beyond = at + half > CHART_WIDTH;

    fprintf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">",
            beyond ? CHART_WIDTH - 1 : at, CHART_HEIGHT - BOTTOM + 17, beyond ? "end" : "middle");
    markup_text(out, text);
    fputs("</text>\n", out);
}

static void print_tick_text(FILE *out, const struct scale *scale, bool across, double value, const char *text)
{
    const double at = scale_place(scale, value);

    if (across) {
        fprintf(out, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>", at, TOP, at,
                CHART_HEIGHT - BOTTOM);
        print_label_across(out, at, text);
        return;
    }
    fprintf(out,
            "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
            "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
            LEFT, at, CHART_WIDTH - RIGHT, at, LEFT - 6, at + 4);
    markup_text(out, text);
    fputs("</text>\n", out);
}

/* Formats "2e6" instead of "2e+06". */
static void power_text(char *text, size_t size, double value)
{
    const int power = value == 0 ? 0 : (int)floor(log10(fabs(value)) + 1e-9);

    if (value == 0)
        snprintf(text, size, "0");
    else
        snprintf(text, size, "%.3ge%d", value / pow(10, power), power);
}

/* All labels of an axis use one format: powers of ten if any label would otherwise be long. */
static void print_tick(FILE *out, const struct scale *scale, bool across, double value)
{
    const double least = scale->logarithmic && scale->shift == 0 ? scale->low : scale->high;
    char text[TEXT_NUMBER_SIZE];

    if (fmax(fabs(scale->low), fabs(scale->high)) >= 1e6 || (least > 0 && least < 1e-3))
        power_text(text, sizeof text, value);
    else
        text_number(text, value, 6);
    print_tick_text(out, scale, across, value, text);
}

static void print_categories(FILE *out, const struct scale *scale, bool across)
{
    enum { MOST_ACROSS = 8 };
    const int step = across ? (scale->categories + MOST_ACROSS - 1) / MOST_ACROSS : 1;

    for (int i = 0; i < scale->categories; i += step) {
        char text[TEXT_NUMBER_SIZE];

        print_tick_text(out, scale, across, scale->category[i],
                        scale->label[i] != NULL ? scale->label[i] : text_number(text, scale->category[i], 9));
    }
}

/* Ticks at powers of ten, thinned to at most seven. A range of at most two decades also gets ticks at 2 and
 * 5. */
static void print_powers(FILE *out, const struct scale *scale, bool across)
{
    static const int parts[] = {1, 2, 5};
    const double low = scale->shift > 0 ? 1 : scale->low;
    const double decades = log10(scale->high / low);
    const int step = decades > 7 ? (int)ceil(decades / 7) : 1;

    if (scale->shift > 0)
        print_tick(out, scale, across, 0);
    for (int power = (int)floor(log10(low)); power <= ceil(log10(scale->high)); power++)
        for (int i = 0; i < (decades < 2 ? 3 : 1); i++) {
            const double value = parts[i] * pow(10, power);

            if (value >= scale->low && value <= scale->high && (step == 1 || power % step == 0))
                print_tick(out, scale, across, value);
        }
}

static void print_steps(FILE *out, const struct scale *scale, bool across)
{
    static const double parts[] = {1, 2, 5, 10};
    const double range = scale->high - scale->low, power = pow(10, floor(log10(range / 5)));
    double step = power;

    for (int i = 0; i < 4 && range / step > 7; i++)
        step = parts[i] * power;
    for (double value = ceil(scale->low / step) * step; value <= scale->high; value += step)
        print_tick(out, scale, across, fabs(value) < step / 1e6 ? 0 : value);
}

static void print_ticks(FILE *out, const struct scale *scale, bool across)
{
    if (scale->categories > 0)
        print_categories(out, scale, across);
    else if (scale->logarithmic)
        print_powers(out, scale, across);
    else
        print_steps(out, scale, across);
}

void chart_open(FILE *out, const char *name, struct scale *x, struct scale *y, const char *x_label,
                const char *y_label)
{
    fprintf(out, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", CHART_WIDTH,
            CHART_HEIGHT);
    markup_text(out, name);
    fputs("\">\n", out);
    print_ticks(out, x, true);
    print_ticks(out, y, false);
    fprintf(out, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
            (LEFT + CHART_WIDTH - RIGHT) / 2, CHART_HEIGHT - 8);
    markup_text(out, x_label);
    fprintf(out,
            "</text><text class=\"axis\" transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">",
            (TOP + CHART_HEIGHT - BOTTOM) / 2);
    markup_text(out, y_label);
    fputs("</text>\n", out);
}

void chart_close(FILE *out)
{
    fputs("</svg>\n", out);
}

/* ---- Dots ---- */

static const char *kind_of(enum outcome outcome)
{
    return outcome == OUTCOME_PASS ? "pass" : outcome_is_rejected(outcome) ? "fail" : "skip";
}

void chart_dot(FILE *out, double x, double y, const struct config_result *config, enum outcome outcome,
               enum mark mark, const char *more)
{
    const char *const set = config->unseen ? "unseen" : "seen";

    fputs(mark == MARK_DOT && outcome == OUTCOME_PASS ? "<circle" : "<path", out);
    fprintf(out, " class=\"dot %s %s\" ", kind_of(outcome), set);
    if (outcome != OUTCOME_PASS)
        fprintf(out, "d=\"M%.1f %.1fl8 8m0-8l-8 8\"", x - 4, y - 4);
    else if (mark == MARK_TRIANGLE)
        fprintf(out, "d=\"M%.1f %.1fl4.5 8h-9z\"", x, y - 5);
    else
        fprintf(out, "cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"", x, y, config->unseen ? "3.6" : "4.6");
    fputs("><title>", out);
    markup_text(out, config->line);
    fprintf(out, ": %s, %s", outcome_name(outcome), set);
    if (text_or(more, "")[0] != '\0') {
        fputs(", ", out);
        markup_text(out, more);
    }
    if (mark == MARK_DOT ? outcome != OUTCOME_PASS : false) {
        fputs(". ", out);
        markup_text(out, config->detail);
    }
    fputs(mark == MARK_DOT && outcome == OUTCOME_PASS ? "</title></circle>\n" : "</title></path>\n", out);
}

/* Map of failures: every configuration, plotted by the terms that its rule compares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "condition_terms.h"
#include "html_internal.h"
#include "markup.h"
#include "reports/record/published.h"
#include "reports/record/text.h"

enum { RESIDUE = 64, MOST_TERMS = 4, MOST_CHARTS = 2, FEW_VALUES = 8 };

/* The configurations to plot and the number of drawings so far. */
struct drawing {
    const struct result *result;
    const struct problem *problem;
    int charts;
};

/* Number of distinct values of a numeric axis over all configurations. */
static int count_values(const struct result *result, int axis)
{
    int count = 0;

    for (int i = 0; i < result->result_count; i++) {
        bool known = result->results[i].config.problem == NULL;

        for (int k = 0; k < i && !known; k++)
            known = result->results[k].config.value[axis] == result->results[i].config.value[axis];
        count += !known;
    }
    return count;
}

/* The numeric axis with most distinct values, except axis `but`; -1: there is none. */
static int most_varied(const struct drawing *d, int but)
{
    int best = -1, most = 1;

    for (int i = 0; d->problem->axes[i].name != NULL; i++) {
        const int count =
            d->problem->axes[i].kind == AXIS_NUMBER && i != but ? count_values(d->result, i) : 0;

        if (count > most) {
            best = i;
            most = count;
        }
    }
    return best;
}

/* ---- Scales ---- */

static void add_category(struct scale *scale, double value)
{
    int at = scale->categories;

    for (int i = 0; i < scale->categories; i++)
        if (scale->category[i] == value)
            return;
    if (scale->categories == SCALE_CATEGORIES) {
        scale->categories++; /* too many categories */
        return;
    }
    for (; at > 0 && scale->category[at - 1] > value; at--)
        scale->category[at] = scale->category[at - 1];
    scale->category[at] = value;
    scale->categories++;
}

/* Choices, two values, and few values that a logarithm cannot show become categories. Other values get a
 * logarithmic scale, shifted if it must include 0. Residues of small numbers get a linear scale. */
static void choose_scale(struct scale *scale, const struct drawing *d, const struct term *term)
{
    double least = INFINITY, most = -INFINITY, value;

    for (int i = 0; i < d->result->result_count; i++)
        if (term_value(term, &d->result->results[i], &value) && scale->categories <= SCALE_CATEGORIES) {
            add_category(scale, value);
            least = fmin(least, value);
            most = fmax(most, value);
        }
    if (term->choice_axis >= 0 ? scale->categories > SCALE_CATEGORIES
                               : scale->categories > 2 && (least > 0 || scale->categories > FEW_VALUES))
        scale->categories = 0;
    if (scale->categories > 0) {
        for (int i = 0; i < scale->categories && term->choice_axis >= 0; i++)
            scale->label[i] = problem_choice(d->problem, term->choice_axis, (int64_t)scale->category[i]);
        return;
    }
    scale->logarithmic = least >= 0;
    scale->shift = least > 0 ? 0 : 1;
    if (term_is_residue(term))
        scale_residues(scale, (int64_t)fmin(most, 1e15) + 1);
}

static void see_all(struct scale *scale, const struct drawing *d, const struct term *term)
{
    double value;

    for (int i = 0; i < d->result->result_count; i++)
        if (term_value(term, &d->result->results[i], &value))
            scale_see(scale, value);
    scale_finish(scale);
}

/* ---- One drawing ---- */

static void draw_dots(FILE *out, const struct drawing *d, const struct term *across, const struct term *up,
                      const struct scale *x, const struct scale *y)
{
    for (int pass = 1; pass >= 0; pass--) /* failures are drawn last, above the passes */
        for (int i = 0; i < d->result->result_count; i++) {
            const struct config_result *config = &d->result->results[i];
            const enum outcome outcome = config_outcome(config, published_decides(d->result));
            double a, b;

            if ((outcome == OUTCOME_PASS) != pass || !term_value(across, config, &a) ||
                !term_value(up, config, &b))
                continue;
            chart_dot(out, scale_place_apart(x, a, i), scale_place_apart(y, b, i * 7 + 3), config, outcome,
                      MARK_DOT, NULL);
        }
}

static void draw(FILE *out, struct drawing *d, const struct term *across, const struct term *up)
{
    struct scale x = chart_x(false), y = chart_y(false);
    char name[2 * TERM_SIZE + 16];

    if (d->charts == MOST_CHARTS)
        return;
    d->charts++;
    choose_scale(&x, d, across);
    choose_scale(&y, d, up);
    see_all(&x, d, across);
    see_all(&y, d, up);
    snprintf(name, sizeof name, "%s against %s", up->text, across->text);
    fputs("<figure>", out);
    html_element(out, "figcaption", NULL, name);
    chart_open(out, name, &x, &y, across->text, up->text);
    draw_dots(out, d, across, up, &x, &y);
    chart_close(out);
    fputs("</figure>\n", out);
}

/* ---- Choice of drawings ---- */

/* Plots two terms against each other; a residue against its axis; any term against the axis that varies most
 * besides it. */
static void draw_terms(FILE *out, struct drawing *d, const struct term *term, int count)
{
    if (count > 1)
        draw(out, d, &term[0], &term[1]);
    for (int i = 0; i < count; i++) {
        const int axis = term_residue_axis(&term[i], d->problem);

        if (axis >= 0) {
            const struct term size = term_of_axis(d->problem, axis);
            draw(out, d, &size, &term[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        const int own = term[i].choice_axis < 0 ? problem_axis_index(d->problem, term[i].text) : -1;
        const int residue = term_residue_axis(&term[i], d->problem);
        const int other = most_varied(d, own >= 0 ? own : residue);

        if (other >= 0) {
            const struct term beside = term_of_axis(d->problem, other);
            draw(out, d, &term[i], &beside);
        }
    }
}

static void draw_axes(FILE *out, struct drawing *d)
{
    const int first = most_varied(d, -1), second = first >= 0 ? most_varied(d, first) : -1;
    struct term residue = {.choice_axis = -1};

    if (first < 0)
        return;
    const struct term one = term_of_axis(d->problem, first);
    if (second >= 0) {
        const struct term other = term_of_axis(d->problem, second);
        draw(out, d, &one, &other);
    }
    snprintf(residue.text, sizeof residue.text, "%.60s %% %d", one.text, RESIDUE);
    draw(out, d, &one, &residue);
}

/* Terms of the rule, or of the rejected condition that came closest to one. */
static int find_terms(const struct drawing *d, struct term term[MOST_TERMS])
{
    const struct rule *const rule = &d->result->diagnosis.rule;

    if (!d->result->diagnosis.present)
        return 0;
    return terms_of_condition(d->problem, rule->present ? rule->text : rule->closest, term, MOST_TERMS);
}

static void print_legend(FILE *out, const struct result *result)
{
    bool fails = false, skipped = false;

    for (int i = 0; i < result->result_count; i++) {
        const enum outcome outcome = config_outcome(&result->results[i], published_decides(result));

        fails = fails || outcome_is_rejected(outcome);
        skipped = skipped || outcome == OUTCOME_SKIPPED;
    }
    fputs("<p class=\"legend\"><span class=\"key pass\"></span> passes ", out);
    if (fails)
        fputs("<span class=\"key fail\">&#215;</span> fails ", out);
    if (skipped)
        fputs("<span class=\"key skip\">&#215;</span> skipped ", out);
    fputs("&#183; configurations of the seen set are larger; dots of equal values lie apart</p>", out);
}

static bool any_fails(const struct result *result)
{
    for (int i = 0; i < result->result_count; i++)
        if (outcome_is_rejected(config_outcome(&result->results[i], published_decides(result))))
            return true;
    return false;
}

void html_map(FILE *out, const struct result *result)
{
    struct drawing d = {.result = result, .problem = result_problem(result)};
    struct term term[MOST_TERMS];

    fprintf(out, "<section class=\"map\"><h2>%s</h2>\n",
            any_fails(result) ? "Where it fails" : "What was run");
    if (d.problem == NULL || most_varied(&d, -1) < 0) {
        html_element(out, "p", "none", "The result names no axis that varies.");
        fputs("</section>\n", out);
        return;
    }
    print_legend(out, result);
    fputs("<div class=\"charts\">\n", out);
    draw_terms(out, &d, term, find_terms(&d, term));
    if (d.charts == 0)
        draw_axes(out, &d);
    fputs("</div></section>\n", out);
}

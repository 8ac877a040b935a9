/* Where it fails: every configuration by the axes that its rule speaks of. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "html_internal.h"
#include "markup.h"
#include "published.h"
#include "text.h"

enum { RESIDUE = 64, MOST_TERMS = 8 };

/* A number axis, or its residue. */
struct term {
    int axis;
    int64_t modulus; /* 0: the value itself */
};

static int find_axis(const struct problem *problem, const char *name, size_t length)
{
    for (int i = 0; problem->axes[i].name != NULL; i++)
        if (problem->axes[i].kind == AXIS_NUMBER && strlen(problem->axes[i].name) == length &&
            strncmp(problem->axes[i].name, name, length) == 0)
            return i;
    return -1;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The terms of a rule in order, each axis once: "k % 64 != 0 and n > 8" has k % 64 and n. */
static int rule_terms(const struct problem *problem, const char *text, struct term term[MOST_TERMS])
{
    int count = 0;

    for (const char *c = text; *c != '\0' && count < MOST_TERMS;) {
        size_t length = 0;

        while (is_word(c[length]))
            length++;
        const int axis = length > 0 ? find_axis(problem, c, length) : -1;
        bool known = axis < 0;

        c += length > 0 ? length : 1;
        for (int i = 0; i < count; i++)
            known = known || term[i].axis == axis;
        if (known)
            continue;
        term[count] = (struct term){axis, 0};
        if (c[strspn(c, " ")] == '%')
            term[count].modulus = strtoll(c + strspn(c, " ") + 1, NULL, 10);
        if (term[count].modulus < 2)
            term[count].modulus = 0;
        count++;
    }
    return count;
}

/* How many values an axis takes over all configurations. */
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

/* The number axis that varies most, but for one; -1: there is none. */
static int most_varied(const struct result *result, const struct problem *problem, int but)
{
    int best = -1, most = 1;

    for (int i = 0; problem->axes[i].name != NULL; i++) {
        const int count = problem->axes[i].kind == AXIS_NUMBER && i != but ? count_values(result, i) : 0;

        if (count > most) {
            best = i;
            most = count;
        }
    }
    return best;
}

static double term_value(const struct term *term, const struct config *config)
{
    const int64_t value = config->value[term->axis];

    return (double)(term->modulus > 0 ? value % term->modulus : value);
}

static void term_text(char *buffer, size_t size, const struct term *term, const struct problem *problem)
{
    if (term->modulus > 0)
        snprintf(buffer, size, "%.40s %% %lld", problem->axes[term->axis].name, (long long)term->modulus);
    else
        snprintf(buffer, size, "%.40s", problem->axes[term->axis].name);
}

static void draw(FILE *out, const struct result *result, const struct problem *problem,
                 const struct term *across, const struct term *up)
{
    struct scale x = chart_x(across->modulus == 0), y = chart_y(up->modulus == 0);
    char x_text[96], y_text[96], name[240];

    if (across->modulus > 0)
        scale_residues(&x, across->modulus);
    if (up->modulus > 0)
        scale_residues(&y, up->modulus);
    for (int i = 0; i < result->result_count; i++)
        if (result->results[i].config.problem != NULL) {
            scale_see(&x, term_value(across, &result->results[i].config));
            scale_see(&y, term_value(up, &result->results[i].config));
        }
    scale_finish(&x);
    scale_finish(&y);
    term_text(x_text, sizeof x_text, across, problem);
    term_text(y_text, sizeof y_text, up, problem);
    snprintf(name, sizeof name, "%s against %s", y_text, x_text);
    fputs("<figure>", out);
    html_element(out, "figcaption", NULL, name);
    chart_open(out, name, &x, &y, x_text, y_text);
    for (int pass = 1; pass >= 0; pass--) /* failures lie above */
        for (int i = 0; i < result->result_count; i++) {
            const struct config_result *config = &result->results[i];
            const enum outcome outcome = config_outcome(config, published_decides(result));

            if (config->config.problem == NULL || (outcome == OUTCOME_PASS) != pass)
                continue;
            chart_dot(out, scale_place(&x, term_value(across, &config->config)),
                      scale_place(&y, term_value(up, &config->config)), config, outcome, MARK_DOT, NULL);
        }
    chart_close(out);
    fputs("</figure>\n", out);
}

/* Two terms of a rule against each other; the residue of one against its size; of a comparison, the axis and another one. */
static void draw_rule(FILE *out, const struct result *result, const struct problem *problem,
                      const struct term *term, int count)
{
    const struct term size = {term[0].axis, 0};
    const int other = most_varied(result, problem, term[0].axis);

    if (count > 1)
        draw(out, result, problem, &term[0], &term[1]);
    for (int i = 0; i < count && i < 2; i++)
        if (term[i].modulus > 0) {
            const struct term own = {term[i].axis, 0};

            draw(out, result, problem, &own, &term[i]);
        }
    if (count == 1 && term[0].modulus == 0 && other >= 0)
        draw(out, result, problem, &size, &(struct term){other, 0});
}

void html_map(FILE *out, const struct result *result)
{
    const struct problem *problem = result_problem(result);
    const struct diagnosis *d = &result->diagnosis;
    struct term term[MOST_TERMS];
    bool fails = false;
    int count, first;

    for (int i = 0; i < result->result_count; i++)
        fails = fails || outcome_is_rejected(config_outcome(&result->results[i], published_decides(result)));
    fprintf(out, "<section class=\"map\"><h2>%s</h2>\n", fails ? "Where it fails" : "What was run");
    count = problem != NULL && d->present && d->rule.present ? rule_terms(problem, d->rule.text, term) : 0;
    first = problem != NULL ? most_varied(result, problem, -1) : -1;
    if (count > 0 || first >= 0)
        fputs("<p class=\"legend\"><span class=\"key pass\"></span> passes <span class=\"key "
              "fail\">&#215;</span> fails "
              "<span class=\"key skip\">&#215;</span> skipped; those of the seen set are larger</p><div "
              "class=\"charts\">\n",
              out);
    if (count > 0) {
        draw_rule(out, result, problem, term, count);
    } else if (first >= 0) {
        const int second = most_varied(result, problem, first);

        if (second >= 0)
            draw(out, result, problem, &(struct term){first, 0}, &(struct term){second, 0});
        draw(out, result, problem, &(struct term){first, 0}, &(struct term){first, RESIDUE});
    } else {
        html_element(out, "p", "none", "The result names no axis that varies.");
    }
    fputs(count > 0 || first >= 0 ? "</div></section>\n" : "</section>\n", out);
}

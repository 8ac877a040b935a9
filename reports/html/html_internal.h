/* Parts of the page; html.c puts them together. */
#ifndef UNSEEN_HTML_INTERNAL_H
#define UNSEEN_HTML_INTERNAL_H

#include "reports/record/result.h"

void html_style(FILE *out);  /* <style>..</style> */
void html_script(FILE *out); /* <script>..</script> */

/* "<TAG CLASS>text</TAG>"; `classes` NULL: none. */
void html_element(FILE *out, const char *tag, const char *classes, const char *text);
/* Prints a command with a copy button below the caption `shows` (NULL: no caption). `config` NULL: the
 * command that reproduces the failing input values, if there is one. */
void html_command(FILE *out, const struct result *result, const struct config_result *config,
                  const char *shows);
/* The same for the command of the whole run. */
void html_command_again(FILE *out, const struct result *result);

/* ---- drawings ---- */

enum { CHART_WIDTH = 560, CHART_HEIGHT = 360 };

enum { SCALE_CATEGORIES = 24 };

/* One axis of a drawing: maps a range of values to a range of the page. */
struct scale {
    int categories; /* above 0: each of so many values has a place of its own, in ascending order */
    double category[SCALE_CATEGORIES];
    const char *label[SCALE_CATEGORIES]; /* NULL: the number itself */
    bool logarithmic;
    double shift;       /* of a logarithmic scale: position is log(value + shift) */
    double low, high;   /* range of values */
    double first, last; /* range in the drawing */
};
/* Create a scale, extend it by values (scale_see), then add a margin (scale_finish). A logarithmic scale
 * ignores values that are not above 0. */
struct scale scale_new(bool logarithmic, double first, double last);
void scale_see(struct scale *scale, double value);
void scale_finish(struct scale *scale);
double scale_place(const struct scale *scale, double value);
/* Like scale_place, but in a category spreads dots apart by their `number`. */
double scale_place_apart(const struct scale *scale, double value, int number);

/* Draws the frame with ticks and axis labels. Both scales end up within the frame. */
void chart_open(FILE *out, const char *name, struct scale *x, struct scale *y, const char *x_label,
                const char *y_label);
void chart_close(FILE *out);
struct scale chart_x(bool logarithmic), chart_y(bool logarithmic);
/* Sets up a scale for residues 0 .. `modulus` - 1; if there are many, small residues are spread apart. */
void scale_residues(struct scale *scale, int64_t modulus);
/* Draws a configuration as a dot; its title has the configuration's line and outcome, followed by `more`. */
enum mark { MARK_DOT, MARK_TRIANGLE };
void chart_dot(FILE *out, double x, double y, const struct config_result *config, enum outcome outcome,
               enum mark mark, const char *more);

void html_map(FILE *out, const struct result *result);
void html_roofline(FILE *out, const struct result *result);
void html_speed(FILE *out, const struct result *result);
void html_rows(FILE *out, const struct result *result, int number);
void html_worst(FILE *out, const struct result *result, int number);
void html_reproduce(FILE *out, const struct result *result);
void html_side_by_side(FILE *out, const struct result *const *results, int count);

#endif

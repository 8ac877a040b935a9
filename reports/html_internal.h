/* Parts of the page; html.c puts them together. */
#ifndef UNSEEN_HTML_INTERNAL_H
#define UNSEEN_HTML_INTERNAL_H

#include "result.h"

void html_style(FILE *out);  /* <style>..</style> */
void html_script(FILE *out); /* <script>..</script> */

/* "<TAG CLASS>text</TAG>"; `classes` NULL: none. */
void html_element(FILE *out, const char *tag, const char *classes, const char *text);
/* A line to paste, with a button that copies it, below what it shows (NULL: nothing); `config` NULL: the one that shows which
 * values fail, if there is one. */
void html_command(FILE *out, const struct result *result, const struct config_result *config,
                  const char *shows);
/* The same of the command of the whole run. */
void html_command_again(FILE *out, const struct result *result);

/* ---- drawings ---- */

enum { CHART_WIDTH = 560, CHART_HEIGHT = 360 };

enum { SCALE_CATEGORIES = 24 };

/* One axis of a drawing, from a range of values to a range of the page. */
struct scale {
    int categories; /* above 0: each of so many values has a place of its own, in their order */
    double category[SCALE_CATEGORIES];
    const char *label[SCALE_CATEGORIES]; /* NULL: the number */
    bool logarithmic;
    double shift;       /* of a logarithmic one: log(value + shift) */
    double low, high;   /* values */
    double first, last; /* where they lie in the drawing */
};
/* Covers what was seen by `scale_see`, with some room; of a logarithmic one only values above 0 count. */
struct scale scale_new(bool logarithmic, double first, double last);
void scale_see(struct scale *scale, double value);
void scale_finish(struct scale *scale);
double scale_place(const struct scale *scale, double value);
/* The same; in a category, dots of different `number` lie apart. */
double scale_place_apart(const struct scale *scale, double value, int number);

/* The frame with ticks, and what the axes are. Both scales end up within the frame. */
void chart_open(FILE *out, const char *name, struct scale *x, struct scale *y, const char *x_label,
                const char *y_label);
void chart_close(FILE *out);
struct scale chart_x(bool logarithmic), chart_y(bool logarithmic);
/* For residues from 0 up to `modulus` - 1: where there are many, small ones lie apart, too. */
void scale_residues(struct scale *scale, int64_t modulus);
/* A configuration as a dot whose title is its line and what became of it; `more` follows. */
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

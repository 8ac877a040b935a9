/* Plots runs in two panels: times above, the drop on unseen configurations below, oldest first. The
 * background is transparent, and the ink follows the reader's light or dark mode. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "history.h"

enum {
    WIDTH = 760,
    HEIGHT = 470,
    LEFT = 74,
    RIGHT = 20,
    TOP = 62,
    PANEL = 150,
    GAP = 56,
    TICKS = 5,
    DATES = 6
};

struct drawing {
    FILE *out;
    const struct history_run **run; /* oldest first */
    int count;
};

/* One panel: values of runs, NaN where a run has none. */
struct panel {
    const char *title, *mark; /* the mark's CSS class */
    double (*value)(const struct history_run *run);
    int top;
    double low, high, step;
};

/* All runs share the same seen set, so times of runs that pass all of it are comparable; unseen sets are
 * drawn anew. */
static double time_of(const struct history_run *run)
{
    return run->seen.ms > 0 && run->seen.pass == run->seen.configs ? run->seen.ms : NAN;
}

static double fraction_of(const struct history_run *run)
{
    return run->unseen.fraction > 0 ? 100 * run->unseen.fraction : NAN;
}

static double drop_of(const struct history_run *run)
{
    return run->drop;
}

/* A step of 1, 2 or 5 times a power of ten, for about TICKS ticks. */
static double nice_step(double span)
{
    const double rough = span / TICKS, power = pow(10, floor(log10(rough)));
    const double part = rough / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void scale(struct panel *panel, const struct drawing *d)
{
    panel->low = 0;
    panel->high = 0;
    for (int i = 0; i < d->count; i++) {
        const double value = panel->value(d->run[i]);
        if (isnan(value))
            continue;
        panel->low = fmin(panel->low, value);
        panel->high = fmax(panel->high, value);
    }
    if (panel->high <= panel->low)
        panel->high = panel->low + 1;
    panel->step = nice_step(panel->high - panel->low);
    panel->low = panel->step * floor(panel->low / panel->step);
    panel->high = panel->step * ceil(panel->high / panel->step);
}

static double x_of(const struct drawing *d, int i)
{
    const double room = WIDTH - LEFT - RIGHT;
    return LEFT + room * (d->count > 1 ? 0.03 + 0.94 * i / (d->count - 1) : 0.5);
}

static double y_of(const struct panel *panel, double value)
{
    return panel->top + PANEL * (panel->high - value) / (panel->high - panel->low);
}

/* Escapes text from a file name or the user. */
static void put_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '&' || c == '<' || c == '>' || c == '"')
            fprintf(out, "&#%d;", c);
        else
            fputc(c < 0x20 || c > 0x7e ? '?' : c, out);
    }
}

static void date_text(int64_t seconds, const char *format, char *text, size_t size)
{
    const time_t when = (time_t)seconds;
    struct tm broken;
    if (!gmtime_r(&when, &broken) || strftime(text, size, format, &broken) == 0)
        snprintf(text, size, "?");
}

static void draw_axes(const struct drawing *d, const struct panel *panel)
{
    fprintf(d->out, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", LEFT, panel->top - 10,
            panel->title);
    const int ticks = (int)lround((panel->high - panel->low) / panel->step);
    for (int k = 0; k <= ticks; k++) {
        const double value = panel->low + k * panel->step, y = y_of(panel, value);
        fprintf(d->out, "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                fabs(value) < panel->step / 2 ? "axis" : "grid", LEFT, WIDTH - RIGHT, y, y);
        fprintf(d->out, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%.6g</text>\n",
                LEFT - 8, y + 4, fabs(value) < panel->step / 2 ? 0 : value);
    }
    fprintf(d->out, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", LEFT, LEFT,
            panel->top, panel->top + PANEL);
}

/* General runs are filled, others hollow; the line is interrupted at a run without the value. */
static void draw_values(const struct drawing *d, const struct panel *panel)
{
    bool drawing = false;
    fprintf(d->out, "<path class=\"%s\" d=\"", panel->mark);
    for (int i = 0; i < d->count; i++) {
        const double value = panel->value(d->run[i]);
        if (!isnan(value))
            fprintf(d->out, "%s%.1f %.1f", drawing ? " L" : " M", x_of(d, i), y_of(panel, value));
        drawing = !isnan(value);
    }
    fprintf(d->out, "\"/>\n");
    for (int i = 0; i < d->count; i++) {
        const struct history_run *const run = d->run[i];
        const double value = panel->value(run);
        char date[32];
        if (isnan(value))
            continue;
        date_text(run->started, "%Y-%m-%d %H:%M:%S UTC", date, sizeof date);
        fprintf(d->out, "<circle class=\"%s%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%s, ", panel->mark,
                run->verdict && strcmp(run->verdict, "general") == 0 ? " full" : "", x_of(d, i),
                y_of(panel, value), date);
        put_text(d->out, run->candidate);
        fprintf(d->out, ": %.4g, %s, seed %llu</title></circle>\n", value,
                run->verdict ? run->verdict : run->state, (unsigned long long)run->seed);
    }
}

/* Dates below both panels, as many as fit. */
static void draw_dates(const struct drawing *d, int y)
{
    const int every = (d->count + DATES - 1) / DATES;
    for (int i = 0; i < d->count; i += every) {
        char date[32], hour[32];
        date_text(d->run[i]->started, "%Y-%m-%d", date, sizeof date);
        date_text(d->run[i]->started, "%H:%M", hour, sizeof hour);
        fprintf(
            d->out,
            "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%s<tspan x=\"%.1f\" dy=\"14\">%s"
            "</tspan></text>\n",
            x_of(d, i), y, date, x_of(d, i), hour);
    }
}

static void draw_head(const struct drawing *d)
{
    fprintf(
        d->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
        "role=\"img\">\n"
        "<style>\n"
        "text { font: 12px sans-serif; fill: #444 } .head { font-size: 15px } .title { font-weight: bold }\n"
        ".axis { stroke: #777 } .grid { stroke: #7774 }\n"
        "path { fill: none; stroke-width: 2 } circle { fill: none; stroke-width: 2 }\n"
        ".speed { stroke: #2a78c0 } circle.speed.full { fill: #2a78c0 }\n"
        ".drop { stroke: #c8620a } circle.drop.full { fill: #c8620a }\n"
        ".mark { stroke: #777 } circle.mark.full { fill: #777 }\n"
        "@media (prefers-color-scheme: dark) { text { fill: #ccc } }\n"
        "</style>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    fprintf(d->out, "<text class=\"head\" x=\"%d\" y=\"22\">", LEFT);
    put_text(d->out, d->run[0]->problem);
    fprintf(d->out, ", %d run%s, oldest first</text>\n", d->count, d->count == 1 ? "" : "s");
}

static void draw_legend(const struct drawing *d)
{
    enum { Y = 20, X = WIDTH - 250 };
    fprintf(
        d->out,
        "<circle class=\"mark full\" cx=\"%d\" cy=\"%d\" r=\"4\"/><text x=\"%d\" y=\"%d\">general</text>\n"
        "<circle class=\"mark\" cx=\"%d\" cy=\"%d\" r=\"4\"/><text x=\"%d\" y=\"%d\">any other "
        "verdict</text>\n",
        X, Y - 4, X + 10, Y, X + 90, Y - 4, X + 100, Y);
}

static int count_values(const struct drawing *d, double (*value)(const struct history_run *))
{
    int count = 0;
    for (int i = 0; i < d->count; i++)
        count += !isnan(value(d->run[i]));
    return count;
}

static void draw(struct drawing *d)
{
    const bool timed = count_values(d, time_of) > 0 || count_values(d, fraction_of) == 0;
    struct panel speed = {.title = timed ? "time, ms (geometric mean over the seen set)"
                                         : "% of what is attainable (geometric mean over the unseen set)",
                          .mark = "speed",
                          .value = timed ? time_of : fraction_of,
                          .top = TOP};
    struct panel drop = {.title = "drop, points (seen pass rate minus unseen)",
                         .mark = "drop",
                         .value = drop_of,
                         .top = TOP + PANEL + GAP};
    scale(&speed, d);
    scale(&drop, d);
    draw_head(d);
    draw_legend(d);
    draw_axes(d, &speed);
    draw_values(d, &speed);
    draw_axes(d, &drop);
    draw_values(d, &drop);
    draw_dates(d, drop.top + PANEL + 20);
    fprintf(d->out, "</svg>\n");
}

/* Selects the runs with something to plot, in reverse order. */
static void choose(const struct history_runs *runs, struct drawing *d)
{
    for (int i = runs->count - 1; i >= 0; i--) {
        const struct history_run *const run = &runs->run[i];
        if (!isnan(time_of(run)) || !isnan(fraction_of(run)) || !isnan(drop_of(run)))
            d->run[d->count++] = run;
    }
}

char *history_plot(const struct history_runs *runs, char *error, size_t error_size)
{
    struct drawing d = {.run = calloc((size_t)runs->count + 1, sizeof *d.run)};
    char *text = NULL;
    size_t size = 0;
    snprintf(error, error_size, "cannot draw the runs: out of memory\n---> close other programs");
    if (!d.run)
        return NULL;
    choose(runs, &d);
    int other = 0;
    while (other < d.count && strcmp(d.run[other]->problem, d.run[0]->problem) == 0)
        other++;
    if (d.count == 0)
        snprintf(error, error_size,
                 "no run has a time or a drop to draw; expected a finished one\n"
                 "---> `unseen history` without --plot lists all runs");
    else if (other < d.count)
        snprintf(error, error_size,
                 "runs of %.60s and %.60s do not go into one drawing; expected one problem\n"
                 "---> name it: unseen history %.60s",
                 d.run[0]->problem, d.run[other]->problem, d.run[0]->problem);
    else if ((d.out = open_memstream(&text, &size)) != NULL) {
        draw(&d);
        if (fclose(d.out) != 0) {
            free(text);
            text = NULL;
        }
    }
    free(d.run);
    return text;
}

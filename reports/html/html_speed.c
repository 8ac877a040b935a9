/* Speed: under the roofline, and against the size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html_internal.h"
#include "reports/record/published.h"
#include "reports/record/text.h"

static bool is_timed(const struct config_result *config)
{
    return config->outcome == OUTCOME_PASS && config->timing.present && config->timing.median_ms > 0;
}

static const char *time_text(char *buffer, size_t size, const struct config_result *config)
{
    snprintf(buffer, size, "%.4g ms, %.3g%% of attainable (%s bound)%s", config->timing.median_ms,
             100 * config->timing.fraction, bound_name(config->timing.bound),
             config->timing.disturbed ? ", not to be trusted: disturbed" : "");
    return buffer;
}

/* ---- The roofline: rate = min(peak, intensity * bandwidth) (Williams, Waterman and Patterson, 2009) ---- */

static double intensity(const struct config_result *config)
{
    return config->flops / config->bytes;
}

static double tflops(const struct config_result *config)
{
    return config->flops / config->timing.median_ms * 1e-9;
}

static bool has_rate(const struct config_result *config)
{
    return is_timed(config) && config->flops > 0 && config->bytes > 0;
}

static double roof(const struct peaks *peaks, double at)
{
    const double slope = at * peaks->bandwidth_gbps * 1e-3;

    return peaks->tflops > 0 ? fmin(peaks->tflops, slope) : slope;
}

static void see_roof(const struct peaks *peaks, struct scale *x, struct scale *y)
{
    const double ridge = peaks->tflops / (peaks->bandwidth_gbps * 1e-3);
    const double low = x->low, high = x->high;

    scale_see(x, low / 4);
    scale_see(x, high * 4);
    if (ridge > low / 40 && ridge < high * 40) { /* close enough to be shown */
        scale_see(x, ridge / 2);
        scale_see(x, ridge * 2);
    }
    scale_see(y, roof(peaks, x->low) < y->low ? y->low : roof(peaks, x->low));
    scale_see(y, roof(peaks, x->high));
}

static void draw_roof(FILE *out, const struct peaks *peaks, const struct scale *x, const struct scale *y)
{
    const double ridge = peaks->tflops / (peaks->bandwidth_gbps * 1e-3);
    const double low = fmax(x->low, y->low / (peaks->bandwidth_gbps * 1e-3));
    const bool bends = ridge > low && ridge < x->high;

    fprintf(out, "<path class=\"roof\" d=\"M%.1f %.1f", scale_place(x, low),
            scale_place(y, roof(peaks, low)));
    if (bends)
        fprintf(out, "L%.1f %.1f", scale_place(x, ridge), scale_place(y, peaks->tflops));
    fprintf(out, "L%.1f %.1f\"/>", scale_place(x, x->high), scale_place(y, roof(peaks, x->high)));
    fprintf(out, "<text class=\"note\" x=\"%.1f\" y=\"%.1f\">%.4g GB/s</text>", scale_place(x, low) + 22,
            scale_place(y, roof(peaks, low)) + 8, peaks->bandwidth_gbps);
    if (x->high > ridge)
        fprintf(out, "<text class=\"note\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">%.4g TFLOP/s</text>",
                scale_place(x, x->high) - 4, scale_place(y, peaks->tflops) + 16, peaks->tflops);
    fputc('\n', out);
}

static void draw_roofline(FILE *out, const struct result *result)
{
    struct scale x = chart_x(true), y = chart_y(true);
    char text[160];

    for (int i = 0; i < result->result_count; i++)
        if (has_rate(&result->results[i])) {
            scale_see(&x, intensity(&result->results[i]));
            scale_see(&y, tflops(&result->results[i]));
        }
    if (result->peaks.bandwidth_gbps > 0)
        see_roof(&result->peaks, &x, &y);
    scale_finish(&x);
    scale_finish(&y);
    chart_open(out, "roofline", &x, &y, "intensity, FLOP/byte", "attained, TFLOP/s");
    if (result->peaks.bandwidth_gbps > 0)
        draw_roof(out, &result->peaks, &x, &y);
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];

        if (has_rate(config))
            chart_dot(out, scale_place(&x, intensity(config)), scale_place(&y, tflops(config)), config,
                      OUTCOME_PASS, MARK_DOT, time_text(text, sizeof text, config));
    }
    chart_close(out);
}

static bool any(const struct result *result, bool (*holds)(const struct config_result *config))
{
    for (int i = 0; i < result->result_count; i++)
        if (holds(&result->results[i]))
            return true;
    return false;
}

void html_roofline(FILE *out, const struct result *result)
{
    fputs("<section class=\"roofline\"><h2>Roofline</h2>\n", out);
    html_element(out, "p", "legend", text_or(result->candidate_path, "unknown candidate"));
    if (any(result, has_rate))
        draw_roofline(out, result);
    else
        html_element(out, "p", "none",
                     any(result, is_timed) ? "No configuration has work that is counted."
                                           : "Nothing was timed.");
    fputs("</section>\n", out);
}

/* ---- Fraction of the attainable rate, against size ---- */

/* Finds the seen configuration that `why` refers to: for "like seen configuration 3 but cols+1" the third of
 * the seen set. Older results say "neighbour of seen 3: cols+1". Returns NULL if there is none. */
static const struct config_result *neighbour_of(const struct result *result,
                                                const struct config_result *config)
{
    static const char *const words[] = {"like seen configuration ", "neighbour of seen "};
    int left = 0;

    for (int i = 0; i < 2 && left == 0; i++)
        if (strncmp(config->why, words[i], strlen(words[i])) == 0)
            left = atoi(config->why + strlen(words[i]));

    for (int i = 0; i < result->result_count && left > 0; i++)
        if (!result->results[i].unseen && --left == 0)
            return &result->results[i];
    return NULL;
}

static void draw_tether(FILE *out, const struct scale *x, const struct scale *y,
                        const struct config_result *from, const struct config_result *to)
{
    if (to != NULL && is_timed(to) && is_timed(from))
        fprintf(out, "<line class=\"tether\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                scale_place(x, to->bytes), scale_place(y, 100 * to->timing.fraction),
                scale_place(x, from->bytes), scale_place(y, 100 * from->timing.fraction));
}

static void draw_speed(FILE *out, const struct result *result)
{
    struct scale x = chart_x(true), y = chart_y(false);
    char text[160];

    scale_see(&y, 0);
    for (int i = 0; i < result->result_count; i++)
        if (is_timed(&result->results[i])) {
            scale_see(&x, result->results[i].bytes);
            scale_see(&y, 100 * result->results[i].timing.fraction);
        }
    scale_finish(&x);
    scale_finish(&y);
    y.low = fmax(y.low, 0);
    chart_open(out, "share of the attainable against size", &x, &y, "bytes moved", "% of attainable");
    if (y.high > 100)
        fprintf(out, "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x.first,
                scale_place(&y, 100), x.last, scale_place(&y, 100));
    for (int i = 0; i < result->result_count; i++)
        draw_tether(out, &x, &y, &result->results[i], neighbour_of(result, &result->results[i]));
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *config = &result->results[i];
        char more[162 + RESULT_WHY_SIZE];

        if (!is_timed(config))
            continue;
        snprintf(more, sizeof more, "%s; %s", time_text(text, sizeof text, config), config->why);
        chart_dot(out, scale_place(&x, config->bytes), scale_place(&y, 100 * config->timing.fraction), config,
                  OUTCOME_PASS, neighbour_of(result, config) != NULL ? MARK_TRIANGLE : MARK_DOT, more);
    }
    chart_close(out);
}

void html_speed(FILE *out, const struct result *result)
{
    fputs("<section class=\"speed\"><h2>Speed against size</h2>\n", out);
    if (any(result, is_timed)) {
        fputs("<p class=\"legend\">large dots: the seen set; triangles: neighbours of a seen configuration, "
              "tied to it</p>\n",
              out);
        draw_speed(out, result);
    } else {
        html_element(out, "p", "none", "Nothing was timed.");
    }
    fputs("</section>\n", out);
}

/* Several candidates side by side. */
#include "html_internal.h"
#include "markup.h"
#include "reports/record/published.h"
#include "reports/record/quadrants.h"
#include "reports/record/summary.h"
#include "reports/record/text.h"

static void print_share(FILE *out, const struct passed *passed)
{
    fprintf(out, "<td class=\"number\">%d of %d</td>", passed->pass, passed->judged);
}

static void print_fraction(FILE *out, const struct set_score *set)
{
    if (set->timed)
        fprintf(out, "<td class=\"number\">%.3g%%</td>", 100 * set->geomean_fraction);
    else
        fputs("<td>-</td>", out);
}

static const char *paint_class(enum paint paint)
{
    return paint == PAINT_GOOD ? "good" : paint == PAINT_BAD ? "bad" : "doubtful";
}

static void print_candidate(FILE *out, const struct result *result, int number)
{
    const struct passed seen = passed_of(result, false), unseen = passed_of(result, true);
    const enum element_verdict verdict = result_verdict(result);
    char text[SUMMARY_SIZE] = "";

    fprintf(out, "<tr><td><a href=\"#result%d\">", number);
    markup_text(out, text_or(result->candidate_path, "unknown"));
    fprintf(out, "</a></td><td><b class=\"%s\">%s</b></td>", paint_class(verdict_paint(verdict)),
            verdict_name(verdict));
    print_share(out, &seen);
    print_share(out, &unseen);
    print_fraction(out, &result->seen);
    print_fraction(out, &result->unseen);
    if (result->diagnosis.present)
        summary_rule(text, &result->diagnosis);
    fputs("<td>", out);
    markup_text(out, text);
    fputs("</td></tr>\n", out);
}

static void print_pair(FILE *out, const struct result *first, const struct result *other)
{
    fputs("<tr><td>", out);
    markup_text(out, text_or(other->candidate_path, "unknown"));
    fputs("</td>", out);
    for (int unseen = 0; unseen < 2; unseen++) {
        const struct quadrants q = quadrants_of(first, other, unseen);

        if (quadrants_common(&q) > 0)
            fprintf(out,
                    "<td class=\"number\">%d</td><td class=\"number\">%d</td><td class=\"number\">%d</td>"
                    "<td class=\"number\">%d</td>",
                    q.both, q.first, q.second, q.neither);
        else
            fputs("<td colspan=\"4\">no configuration in common</td>", out);
    }
    fputs("</tr>\n", out);
}

/* A scatter plot of pass rates, seen against unseen: a general kernel lies top right, a specialized one
 * bottom right. */
static void draw_quadrants(FILE *out, const struct result *const *results, int count)
{
    struct scale x = chart_x(false), y = chart_y(false);

    x.low = y.low = -5;
    x.high = y.high = 105;
    chart_open(out, "pass rates of both sets", &x, &y, "seen, % that pass", "unseen, % that pass");
    fprintf(out,
            "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
            "<text class=\"note\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">general</text>"
            "<text class=\"note\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">specialized</text>\n",
            scale_place(&x, 0), scale_place(&y, 0), scale_place(&x, 100), scale_place(&y, 100),
            scale_place(&x, 98), scale_place(&y, 100) + 4, scale_place(&x, 97), scale_place(&y, 0) + 4);
    for (int i = 0; i < count; i++) {
        const struct passed seen = passed_of(results[i], false), unseen = passed_of(results[i], true);

        if (seen.judged == 0 || unseen.judged == 0)
            continue;
        const double at = scale_place(&x, 100.0 * seen.pass / seen.judged);
        const double up = scale_place(&y, 100.0 * unseen.pass / unseen.judged);

        fprintf(
            out,
            "<g class=\"dot candidate\"><circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\"/><text x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"middle\">%d</text><title>",
            at, up, at, up + 4, i + 1);
        markup_text(out, results[i]->candidate_path);
        fprintf(out, ": seen %d of %d, unseen %d of %d</title></g>\n", seen.pass, seen.judged, unseen.pass,
                unseen.judged);
    }
    chart_close(out);
}

void html_side_by_side(FILE *out, const struct result *const *results, int count)
{
    fputs(
        "<section class=\"compare\" id=\"side-by-side\"><h2>Side by side</h2>\n<div "
        "class=\"wide\"><table><thead><tr>"
        "<th>candidate</th><th>verdict</th><th>seen pass</th><th>unseen pass</th><th>of attainable, seen</th>"
        "<th>unseen</th><th>when it fails</th></tr></thead><tbody>\n",
        out);
    for (int i = 0; i < count; i++)
        print_candidate(out, results[i], i);
    fputs("</tbody></table></div>\n<figure><figcaption>Numbers as in the "
          "table</figcaption>\n",
          out);
    draw_quadrants(out, results, count);
    fputs(
        "</figure>\n<div class=\"wide\"><table class=\"quadrants\"><caption>Configurations that both judged, "
        "beside ",
        out);
    markup_text(out, text_or(results[0]->candidate_path, "the first"));
    fputs("</caption><thead><tr><th rowspan=\"2\">candidate</th><th colspan=\"4\">seen pass</th>"
          "<th colspan=\"4\">unseen pass</th></tr><tr><th>both</th><th>first only</th><th>this only</th>"
          "<th>neither</th><th>both</th><th>first only</th><th>this "
          "only</th><th>neither</th></tr></thead><tbody>\n",
          out);
    for (int i = 1; i < count; i++)
        print_pair(out, results[0], results[i]);
    fputs("</tbody></table></div></section>\n", out);
}

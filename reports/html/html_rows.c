/* Tables: worst elements, commands to paste, every configuration. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/record/content_text.h"
#include "html_internal.h"
#include "markup.h"
#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "reports/record/text.h"

enum { SHOWN_WORST = 12, SHOWN_COMMANDS = 12 };

void html_element(FILE *out, const char *tag, const char *classes, const char *text)
{
    fprintf(out, classes != NULL ? "<%s class=\"%s\">" : "<%s>", tag, classes);
    markup_text(out, text);
    fprintf(out, "</%s>\n", tag);
}

static void print_command(FILE *out, const char *command, const char *shows)
{
    if (shows != NULL)
        html_element(out, "p", "shows", shows);
    fputs("<div class=\"command\"><code>", out);
    markup_text(out, command);
    fputs("</code><button type=\"button\" class=\"copy\">Copy</button></div>\n", out);
}

void html_command(FILE *out, const struct result *result, const struct config_result *config,
                  const char *shows)
{
    char *command = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&command, &size);

    if (text == NULL)
        return;
    if (config != NULL)
        summary_command(text, result, config);
    else
        content_command(text, result);
    if (fclose(text) == 0 && size > 0)
        print_command(out, command, shows);
    free(command);
}

void html_command_again(FILE *out, const struct result *result)
{
    char *command = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&command, &size);

    if (text == NULL)
        return;
    summary_command_again(text, result);
    if (fclose(text) == 0)
        print_command(out, command, "The whole run again, on the same configurations:");
    free(command);
}

/* `title` is the column's title, which narrow screens show in the cell; NULL: none. */
static void open_cell(FILE *out, const char *classes, const char *title)
{
    fputs("<td", out);
    if (classes != NULL)
        fprintf(out, " class=\"%s\"", classes);
    if (title != NULL)
        fprintf(out, " data-title=\"%s\"", title);
    fputc('>', out);
}

static void cell(FILE *out, const char *title, const char *text)
{
    open_cell(out, NULL, title);
    markup_text(out, text);
    fputs("</td>", out);
}

static void cell_number(FILE *out, const char *title, double value, int digits)
{
    char text[TEXT_NUMBER_SIZE];

    open_cell(out, "number", title);
    fprintf(out, "%s</td>", text_number(text, value, digits));
}

/* The anchor of a configuration's row in the table of all configurations. */
static void print_row_name(FILE *out, const struct result *result, const struct config_result *config,
                           int number)
{
    fprintf(out, "result%d-%td", number, config - result->results + 1);
}

/* ---- Worst elements ---- */

static double excess(const struct worst *worst)
{
    const double ratio = worst->allowed > 0 ? worst->error / worst->allowed : INFINITY;

    return isnan(ratio) ? INFINITY : ratio;
}

/* Sorts by error relative to the allowed error, largest first; ties keep the order of the results. */
static int by_excess(const void *a, const void *b)
{
    const struct config_result *const one = *(const struct config_result *const *)a;
    const struct config_result *const other = *(const struct config_result *const *)b;
    const double difference[] = {excess(&one->worst), excess(&other->worst)};

    if (difference[0] != difference[1])
        return difference[0] > difference[1] ? -1 : 1;
    return one < other ? -1 : one > other;
}

static void print_worst(FILE *out, const struct result *result, const struct config_result *config,
                        int number)
{
    const struct worst *worst = &config->worst;
    char text[SUMMARY_SIZE];

    text_element(text, sizeof text, worst);
    text[strcspn(text, " ")] = '\0'; /* "y[3,4098]" */
    fputs("<tr>", out);
    open_cell(out, NULL, "configuration");
    fputs("<a href=\"#", out);
    print_row_name(out, result, config, number);
    fputs("\"><code>", out);
    markup_text(out, config->line);
    fputs("</code></a></td>", out);
    cell(out, "element", text);
    cell_number(out, "got", worst->got, 9);
    cell_number(out, "want", worst->want, 9);
    cell_number(out, "allowed", worst->allowed, 3);
    if (isfinite(excess(worst)))
        cell_number(out, "error / allowed", excess(worst), 3);
    else
        fputs("<td class=\"number\" data-title=\"error / allowed\">-</td>", out);
    cell(out, "known by", worst->witnessed ? "MPFR" : "enclosure");
    fputs("</tr>\n", out);
}

void html_worst(FILE *out, const struct result *result, int number)
{
    const struct config_result **list = calloc((size_t)result->result_count + 1, sizeof *list);
    int count = 0;

    fputs("<section class=\"worst\"><h2>Worst elements</h2>\n", out);
    for (int i = 0; i < result->result_count && list != NULL; i++)
        if (outcome_is_rejected(config_outcome(&result->results[i], published_decides(result))) &&
            result->results[i].worst.present)
            list[count++] = &result->results[i];
    if (count > 0) {
        qsort(list, (size_t)count, sizeof *list, by_excess);
        fputs(
            "<div "
            "class=\"wide\"><table><thead><tr><th>configuration</th><th>element</th><th>got</th><th>want</th>"
            "<th>allowed</th><th>error / allowed</th><th>known by</th></tr></thead><tbody>\n",
            out);
        for (int i = 0; i < count && i < SHOWN_WORST; i++)
            print_worst(out, result, list[i], number);
        fputs("</tbody></table></div>\n", out);
    } else {
        html_element(out, "p", "none", "No element is wrong.");
    }
    fputs("</section>\n", out);
    free(list);
}

/* ---- Commands to paste ---- */

/* "wrong, unseen: 14 of 16396 elements wrong, .." */
static void print_failure_command(FILE *out, const struct result *result, const struct config_result *config)
{
    char text[RESULT_DETAIL_SIZE + 64];

    snprintf(text, sizeof text, "%s, %s: %s", outcome_name(config_outcome(config, published_decides(result))),
             config->unseen ? "unseen" : "seen", text_or(config->detail, "no more is known"));
    html_command(out, result, config, text);
}

void html_reproduce(FILE *out, const struct result *result)
{
    int shown = 0, failures = 0;

    fputs("<section class=\"reproduce\"><h2>See it again</h2>\n", out);
    if (result->diagnosis.present)
        html_command(out, result, &result->diagnosis.minimal, "The smallest failure:");
    for (int round = 0; round < SHOWN_COMMANDS; round++) { /* at first one failure of every outcome */
        int met[OUTCOME_COUNT] = {0};

        for (int i = 0; i < result->result_count; i++) {
            const enum outcome outcome = config_outcome(&result->results[i], published_decides(result));

            if (!outcome_is_rejected(outcome))
                continue;
            failures += round == 0;
            if (met[outcome]++ != round || shown == SHOWN_COMMANDS)
                continue;
            print_failure_command(out, result, &result->results[i]);
            shown++;
        }
    }
    if (failures > shown)
        fprintf(out, "<p>%d more have their line in the table of all configurations.</p>\n",
                failures - shown);
    if (failures == 0 && !result->diagnosis.present)
        html_element(out, "p", "none", "Nothing fails.");
    fputs("</section>\n", out);
}

/* ---- All configurations ---- */

static void print_row(FILE *out, const struct result *result, const struct config_result *config, int number)
{
    const enum outcome outcome = config_outcome(config, published_decides(result));
    char element[SUMMARY_SIZE];

    fputs("<tr id=\"", out);
    print_row_name(out, result, config, number);
    fprintf(out, "\" class=\"configuration %s\"><td><a href=\"#", outcome_name(outcome));
    print_row_name(out, result, config, number);
    fprintf(out, "\">%s</a></td>", config->unseen ? "unseen" : "seen");
    fprintf(out, "<td><b class=\"%s\">%s</b></td><td><code>",
            outcome == OUTCOME_PASS        ? "good"
            : outcome_is_rejected(outcome) ? "bad"
                                           : "doubtful",
            outcome_name(outcome));
    markup_text(out, config->line);
    fputs("</code>", out);
    if (outcome != OUTCOME_PASS && config->detail[0] != '\0')
        html_element(out, "p", NULL, config->detail);
    if (outcome_is_rejected(outcome) && config->worst.present) {
        text_element(element, sizeof element, &config->worst);
        html_element(out, "p", NULL, element);
    }
    if (outcome_is_rejected(outcome) && summary_own(element, result, config))
        html_element(out, "p", NULL, element);
    if (outcome_is_rejected(outcome))
        html_command(out, result, config, NULL);
    fputs("</td>", out);
    cell(out, NULL, config->why);
    if (config->timing.present) {
        cell_number(out, NULL, config->timing.median_ms, 4);
        cell_number(out, NULL, 100 * config->timing.fraction, 3);
    } else {
        fputs("<td></td><td></td>", out);
    }
    fputs("</tr>\n", out);
}

void html_rows(FILE *out, const struct result *result, int number)
{
    fprintf(out, "<section class=\"rows\"><details id=\"rows%d\"><summary>All %d configurations</summary>\n",
            number, result->result_count);
    fputs("<div class=\"wide\"><table><thead><tr><th>set</th><th>outcome</th><th>configuration</th><th>drawn "
          "as</th>"
          "<th>ms</th><th>% of attainable</th></tr></thead><tbody>\n",
          out);
    for (int i = 0; i < result->result_count; i++)
        print_row(out, result, &result->results[i], number);
    fputs("</tbody></table></div></details></section>\n", out);
}

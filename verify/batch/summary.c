#include "summary.h"

#include <stdlib.h>
#include <string.h>

#include "line.h"
#include "reports/record/text.h"

enum { RANKED = 20, CLUSTERS = 20, NAMED = 3 };

static const char *text_of(const json_t *line, const char *key)
{
    return json_string_value(json_object_get(line, key));
}

static const char *verdict_word(const json_t *line)
{
    return text_or(batch_line_verdict(line), "refused");
}

double batch_summary_score(const json_t *line, const char **name)
{
    static const char *const names[] = {"score", "pass_rate"};
    const json_t *const unseen = json_object_get(json_object_get(line, "scores"), "unseen");
    for (int i = 0; i < 2; i++) {
        const json_t *const value = json_object_get(unseen, names[i]);
        *name = names[i];
        if (json_is_number(value))
            return json_number_value(value);
    }
    return -1;
}

void batch_summary_row(FILE *out, const json_t *line)
{
    const char *name, *const rule = text_of(line, "rule"), *const why = rule ? rule : text_of(line, "reason");
    char number[TEXT_NUMBER_SIZE] = "-";
    const double score = batch_summary_score(line, &name);
    if (score >= 0)
        text_number(number, score, 3);
    fprintf(out, "%-13s %-7s %7.1f s  ", verdict_word(line), number,
            json_number_value(json_object_get(line, "seconds")));
    text_plain(out, text_of(line, "id"));
    if (why) {
        char first[200];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(why, "\n"), why);
        fprintf(out, "  ");
        text_plain(out, first);
    }
    fprintf(out, "\n");
}

/* --- verdicts --- */

static void print_verdicts(FILE *out, json_t *const *line, int count)
{
    static const char *const words[] = {"general",  "limited",   "specialized",  "broken",
                                        "cheating", "forbidden", "inconclusive", "refused"};
    int finished = 0, found;
    const char *comma = "";
    for (int i = 0; i < count; i++)
        finished += line[i] != NULL;
    fprintf(out, "\n%d of %d candidates: ", finished, count);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        found = 0;
        for (int i = 0; i < count; i++)
            found += line[i] && strcmp(verdict_word(line[i]), words[w]) == 0;
        if (found > 0) {
            fprintf(out, "%s%d %s", comma, found, words[w]);
            comma = ", ";
        }
    }
    fprintf(out, "\n");
}

/* --- ranking --- */

/* By problem, then by the kind of score, then the best first. */
static int by_score(const void *a, const void *b)
{
    const json_t *const one = *(json_t *const *)a, *const other = *(json_t *const *)b;
    const char *name[2];
    const double score[2] = {batch_summary_score(one, &name[0]), batch_summary_score(other, &name[1])};
    const int problem = strcmp(text_of(one, "problem"), text_of(other, "problem"));
    if (problem != 0)
        return problem;
    const int kind = strcmp(name[1], name[0]); /* "score" before "pass_rate" */
    if (kind != 0)
        return kind;
    return score[0] == score[1]  ? strcmp(text_of(one, "id"), text_of(other, "id"))
           : score[0] < score[1] ? 1
                                 : -1;
}

static void print_ranking(FILE *out, json_t **line, int count)
{
    char number[TEXT_NUMBER_SIZE];
    const char *name, *problem = "";
    int ranked = 0;
    qsort(line, (size_t)count, sizeof *line, by_score);
    for (int i = 0; i < count; i++) {
        const double score = batch_summary_score(line[i], &name);
        const bool new_problem = strcmp(problem, text_of(line[i], "problem")) != 0;
        if (score < 0 || strcmp(verdict_word(line[i]), "general") != 0)
            continue;
        if (new_problem) {
            problem = text_of(line[i], "problem");
            fprintf(out, "\n%s, the best by the unseen set:\n", problem);
            ranked = 0;
        }
        if (ranked++ >= RANKED)
            continue;
        fprintf(out, "  %2d  %-9s %-10s ", ranked, name, text_number(number, score, 3));
        text_plain(out, text_of(line[i], "id"));
        fprintf(out, "\n");
    }
}

/* --- clusters --- */

static bool is_failure(const json_t *line)
{
    const char *const verdict = verdict_word(line);
    return strcmp(verdict, "general") != 0 && strcmp(verdict, "limited") != 0;
}

/* Failures with one rule belong together; without a rule, those with one outcome. */
static const char *cluster_of(const json_t *line)
{
    const char *const rule = text_of(line, "rule");
    return rule ? rule : text_or(text_of(line, "outcome"), verdict_word(line));
}

static int by_cluster(const void *a, const void *b)
{
    const json_t *const one = *(json_t *const *)a, *const other = *(json_t *const *)b;
    const int problem = strcmp(text_of(one, "problem"), text_of(other, "problem"));
    return problem != 0 ? problem : strcmp(cluster_of(one), cluster_of(other));
}

static void print_cluster(FILE *out, json_t *const *line, int count)
{
    const char *const rule = text_of(line[0], "rule");
    fprintf(out, "  %4d  ", count);
    text_plain(out, text_of(line[0], "problem"));
    fprintf(out, rule ? ", rule " : ", ");
    text_plain(out, cluster_of(line[0]));
    fprintf(out, ": ");
    for (int i = 0; i < count && i < NAMED; i++) {
        fprintf(out, i ? ", " : "");
        text_plain(out, text_of(line[i], "id"));
    }
    fprintf(out, count > NAMED ? ", ..\n" : "\n");
}

static void print_clusters(FILE *out, json_t **line, int count)
{
    int failures = 0, clusters = 0;
    for (int i = 0; i < count; i++)
        if (is_failure(line[i]))
            line[failures++] = line[i];
    qsort(line, (size_t)failures, sizeof *line, by_cluster);
    if (failures > 0)
        fprintf(out, "\nfailures by rule, or by outcome where there is none:\n");
    for (int i = 0, end; i < failures; i = end) {
        for (end = i + 1; end < failures && by_cluster(&line[i], &line[end]) == 0; end++)
            ;
        if (++clusters <= CLUSTERS)
            print_cluster(out, line + i, end - i);
    }
    if (clusters > CLUSTERS)
        fprintf(out, "        and %d more\n", clusters - CLUSTERS);
}

void batch_summary_print(FILE *out, const struct batch_list *list, json_t *const *line)
{
    json_t **const known = calloc((size_t)list->count + 1, sizeof *known);
    int count = 0;
    print_verdicts(out, line, list->count);
    for (int i = 0; known && i < list->count; i++)
        if (line[i])
            known[count++] = line[i];
    if (known) {
        print_ranking(out, known, count);
        print_clusters(out, known, count);
    }
    free(known);
}

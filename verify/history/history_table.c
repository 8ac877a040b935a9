/* Runs as JSON and as a table. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "history.h"
#include "reports/record/text.h"

static json_t *number_or_null(bool applies, double value)
{
    return applies && isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
    json_t *const string = text ? json_string(text) : NULL;
    return string ? string : json_null(); /* JSON cannot represent a path that is not UTF-8 */
}

static void date_text(int64_t seconds, const char *format, char *text, size_t size)
{
    const time_t when = (time_t)seconds;
    struct tm broken;
    if (!gmtime_r(&when, &broken) || strftime(text, size, format, &broken) == 0)
        snprintf(text, size, "?");
}

static json_t *date_json(int64_t seconds)
{
    char text[32];
    if (seconds == 0)
        return json_null();
    date_text(seconds, "%Y-%m-%dT%H:%M:%SZ", text, sizeof text);
    return json_string(text);
}

static json_t *set_json(const struct history_set *set)
{
    if (set->configs < 0)
        return json_null();
    return json_pack("{s:i, s:i, s:o, s:o, s:o}", "configs", set->configs, "pass", set->pass, "geomean_ms",
                     number_or_null(set->ms > 0, set->ms), "geomean_fraction",
                     number_or_null(set->fraction > 0, set->fraction), "score",
                     number_or_null(true, set->score));
}

static json_t *config_json(const struct history_config *c)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "set",
                     c->unseen ? "unseen" : "seen", "config", text_or_null(c->line), "outcome",
                     text_or_null(c->outcome), "median_ms", number_or_null(c->ms > 0, c->ms), "low_ms",
                     number_or_null(c->ms > 0, c->low_ms), "high_ms", number_or_null(c->ms > 0, c->high_ms),
                     "fraction", number_or_null(c->ms > 0, c->fraction), "baseline_ms",
                     number_or_null(c->baseline_ms > 0, c->baseline_ms), "baseline_outcome",
                     text_or_null(c->baseline_outcome), "trusted", c->trusted);
}

static json_t *run_json(const struct history_run *r)
{
    json_t *const configs = json_array();
    for (int i = 0; i < r->configs; i++)
        json_array_append_new(configs, config_json(&r->config[i]));
    return json_pack(
        "{s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o}",
        "id", (json_int_t)r->id, "state", r->state, "started", date_json(r->started), "finished",
        date_json(r->finished), "problem", text_or_null(r->problem), "candidate", text_or_null(r->candidate),
        "candidate_sha256", text_or_null(r->sha256), "device", text_or_null(r->device), "version",
        text_or_null(r->version), "git", text_or_null(r->git), "seed", (json_int_t)r->seed, "verdict",
        text_or_null(r->verdict), "partial_reason", text_or_null(r->partial), "rule", text_or_null(r->rule),
        "minimal", text_or_null(r->minimal), "baseline", text_or_null(r->baseline), "drop_points",
        number_or_null(true, r->drop), "retention", number_or_null(true, r->retention), "seconds",
        number_or_null(r->finished > 0, r->seconds), "seen", set_json(&r->seen), "unseen",
        set_json(&r->unseen), "results", configs);
}

char *history_json(const struct history_runs *runs)
{
    json_t *const list = json_array();
    for (int i = 0; i < runs->count; i++)
        json_array_append_new(list, run_json(&runs->run[i]));
    json_t *const json = json_pack("{s:i, s:o}", "schema", 1, "runs", list);
    char *const text = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    return text;
}

/* --- for people --- */

static const char *pass_text(char *text, size_t size, const struct history_set *set)
{
    if (set->configs < 0)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%d/%d", set->pass, set->configs);
    return text;
}

static const char *number_text(char *text, size_t size, bool applies, double value, const char *format)
{
    if (applies && isfinite(value))
        snprintf(text, size, format, value);
    else
        snprintf(text, size, "-");
    return text;
}

/* Shortens a path at its start, since its end is more informative. */
static void print_candidate(FILE *out, const char *path)
{
    enum { WIDTH = 20 };
    const size_t length = strlen(path);
    char text[WIDTH + 4];
    if (length <= WIDTH)
        snprintf(text, sizeof text, "%s", path);
    else
        snprintf(text, sizeof text, "..%s", path + length - (WIDTH - 2));
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
            *c = '?';
    fprintf(out, "%-20s", text);
}

void history_print(FILE *out, const struct history_runs *runs)
{
    fprintf(out, "%-17s%-12s%-20s  %-12s%9s%9s%7s%9s\n", "date (UTC)", "problem", "candidate", "verdict",
            "seen", "unseen", "drop", "ms");
    for (int i = 0; i < runs->count; i++) {
        const struct history_run *const r = &runs->run[i];
        char date[32], seen[32], unseen[32], drop[32], ms[32];
        date_text(r->started, "%Y-%m-%d %H:%M", date, sizeof date);
        fprintf(out, "%-17s%-12.11s", date, r->problem);
        print_candidate(out, r->candidate);
        fprintf(out, "  %-12s%9s%9s%7s%9s\n", text_or(r->verdict, r->state),
                pass_text(seen, sizeof seen, &r->seen), pass_text(unseen, sizeof unseen, &r->unseen),
                number_text(drop, sizeof drop, true, r->drop, "%.1f"),
                number_text(ms, sizeof ms, r->seen.ms > 0, r->seen.ms, "%.4g"));
    }
}

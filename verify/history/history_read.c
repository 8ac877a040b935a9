/* Reads runs of a problem or of a candidate, newest first, each with its configurations. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history_internal.h"

enum { LEAST_DIGITS = 6 };

static const char select_runs[] =
    "SELECT id, started, coalesce(finished, 0), state, problem, candidate, candidate_sha256, device, "
    "version, git, "
    "verdict, partial, rule, minimal, baseline, seed, drop_points, retention, seconds, "
    "seen_configs, seen_pass, seen_ms, seen_fraction, seen_score, "
    "unseen_configs, unseen_pass, unseen_ms, unseen_fraction, unseen_score FROM run "
    "WHERE :word IS NULL OR problem = :word OR candidate = :word OR candidate LIKE :ending ESCAPE '\\' "
    "OR (:digits IS NOT NULL AND substr(candidate_sha256, 1, length(:digits)) = :digits) "
    "ORDER BY started DESC, id DESC";

static const char select_configurations[] = "SELECT line, outcome, baseline_outcome, unseen, "
                                            "coalesce(trusted, 1), median_ms, low_ms, high_ms, baseline_ms, "
                                            "fraction FROM configuration WHERE run = :run ORDER BY place";

/* NULL stays NULL; *ok becomes false when out of memory. */
static char *text_at(sqlite3_stmt *s, int column, bool *ok)
{
    const unsigned char *const text = sqlite3_column_text(s, column);
    char *const copy = text ? strdup((const char *)text) : NULL;
    *ok = *ok && (copy || !text);
    return copy;
}

static double number_at(sqlite3_stmt *s, int column, double otherwise)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? otherwise : sqlite3_column_double(s, column);
}

static void read_set(sqlite3_stmt *s, int column, struct history_set *set)
{
    const bool known = sqlite3_column_type(s, column) != SQLITE_NULL;
    *set = (struct history_set){.configs = known ? sqlite3_column_int(s, column) : -1,
                                .pass = known ? sqlite3_column_int(s, column + 1) : -1,
                                .ms = number_at(s, column + 2, 0),
                                .fraction = number_at(s, column + 3, 0),
                                .score = number_at(s, column + 4, NAN)};
}

static bool read_run(sqlite3_stmt *s, struct history_run *run)
{
    bool ok = true;
    char **const text[] = {&run->state,   &run->problem, &run->candidate, &run->sha256,
                           &run->device,  &run->version, &run->git,       &run->verdict,
                           &run->partial, &run->rule,    &run->minimal,   &run->baseline};
    enum { FIRST_TEXT = 3, AFTER = FIRST_TEXT + sizeof text / sizeof *text };
    *run = (struct history_run){.id = sqlite3_column_int64(s, 0),
                                .started = sqlite3_column_int64(s, 1),
                                .finished = sqlite3_column_int64(s, 2),
                                .seed = (uint64_t)sqlite3_column_int64(s, AFTER),
                                .drop = number_at(s, AFTER + 1, NAN),
                                .retention = number_at(s, AFTER + 2, NAN),
                                .seconds = number_at(s, AFTER + 3, 0)};
    for (int i = FIRST_TEXT; i < AFTER; i++)
        *text[i - FIRST_TEXT] = text_at(s, i, &ok);
    read_set(s, AFTER + 4, &run->seen);
    read_set(s, AFTER + 9, &run->unseen);
    return ok && run->state && run->problem && run->candidate;
}

static bool read_config(sqlite3_stmt *s, struct history_config *config)
{
    bool ok = true;
    *config = (struct history_config){.line = text_at(s, 0, &ok),
                                      .outcome = text_at(s, 1, &ok),
                                      .baseline_outcome = text_at(s, 2, &ok),
                                      .unseen = sqlite3_column_int(s, 3) != 0,
                                      .trusted = sqlite3_column_int(s, 4) != 0,
                                      .ms = number_at(s, 5, 0),
                                      .low_ms = number_at(s, 6, 0),
                                      .high_ms = number_at(s, 7, 0),
                                      .baseline_ms = number_at(s, 8, 0),
                                      .fraction = number_at(s, 9, 0)};
    return ok && config->line && config->outcome;
}

/* Grows an array of `count` items of `size` bytes for one more; NULL: out of memory. */
static void *grow(void *items, int count, size_t size)
{
    const bool full = (count & (count - 1)) == 0; /* is the count a power of two? */
    return full ? realloc(items, (count ? 2 * (size_t)count : 1) * size) : items;
}

static bool read_configs(struct database *d, struct history_run *run)
{
    sqlite3_stmt *const s = database_prepare(d, select_configurations);
    int status = SQLITE_ERROR;
    if (s)
        sqlite3_bind_int64(s, 1, run->id);
    while (s && (status = sqlite3_step(s)) == SQLITE_ROW) {
        struct history_config *const grown = grow(run->config, run->configs, sizeof *grown);
        if (!grown)
            break;
        run->config = grown;
        if (!read_config(s, &grown[run->configs++]))
            break;
    }
    return sqlite3_finalize(s) == SQLITE_OK && status == SQLITE_DONE;
}

static bool read_all(struct database *d, sqlite3_stmt *s, struct history_runs *runs)
{
    int status;
    while ((status = sqlite3_step(s)) == SQLITE_ROW) {
        struct history_run *const grown = grow(runs->run, runs->count, sizeof *grown);
        if (!grown)
            return false;
        runs->run = grown;
        if (!read_run(s, &grown[runs->count++]))
            return false;
    }
    for (int i = 0; status == SQLITE_DONE && i < runs->count; i++)
        if (!read_configs(d, &runs->run[i]))
            return false;
    return status == SQLITE_DONE;
}

/* Binds "%/" and the word, with its own % and _ escaped. */
static void bind_ending(sqlite3_stmt *s, const char *word)
{
    char pattern[1024] = "%/";
    size_t used = 2;
    for (; *word && used + 3 < sizeof pattern; word++) {
        if (strchr("%_\\", *word))
            pattern[used++] = '\\';
        pattern[used++] = *word;
    }
    pattern[used] = '\0';
    sqlite3_bind_text(s, sqlite3_bind_parameter_index(s, ":ending"), pattern, -1, SQLITE_TRANSIENT);
}

static bool is_hash(const char *word)
{
    size_t digits = 0;
    while (isdigit((unsigned char)word[digits]) || (word[digits] >= 'a' && word[digits] <= 'f'))
        digits++;
    return digits >= LEAST_DIGITS && word[digits] == '\0';
}

static bool select_by(struct database *d, const char *word, struct history_runs *runs)
{
    sqlite3_stmt *const s = database_prepare(d, select_runs);
    if (!s)
        return false;
    if (word) {
        sqlite3_bind_text(s, sqlite3_bind_parameter_index(s, ":word"), word, -1, SQLITE_TRANSIENT);
        bind_ending(s, word);
        if (is_hash(word))
            sqlite3_bind_text(s, sqlite3_bind_parameter_index(s, ":digits"), word, -1, SQLITE_TRANSIENT);
    }
    const bool ok = read_all(d, s, runs);
    return sqlite3_finalize(s) == SQLITE_OK && ok;
}

/* Reads in one transaction, so that a run that ends meanwhile is complete or absent. */
enum history_status history_read(const struct history *history, const char *word, struct history_runs *runs,
                                 char *error, size_t error_size)
{
    struct database d;
    *runs = (struct history_runs){0};
    enum history_status status = database_open(&d, history, false, error, error_size);
    if (status != HISTORY_OK)
        return status;
    sqlite3_stmt *const tables = database_prepare(&d, "SELECT 1 FROM sqlite_master LIMIT 1");
    const bool empty = tables && sqlite3_step(tables) == SQLITE_DONE;
    sqlite3_finalize(tables);
    if (!empty && (!database_run(&d, "BEGIN") || !select_by(&d, word, runs))) {
        status = database_fail(&d, "read it");
        history_runs_clear(runs);
    }
    database_close(&d);
    return status;
}

static void clear_run(struct history_run *run)
{
    char *const text[] = {run->state, run->problem, run->candidate, run->sha256, run->device,  run->version,
                          run->git,   run->verdict, run->partial,   run->rule,   run->minimal, run->baseline};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        free(text[i]);
    for (int i = 0; i < run->configs; i++) {
        free(run->config[i].line);
        free(run->config[i].outcome);
        free(run->config[i].baseline_outcome);
    }
    free(run->config);
}

void history_runs_clear(struct history_runs *runs)
{
    for (int i = 0; i < runs->count; i++)
        clear_run(&runs->run[i]);
    free(runs->run);
    *runs = (struct history_runs){0};
}

/* Writes to the history: a row at the start of a run, and the complete result at its end. */
#include "history.h"

#include <math.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "history_internal.h"
#include "reports/record/published.h"
#include "reports/record/scores.h"
#include "gen/random/hex.h"

/* --- binding --- */

static void bind_text(sqlite3_stmt *s, const char *name, const char *value)
{
    const int i = sqlite3_bind_parameter_index(s, name);
    if (value && *value)
        sqlite3_bind_text(s, i, value, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(s, i);
}

static void bind_whole(sqlite3_stmt *s, const char *name, int64_t value)
{
    sqlite3_bind_int64(s, sqlite3_bind_parameter_index(s, name), value);
}

static void bind_number(sqlite3_stmt *s, const char *name, bool applies, double value)
{
    if (applies && isfinite(value))
        sqlite3_bind_double(s, sqlite3_bind_parameter_index(s, name), value);
    else
        sqlite3_bind_null(s, sqlite3_bind_parameter_index(s, name));
}

/* --- one run --- */

static void new_token(char token[HISTORY_TOKEN])
{
    unsigned char random[(HISTORY_TOKEN - 1) / 2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        abort(); /* never fails below 256 bytes */
    hex_text(random, sizeof random, token);
}

/* Hash of a result, equal for a run and for its JSON file, which keeps all digits. */
static void fingerprint(const struct result *result, char text[65])
{
    char all[1600];
    unsigned char digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx sha;
    const int length = snprintf(all, sizeof all, "%s\n%s\n%s\n%s\n%llu\n%.17g\n%s\n%d", result->problem,
                                result->candidate_path, result->candidate_sha256, result->commitment,
                                (unsigned long long)result->seed, result->seconds,
                                verdict_name(result_verdict(result)), result->result_count);
    sha256_init(&sha);
    sha256_update(&sha, (size_t)length, (const uint8_t *)all);
    sha256_digest(&sha, sizeof digest, digest);
    hex_text(digest, sizeof digest, text);
}

static const char insert_run[] =
    "INSERT INTO run (token, state, owner, started, problem, candidate, candidate_sha256, language, "
    "baseline, device, "
    "driver, seed, commitment, effort, version, git) VALUES (:token, 'unfinished', :owner, :started, "
    ":problem, "
    ":candidate, :sha, :language, :baseline, :device, :driver, :seed, :commitment, :effort, :version, :git)";

static bool insert(struct database *d, const char *token, const char *owner, const struct result *result,
                   int64_t started)
{
    sqlite3_stmt *const s = database_prepare(d, insert_run);
    if (!s)
        return false;
    bind_text(s, ":token", token);
    bind_text(s, ":owner", owner);
    bind_whole(s, ":started", started);
    bind_text(s, ":problem", result->problem && *result->problem ? result->problem : "?");
    bind_text(s, ":candidate", *result->candidate_path ? result->candidate_path : "?");
    bind_text(s, ":sha", result->candidate_sha256);
    bind_text(s, ":language", result->language);
    bind_text(s, ":baseline", result->baseline.path);
    bind_text(s, ":device", result->device);
    bind_text(s, ":driver", result->driver);
    bind_whole(s, ":seed", (int64_t)result->seed);
    bind_text(s, ":commitment", result->commitment);
    bind_text(s, ":effort", result->effort);
    bind_text(s, ":version", result->version);
    bind_text(s, ":git", result->git);
    return database_step_done(s);
}

/* --- the end of a run --- */

static const char update_run[] =
    "UPDATE run SET state = 'finished', owner = NULL, fingerprint = :fingerprint, finished = :finished, "
    "device = :device, driver = :driver, verdict = :verdict, partial = :partial, rule = :rule, minimal = "
    ":minimal, "
    "seconds = :seconds, drop_points = :drop, retention = :retention, seen_configs = :configs0, "
    "seen_pass = :pass0, seen_ms = :ms0, seen_fraction = :fraction0, seen_score = :score0, "
    "unseen_configs = :configs1, unseen_pass = :pass1, unseen_ms = :ms1, unseen_fraction = :fraction1, "
    "unseen_score = :score1 WHERE token = :token";

static double geomean_ms(const struct result *result, bool unseen)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *const c = &result->results[i];
        if (c->unseen != unseen || c->outcome != OUTCOME_PASS || !c->timing.present ||
            !(c->timing.median_ms > 0))
            continue;
        sum += log(c->timing.median_ms);
        count++;
    }
    return count > 0 ? exp(sum / count) : 0;
}

static void bind_set(sqlite3_stmt *s, const struct result *result, bool unseen)
{
    const struct set_score *const set = unseen ? &result->unseen : &result->seen;
    const double ms = geomean_ms(result, unseen);
    char name[16];
#define NAMED(text) (snprintf(name, sizeof name, ":" text "%d", unseen), name)
    bind_whole(s, NAMED("configs"), set->configs);
    bind_whole(s, NAMED("pass"), set->outcome[OUTCOME_PASS]);
    bind_number(s, NAMED("ms"), ms > 0, ms);
    bind_number(s, NAMED("fraction"), set->timed, set->geomean_fraction);
    bind_number(s, NAMED("score"), set->timed && !score_open(result, unseen), set->score);
#undef NAMED
}

static bool update(struct database *d, const char *token, const struct result *result, int64_t finished)
{
    char print[65];
    sqlite3_stmt *const s = database_prepare(d, update_run);
    if (!s)
        return false;
    fingerprint(result, print);
    bind_text(s, ":token", token);
    bind_text(s, ":fingerprint", print);
    bind_whole(s, ":finished", finished);
    bind_text(s, ":device", result->device);
    bind_text(s, ":driver", result->driver);
    bind_text(s, ":verdict", verdict_name(result_verdict(result)));
    bind_text(s, ":partial", result->partial ? result->partial_reason : NULL);
    bind_text(s, ":rule",
              result->diagnosis.present && result->diagnosis.rule.present ? result->diagnosis.rule.text
                                                                          : NULL);
    bind_text(s, ":minimal", result->diagnosis.present ? result->diagnosis.minimal.line : NULL);
    bind_number(s, ":seconds", true, result->seconds);
    bind_number(s, ":drop", result->drop.present, result->drop.value);
    bind_number(s, ":retention", result->retention.present, result->retention.value);
    bind_set(s, result, false);
    bind_set(s, result, true);
    return database_step_done(s);
}

static const char insert_configuration[] = "INSERT INTO configuration VALUES ((SELECT id FROM run WHERE "
                                           "token = :token), :place, :line, :unseen, :outcome, "
                                           ":detail, :median, :low, :high, :samples, :trusted, :attainable, "
                                           ":fraction, :baseline, :baseline_outcome)";

static bool insert_one(sqlite3_stmt *s, int place, const struct config_result *c)
{
    const struct timing *const t = &c->timing;
    sqlite3_reset(s);
    bind_whole(s, ":place", place);
    bind_text(s, ":line", *c->line ? c->line : "?");
    bind_whole(s, ":unseen", c->unseen);
    bind_text(s, ":outcome", outcome_name(c->outcome));
    bind_text(s, ":detail", c->detail);
    bind_number(s, ":median", t->present, t->median_ms);
    bind_number(s, ":low", t->present, t->low_ms);
    bind_number(s, ":high", t->present, t->high_ms);
    bind_number(s, ":samples", t->present, t->samples);
    bind_number(s, ":trusted", t->present, !t->disturbed);
    bind_number(s, ":attainable", t->present, t->attainable_ms);
    bind_number(s, ":fraction", t->present, t->fraction);
    bind_number(s, ":baseline", t->present && t->baseline_ms > 0, t->baseline_ms);
    bind_text(s, ":baseline_outcome", c->baseline_judged ? outcome_name(c->baseline_outcome) : NULL);
    return sqlite3_step(s) == SQLITE_DONE;
}

static bool insert_all(struct database *d, const char *token, const struct result *result)
{
    sqlite3_stmt *const s = database_prepare(d, insert_configuration);
    bool ok = s != NULL;
    if (s)
        bind_text(s, ":token", token);
    for (int i = 0; ok && i < result->result_count; i++)
        ok = insert_one(s, i, &result->results[i]);
    return sqlite3_finalize(s) == SQLITE_OK && ok;
}

/* --- transactions --- */

/* Returns the number of rows, or -1 on an error. */
static int count_rows(struct database *d, const char *sql, const char *text)
{
    sqlite3_stmt *const s = database_prepare(d, sql);
    int count = -1;
    if (s)
        bind_text(s, ":text", text);
    if (s && sqlite3_step(s) == SQLITE_ROW)
        count = sqlite3_column_int(s, 0);
    return sqlite3_finalize(s) == SQLITE_OK ? count : -1;
}

static enum history_status commit(struct database *d, bool ok, const char *doing)
{
    enum history_status status = HISTORY_OK;
    if (!ok || !database_run(d, "COMMIT"))
        status = database_fail(d, doing);
    if (status != HISTORY_OK && sqlite3_get_autocommit(d->db) == 0)
        database_run(d, "ROLLBACK");
    database_close(d);
    return status;
}

/* Marks runs of dead processes as interrupted, since a killed run cannot do so itself. */
static bool mark_interrupted(struct database *d)
{
    sqlite3_stmt *const s = database_prepare(d, "SELECT id, owner FROM run WHERE state = 'unfinished'");
    char sql[96];
    bool ok = s != NULL;
    int status = SQLITE_DONE;
    while (ok && (status = sqlite3_step(s)) == SQLITE_ROW) {
        const char *const owner = (const char *)sqlite3_column_text(s, 1);
        if (!owner || !owner_is_gone(owner))
            continue;
        snprintf(sql, sizeof sql, "UPDATE run SET state = 'interrupted' WHERE id = %lld",
                 (long long)sqlite3_column_int64(s, 0));
        ok = database_run(d, sql);
    }
    sqlite3_finalize(s);
    return ok && status == SQLITE_DONE;
}

enum history_status history_begin(const struct history *history, const struct result *result, int64_t now,
                                  char token[HISTORY_TOKEN], char *error, size_t error_size)
{
    struct database d;
    char owner[OWNER_SIZE];
    const enum history_status status = database_open(&d, history, true, error, error_size);
    if (status != HISTORY_OK)
        return status;
    new_token(token);
    owner_of_this(owner);
    return commit(&d,
                  database_run(&d, "BEGIN IMMEDIATE") && mark_interrupted(&d) &&
                      insert(&d, token, owner, result, now),
                  "store the run");
}

static bool finish(struct database *d, const char *token, const struct result *result, int64_t started,
                   int64_t now)
{
    const int rows = count_rows(d, "SELECT count(*) FROM run WHERE token = :text", token);
    if (rows == 1 &&
        count_rows(d, "SELECT count(*) FROM run WHERE token = :text AND state = 'finished'", token) == 1)
        return true;
    return rows >= 0 && (rows == 1 || insert(d, token, NULL, result, started)) &&
           update(d, token, result, now) && insert_all(d, token, result);
}

enum history_status history_finish(const struct history *history, const char *token,
                                   const struct result *result, int64_t now, char *error, size_t error_size)
{
    struct database d;
    const enum history_status status = database_open(&d, history, true, error, error_size);
    if (status != HISTORY_OK)
        return status;
    return commit(&d,
                  database_run(&d, "BEGIN IMMEDIATE") &&
                      finish(&d, token, result, now - (int64_t)result->seconds, now),
                  "store the result");
}

enum history_status history_import(const struct history *history, const struct result *result, int64_t when,
                                   bool *known, char *error, size_t error_size)
{
    struct database d;
    char token[HISTORY_TOKEN], print[65];
    const enum history_status status = database_open(&d, history, true, error, error_size);
    if (status != HISTORY_OK)
        return status;
    new_token(token);
    fingerprint(result, print);
    bool ok = database_run(&d, "BEGIN IMMEDIATE");
    const int rows = ok ? count_rows(&d, "SELECT count(*) FROM run WHERE fingerprint = :text", print) : -1;
    *known = rows > 0;
    ok = rows > 0 || (rows == 0 && finish(&d, token, result, when - (int64_t)result->seconds, when));
    return commit(&d, ok, "store the result");
}

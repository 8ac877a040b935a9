#include "plant_run.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/util/clock.h"

enum { MOST_PARALLEL = 32 };

struct place {
    pid_t pid;
    struct plant_trial *trial;
    double started;
};

/* --- one run --- */

static void json_path(const struct plant_trial *trial, char *path, size_t size)
{
    snprintf(path, size, "%s.json", trial->path);
}

static void become(const struct plant_trial *trial, const struct plant_running *running)
{
    char json[PLANT_PATH + 8], seed[32], log[PLANT_PATH + 8];
    const char *device = trial->field->cuda ? "cuda" : "host";
    const char *argv[PLANT_MAX_WORDS + 20] = {running->tool, "verify",     trial->plant->problem->name,
                                              trial->path,   "--device",   device,
                                              "--json",      json,         "--seed",
                                              seed,          "--no-timing"};
    int words = 11;
    json_path(trial, json, sizeof json);
    snprintf(log, sizeof log, "%s.log", trial->path);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)running->seed);
    if (trial->seen) {
        argv[words++] = "--seen";
        argv[words++] = trial->seen;
    }
    for (int i = 0; running->words[i]; i++)
        argv[words++] = running->words[i];
    const int file = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    setenv("OMP_WAIT_POLICY", "passive", 1); /* several tools share the cores */
    execv(running->tool, (char *const *)argv);
    _exit(127);
}

static void object(struct plant_trial *trial, const char *what, const char *detail)
{
    if (!trial->mismatch[0])
        snprintf(trial->mismatch, sizeof trial->mismatch, "%s: %s", what, detail);
}

static bool declared(const struct plant *plant, const char *outcome)
{
    char padded[128], word[40];
    snprintf(padded, sizeof padded, " %s ", plant->outcomes);
    snprintf(word, sizeof word, " %s ", outcome);
    return strstr(padded, word) != NULL;
}

/* One configuration's result against the truth. */
static void judge_config(struct plant_trial *trial, const char *line, const char *outcome)
{
    const struct plant *plant = trial->plant;
    struct config config;
    struct space_error error;
    char said[PLANT_CONFIG + 64];
    if (strcmp(outcome, "skipped") == 0) {
        trial->skipped++;
        return;
    }
    trial->judged++;
    snprintf(said, sizeof said, "%s on %s", outcome, line);
    if (config_parse(&config, plant->problem, line, "result", &error) != 0) {
        object(trial, "no configuration", line);
        return;
    }
    const bool fails = strcmp(outcome, "pass") != 0;
    if (fails && trial->failed++ == 0)
        trial->first = trial->judged + trial->skipped;
    if (fails && (trial->control || !plant_may_show(plant, &config)))
        object(trial, "fails where it is right", said);
    else if (fails && !declared(plant, outcome))
        object(trial, "undeclared outcome", said);
    else if (!fails && !trial->control && !plant->intermittent && plant_must_show(plant, &config))
        object(trial, "passes where it is wrong", said);
}

/* The tool's last message: the reason for a missing result. */
static void last_words(const struct plant_trial *trial, char *text, size_t size)
{
    char path[PLANT_PATH + 8], line[160];
    snprintf(path, sizeof path, "%s.log", trial->path);
    FILE *log = fopen(path, "re");
    while (log && fgets(line, sizeof line, log))
        snprintf(text, size, "%.*s", (int)strcspn(line, "\n"), line);
    if (log)
        fclose(log);
}

/* The verdict of its seen set where something failed, `general` where nothing did. */
static void judge_verdict(struct plant_trial *trial)
{
    const struct plant *plant = trial->plant;
    const char *wanted = trial->failed ? plant->verdict : "general";
    const int status = strcmp(trial->verdict, "general") == 0 ? 0 : 1;
    char said[320], words[160] = "";
    last_words(trial, words, sizeof words);
    snprintf(said, sizeof said, "verdict %s, %s %d, %d of %d failed; it said: %s", trial->verdict,
             trial->status < 0 ? "signal" : "exit", abs(trial->status), trial->failed, trial->judged, words);
    if (trial->judged == 0)
        object(trial, "nothing was judged", said);
    if (trial->status != status || (trial->failed == 0) != (status == 0))
        object(trial, "verdict and results disagree", said);
    else if (!trial->seen && !plant->intermittent && strcmp(trial->verdict, wanted) != 0)
        object(trial, "another verdict", said);
}

static void read_result(struct plant_trial *trial)
{
    char path[PLANT_PATH + 8];
    size_t i;
    json_path(trial, path, sizeof path);
    json_t *root = json_load_file(path, 0, NULL), *entry;
    const char *verdict = json_string_value(json_object_get(root, "verdict"));
    const char *rule = json_string_value(json_object_get(json_object_get(root, "rule"), "text"));
    const char *kind = json_string_value(json_object_get(json_object_get(root, "rule"), "kind"));
    const char *minimal = json_string_value(json_object_get(root, "minimal"));
    snprintf(trial->verdict, sizeof trial->verdict, "%s", verdict ? verdict : "none");
    json_array_foreach(json_object_get(root, "results"), i, entry)
    {
        const char *outcome = json_string_value(json_object_get(entry, "outcome"));
        const char *config = json_string_value(json_object_get(entry, "config"));
        if (outcome && config)
            judge_config(trial, config, outcome);
    }
    trial->has_rule = rule != NULL;
    trial->has_minimal = minimal != NULL;
    snprintf(trial->rule, sizeof trial->rule, "%s", rule ? rule : "");
    snprintf(trial->kind, sizeof trial->kind, "%s", kind ? kind : "");
    snprintf(trial->minimal, sizeof trial->minimal, "%s", minimal ? minimal : "");
    json_decref(root);
    judge_verdict(trial);
}

/* --- all of them --- */

static int start(struct place *place, struct plant_trial *trial, const struct plant_running *running)
{
    if (plant_write(trial->plant, trial->field, trial->control, trial->path) != 0)
        return -1;
    fflush(NULL); /* nothing is printed twice by the child */
    *place = (struct place){.trial = trial, .started = clock_seconds(), .pid = fork()};
    if (place->pid == 0)
        become(trial, running);
    return place->pid < 0 ? -1 : 0;
}

static void collect(struct place *place, int status, const struct plant_running *running)
{
    struct plant_trial *trial = place->trial;
    trial->seconds = clock_seconds() - place->started;
    trial->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    read_result(trial);
    if (running->done)
        running->done(trial);
    place->pid = 0;
}

int plant_run(struct plant_trial *trial, int count, const struct plant_running *running)
{
    struct place place[MOST_PARALLEL] = {{0}};
    int next = 0, busy = 0, error = 0;
    while ((next < count && !error) || busy > 0) {
        int status;
        for (int p = 0; p < running->parallel && p < MOST_PARALLEL && next < count && !error; p++)
            if (place[p].pid == 0) {
                error = start(&place[p], &trial[next++], running);
                busy += error == 0;
            }
        const pid_t ended = busy > 0 ? wait(&status) : 0;
        for (int p = 0; p < MOST_PARALLEL; p++)
            if (ended > 0 && place[p].pid == ended) {
                collect(&place[p], status, running);
                busy--;
            }
    }
    return error;
}

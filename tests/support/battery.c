#include "battery.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gen/contract/condition.h"
#include "verify/util/clock.h"

/* "// key: value" among the first lines. */
static void read_header(struct specimen *s)
{
    char line[256];
    FILE *file = fopen(s->source, "r");
    for (int i = 0; file && i < 12 && fgets(line, sizeof line, file); i++) {
        line[strcspn(line, "\n")] = '\0';
        sscanf(line, "// problem: %31s", s->problem);
        sscanf(line, "// verdict: %23s", s->expected);
        sscanf(line, "// fault: %63[^\n]", s->fault);
        sscanf(line, "// outcomes: %95[^\n]", s->outcomes);
        sscanf(line, "// when: %255[^\n]", s->when);
    }
    if (file)
        fclose(file);
    if (!s->problem[0] || !s->expected[0]) {
        fprintf(stderr, "%s: no '// problem:' and '// verdict:' in its first lines\n", s->source);
        exit(2);
    }
}

/* problems/NAME/faults/KERNEL.patch is verified as build/faults/NAME/KERNEL. */
static void find_made(struct specimen *s)
{
    const char *kernel = strrchr(s->source, '/') + 1;
    const size_t length = strlen(kernel) - strlen(".patch");
    snprintf(s->path, sizeof s->path, "build/faults/%s/%.*s", s->problem, (int)length, kernel);
    if (access(s->path, R_OK) != 0) {
        fprintf(stderr, "%s: it was not made from %s\n---> run `make faults`\n", s->path, s->source);
        exit(2);
    }
}

static void add_matches(const char *pattern, struct specimen **out, int *count)
{
    const char *kernel = getenv("BATTERY_KERNEL"); /* part of a file's name, for work on one kernel */
    glob_t matches;
    if (glob(pattern, 0, NULL, &matches) != 0)
        return;
    for (size_t i = 0; i < matches.gl_pathc; i++) {
        if (kernel && !strstr(strrchr(matches.gl_pathv[i], '/'), kernel))
            continue;
        *out = realloc(*out, (size_t)(*count + 1) * sizeof **out);
        if (!*out)
            exit(2);
        struct specimen *s = &(*out)[(*count)++];
        memset(s, 0, sizeof *s);
        snprintf(s->source, sizeof s->source, "%s", matches.gl_pathv[i]);
        memcpy(s->path, s->source, sizeof s->path);
        read_header(s);
        if (strstr(s->source, ".patch"))
            find_made(s);
    }
    globfree(&matches);
}

int battery_list(const char *suffix, struct specimen **out)
{
    static const struct {
        const char *name, *end;
    } places[] = {{"baseline", ""}, {"fast", ""},           {"honest/*", ""},
                  {"faults/*", ""}, {"faults/*", ".patch"}, {"bad/*", ""}};
    const char *only = getenv("BATTERY_ONLY"); /* a problem's name, for work on one problem */
    char pattern[192];
    int count = 0;
    *out = NULL;
    for (const struct problem *const *p = problem_registry; *p; p++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            if (only && strcmp(only, (*p)->name) != 0)
                continue;
            snprintf(pattern, sizeof pattern, "problems/%s/%s%s%s", (*p)->name, places[i].name, suffix,
                     places[i].end);
            add_matches(pattern, out, &count);
        }
    if (count == 0) {
        fprintf(stderr, "no such candidates under problems/: run from the repository's root\n");
        exit(2);
    }
    return count;
}

/* --- running --- */

/* Some problems have a lighter seen set here, tests/battery/NAME.DEVICE.seen. It has the published shapes
 * with fewer rows or sequences, so that the whole battery fits into minutes. */
static void add_seen(const struct specimen *s, const char *device, const char **arguments, int count,
                     char path[BATTERY_PATH])
{
    snprintf(path, BATTERY_PATH, "tests/battery/%s.%s.seen", s->problem, device);
    if (access(path, R_OK) == 0) {
        arguments[count++] = "--seen";
        arguments[count++] = path;
    }
    arguments[count] = NULL;
}

/* A bad one is run until it fails, a fair one on fewer configurations. */
static pid_t start(const struct specimen *s, const char *device, unsigned long long seed, const char *json)
{
    char seed_text[32], seen[BATTERY_PATH], tool[1024], *slash;
    const char *bad[24] = {tool,     "verify",  s->problem, s->path, "--device",    device,
                           "--seed", seed_text, "--json",   json,    "--no-timing", "--timeout",
                           "20",     "--quiet", "--unseen", "150",   "--fail-fast"};
    const bool limited = strcmp(s->expected, "limited") == 0; /* a configuration that it refuses must be among
                                                               * the draws */
    const char *fair[24] = {tool,
                            "verify",
                            s->problem,
                            s->path,
                            "--device",
                            device,
                            "--seed",
                            seed_text,
                            "--json",
                            json,
                            "--no-timing",
                            "--no-explain",
                            "--timeout",
                            "60",
                            "--quiet",
                            "--unseen",
                            limited ? "100" : "20"};
    const ssize_t length = readlink("/proc/self/exe", tool, sizeof tool - 8);
    tool[length < 0 ? 0 : length] = '\0';
    slash = strrchr(tool, '/');
    strcpy(slash ? slash + 1 : tool, "unseen");
    snprintf(seed_text, sizeof seed_text, "%llu", seed);
    add_seen(s, device, bad, 17, seen);
    add_seen(s, device, fair, 17, seen);
    const bool stops = strcmp(s->expected, "specialized") == 0 || strcmp(s->expected, "broken") == 0;
    const pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        setenv("OMP_WAIT_POLICY", "passive", 1); /* several tools share the cores */
        execv(tool, (char *const *)(stops ? bad : fair));
        _exit(127);
    }
    return pid;
}

static bool declared(const struct specimen *s, const char *outcome)
{
    char padded[128], word[40];
    snprintf(padded, sizeof padded, " %s ", s->outcomes);
    snprintf(word, sizeof word, " %s ", outcome);
    return strstr(padded, word) != NULL;
}

/* Keeps a configuration that the specimen's condition excludes. */
static void check_cause(const struct specimen *s, const char *config, struct trial_run *run)
{
    char why[256];
    struct config parsed;
    struct space_error error;
    const struct problem *problem = problem_find(s->problem);
    struct condition *condition = *s->when ? condition_parse(problem, s->when, why, sizeof why) : NULL;
    if (*s->when && !condition) {
        snprintf(run->elsewhere, sizeof run->elsewhere, "// when: %.200s", why);
    } else if (condition && config_parse(&parsed, problem, config, "configuration", &error) == 0 &&
               !condition_holds(condition, &parsed)) {
        snprintf(run->elsewhere, sizeof run->elsewhere, "%s", config);
    }
    condition_free(condition);
}

/* The verdict, and a failing configuration that fits the declared fault. */
static void read_result(const struct specimen *s, const char *json, struct trial_run *run)
{
    json_t *root = json_load_file(json, 0, NULL), *entry;
    size_t i;
    const char *verdict = json_string_value(json_object_get(root, "verdict"));
    snprintf(run->verdict, sizeof run->verdict, "%s", verdict ? verdict : "none");
    json_array_foreach(json_object_get(root, "results"), i, entry)
    {
        const char *outcome = json_string_value(json_object_get(entry, "outcome"));
        const char *config = json_string_value(json_object_get(entry, "config"));
        if (!outcome || strcmp(outcome, "pass") == 0 || strcmp(outcome, "skipped") == 0)
            continue;
        if (config)
            check_cause(s, config, run);
        if (run->failure[0] && (run->outcome_declared || !declared(s, outcome)))
            continue;
        snprintf(run->failure, sizeof run->failure, "%s", outcome);
        snprintf(run->config, sizeof run->config, "%s", config ? config : "");
        run->outcome_declared = declared(s, outcome);
    }
    json_decref(root);
}

static void report(const struct specimen *s, const struct trial_run *run)
{
    const char *mismatch = battery_mismatch(s, run);
    printf("  %-4s %-12s %-10s %5.1f s  seed %-4llu %s\n", mismatch ? "BAD" : "ok", run->verdict,
           run->failure, run->seconds, run->seed, s->source);
    if (mismatch)
        printf("       %s\n", mismatch);
    fflush(stdout);
}

struct place {
    pid_t pid;
    int run;
    double started;
    char json[64];
};

static void collect(const struct specimen *specimen, struct place *place, int status, struct trial_run *runs)
{
    struct trial_run *run = &runs[place->run];
    run->seconds = clock_seconds() - place->started;
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    read_result(&specimen[run->specimen], place->json, run);
    unlink(place->json);
    report(&specimen[run->specimen], run);
    place->pid = 0;
}

static void launch(const struct specimen *specimen, const char *device, struct place *place, int slot,
                   int index, struct trial_run *runs)
{
    place->run = index;
    place->started = clock_seconds();
    snprintf(place->json, sizeof place->json, "/tmp/unseen-battery-%d-%d.json", (int)getpid(), slot);
    place->pid = start(&specimen[runs[index].specimen], device, runs[index].seed, place->json);
}

int battery_plan(int specimens, const struct battery_sample *sample, struct trial_run **out)
{
    const int total = specimens * BATTERY_SEEDS;
    int count = 0;
    *out = calloc((size_t)total + 1, sizeof **out);
    if (!*out)
        exit(2);
    for (int i = 0; i < total; i++)
        if ((i + sample->rotation) % sample->share == 0)
            (*out)[count++] =
                (struct trial_run){.specimen = i / BATTERY_SEEDS,
                                   .seed = sample->first_seed + (unsigned long long)(i % BATTERY_SEEDS)};
    return count;
}

void battery_run(const struct specimen *specimen, const char *device, int parallel, struct trial_run *runs,
                 int count)
{
    enum { MOST = 32 };
    struct place place[MOST] = {{0}};
    int next = 0, busy = 0;
    while (next < count || busy > 0) {
        int status;
        for (int p = 0; p < parallel && p < MOST && next < count; p++)
            if (place[p].pid == 0) {
                launch(specimen, device, &place[p], p, next++, runs);
                busy++;
            }
        const pid_t ended = wait(&status);
        for (int p = 0; p < MOST; p++)
            if (ended > 0 && place[p].pid == ended) {
                collect(specimen, &place[p], status, runs);
                busy--;
            }
    }
}

/* A replayed answer is proof of cheating, and may replace the expected failing verdict. */
const char *battery_mismatch(const struct specimen *s, const struct trial_run *run)
{
    static char text[640];
    const bool fair = s->fault[0] == '\0', caught = strcmp(run->verdict, "cheating") == 0;
    const int status = strcmp(s->expected, "general") == 0 ? 0 : 1;
    if (run->status != status || (strcmp(run->verdict, s->expected) != 0 && (fair || !caught))) {
        snprintf(text, sizeof text, "verdict %s, exit %d; declared %s%s%s: %s %s", run->verdict, run->status,
                 s->expected, fair ? "" : ", fault ", s->fault, run->failure, run->config);
        return text;
    }
    if (!fair && !run->outcome_declared) {
        snprintf(text, sizeof text, "fails as %s (%s); declared outcomes: %s", run->failure, run->config,
                 s->outcomes);
        return text;
    }
    if (run->elsewhere[0]) {
        snprintf(text, sizeof text, "fails outside its declared cause, '%s': %s", s->when, run->elsewhere);
        return text;
    }
    return NULL;
}

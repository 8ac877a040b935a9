/* Finding real bugs (tests/corpora/bugs/) and planted faults: how many, how soon, and with which rules.
 *   FIND_FAULTS=300 FIND_SEED=1 FIND_SEEDS=3   faults planted, the first seed, sets drawn for each
 *   FIND_HELD_OUT=1                            only the real bugs that are set aside
 *   FIND_ABLATE=N                              the worth of each part of a set, over N sets of FIND_EFFORT
 *   FIND_DEVICE=host|cuda                      the device of the caps, and of real runs
 *   FIND_REAL=N FIND_CONTROLS=N                planted faults and controls that really run, over all problems
 *   FIND_EFFORT=quick|standard                 the effort of real runs
 *   FIND_FAST=1 FIND_EXPLAIN=0                 each stops at its first failure; no rule, nothing shrunk
 *   FIND_PARALLEL=N FIND_FOLDER=PATH           real runs at a time; where candidates and results go */
#include "find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/util/clock.h"
#include "verify/session/task.h"

struct setting {
    int faults, seeds, real, controls, parallel, ablate;
    uint64_t seed;
    bool cuda, fast, explain, held_out;
    const char *effort, *folder;
    char root[PLANT_PATH / 2], tool[PLANT_PATH];
};

static int number_from(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atoi(text) : otherwise;
}

static const char *text_from(const char *name, const char *otherwise)
{
    const char *text = getenv(name);
    return text && *text ? text : otherwise;
}

static int read_setting(struct setting *s)
{
    const char *device = text_from("FIND_DEVICE", "host");
    *s = (struct setting){.faults = number_from("FIND_FAULTS", 300),
                          .seeds = number_from("FIND_SEEDS", 3),
                          .seed = (uint64_t)number_from("FIND_SEED", 1),
                          .real = number_from("FIND_REAL", 9),
                          .ablate = number_from("FIND_ABLATE", 0),
                          .held_out = number_from("FIND_HELD_OUT", 0) != 0,
                          .parallel = number_from("FIND_PARALLEL", 2),
                          .fast = number_from("FIND_FAST", 0) != 0,
                          .explain = number_from("FIND_EXPLAIN", 1) != 0,
                          .effort = text_from("FIND_EFFORT", "standard"),
                          .folder = text_from("FIND_FOLDER", "/tmp/unseen-find"),
                          .cuda = strcmp(device, "cuda") == 0};
    s->controls = number_from("FIND_CONTROLS", s->real);
    if (s->faults < 1 || s->seeds < 1 || s->seeds > FIND_MOST_SEEDS || s->parallel < 1 ||
        (!s->cuda && strcmp(device, "host") != 0)) {
        fprintf(stderr,
                "find: FIND_FAULTS and FIND_PARALLEL from 1, FIND_SEEDS from 1 to %d, FIND_DEVICE=host "
                "or cuda are expected\n---> see the first lines of tests/plant/find.c\n",
                FIND_MOST_SEEDS);
        return -1;
    }
    if (!getcwd(s->root, sizeof s->root))
        return -1;
    const ssize_t length = readlink("/proc/self/exe", s->tool, sizeof s->tool - 8);
    s->tool[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(s->tool, '/');
    strcpy(slash ? slash + 1 : s->tool, "unseen");
    return 0;
}

static int open_fields(struct find *find, const struct setting *s)
{
    struct device device;
    char error[512];
    if (device_open(&device, s->cuda ? "cuda" : "host", error, sizeof error) != 0) {
        fprintf(stderr, "find: %s\n", error);
        return -1;
    }
    while (problem_registry[find->fields])
        find->fields++;
    find->field = calloc((size_t)find->fields, sizeof *find->field);
    for (int i = 0; i < find->fields; i++) {
        const struct draw_caps caps = task_caps(problem_registry[i], &device);
        if (!find->field || plant_field_open(&find->field[i], problem_registry[i], s->cuda, s->root, &caps))
            return -1;
    }
    printf("%d planted faults in honest kernels of %d problems, seed %llu, %s\n\n", s->faults, find->fields,
           (unsigned long long)s->seed, device.name);
    return 0;
}

/* --- part 2 --- */

static struct {
    int done, runs, contradictions, minimal, minimals, rules, good_rules, sure_rules, poor_rules;
    double slowest;
} tally;

static void check_minimal(const struct plant_trial *trial)
{
    struct config config, step;
    struct space_error error;
    char line[PLANT_CONFIG];
    if (!trial->has_minimal)
        return;
    tally.minimals++;
    if (config_parse(&config, trial->plant->problem, trial->minimal, "minimal", &error) != 0) {
        printf("       minimal: %s\n", error.text);
    } else if (plant_is_minimal(trial->plant, trial->field, &config, &step)) {
        tally.minimal++;
    } else {
        config_format(&step, line, sizeof line);
        printf("       minimal: %s\n       still fails on %s\n", trial->minimal, line);
    }
}

static void check_rule(const struct plant_trial *trial)
{
    if (!trial->has_rule)
        return;
    const struct plant_agreement agreement =
        plant_rule_agreement(trial->plant, trial->field, trial->rule, 1000);
    /* a rule of one side does not judge the other */
    const bool sure = (strcmp(trial->kind, "necessary") == 0 && agreement.outside >= 0.98) ||
                      (strcmp(trial->kind, "partial") == 0 && agreement.inside >= 0.98);
    tally.rules++;
    tally.good_rules += agreement.all >= 0.98;
    tally.sure_rules += agreement.all < 0.98 && sure;
    tally.poor_rules += agreement.all < 0.9 && !sure;
    if (agreement.all < 0.98)
        printf("       rule '%s' (%s) agrees on %.1f%% of 1000 draws%s\n", trial->rule,
               trial->kind[0] ? trial->kind : "both sides", 100 * agreement.all,
               sure ? ", and where it is sure" : "");
}

static void print_trial(const struct plant_trial *trial)
{
    char what[96];
    plant_describe(trial->plant, what, sizeof what);
    tally.done++;
    tally.contradictions += trial->mismatch[0] != '\0';
    tally.slowest = trial->seconds > tally.slowest ? trial->seconds : tally.slowest;
    printf("  %-4s %3d/%d %-16s %-12s %5.1f s", trial->mismatch[0] ? "BAD" : "ok", tally.done, tally.runs,
           trial->plant->problem->name, trial->verdict, trial->seconds);
    if (trial->control)
        printf("  control of %s\n", trial->path);
    else
        printf("  first at %d, %d of %d: %s (%s)\n", trial->first, trial->failed, trial->judged,
               trial->plant->when, what);
    if (trial->mismatch[0])
        printf("       %s\n       %s\n", trial->mismatch, trial->path);
    if (!trial->control) {
        check_minimal(trial);
        check_rule(trial);
    }
    fflush(stdout);
}

static void add_trials(const struct find *find, const struct setting *s, bool control, int wanted,
                       struct plant_trial *trial, int *count)
{
    for (int i = 0, made = 0; i < find->faults && made < wanted; i++) {
        const struct find_fault *fault = &find->fault[i];
        if (fault->family != FIND_PLANT || !fault->plant.reachable)
            continue;
        struct plant_trial *t = &trial[(*count)++];
        *t = (struct plant_trial){.plant = &fault->plant, .field = fault->field, .control = control};
        snprintf(t->path, sizeof t->path, "%s/%s_%d%s.%s", s->folder, fault->plant.problem->name,
                 fault->plant.number, control ? "_control" : "", s->cuda ? "cu" : "c");
        made++;
    }
}

static void print_run_summary(int count)
{
    printf("\n%d real runs, %d contradict the truth, the slowest took %.0f s\n", count, tally.contradictions,
           tally.slowest);
    if (tally.minimals > 0)
        printf("%d of %d shrunk configurations are locally minimal\n", tally.minimal, tally.minimals);
    if (tally.rules > 0)
        printf(
            "%d of %d printed rules agree with the truth on 98%% of 1000 draws or more, %d more where they "
            "are sure of one side only, %d of the others on less than 90%%\n",
            tally.good_rules, tally.rules, tally.sure_rules, tally.poor_rules);
}

static int run_really(const struct find *find, const struct setting *s)
{
    struct plant_running running = {
        .tool = s->tool, .parallel = s->parallel, .seed = s->seed, .done = print_trial};
    struct plant_trial *trial = calloc((size_t)(s->real + s->controls + 1), sizeof *trial);
    int words = 0, count = 0;
    if (!trial || (mkdir(s->folder, 0755) != 0 && access(s->folder, W_OK) != 0)) {
        fprintf(stderr, "find: no room in %s\n---> name another folder: FIND_FOLDER=PATH\n", s->folder);
        free(trial);
        return -1;
    }
    running.words[words++] = "--effort";
    running.words[words++] = s->effort;
    running.words[words++] = "--quiet";
    running.words[words++] = "--no-timing"; /* several run at a time */
    if (s->fast)
        running.words[words++] = "--fail-fast";
    if (!s->explain)
        running.words[words++] = "--no-explain";
    add_trials(find, s, false, s->real, trial, &count);
    add_trials(find, s, true, s->controls, trial, &count);
    tally.runs = count;
    printf("\nreal runs, in %s:\n", s->folder);
    const int status = plant_run(trial, count, &running);
    print_run_summary(count);
    free(trial);
    return status != 0 || tally.contradictions > 0 ? -1 : 0;
}

int main(void)
{
    struct setting setting;
    struct find find = {0};
    const double start = clock_seconds();
    int status = read_setting(&setting);
    find.seed = setting.seed;
    find.seeds = setting.seeds;
    if (status == 0)
        status = open_fields(&find, &setting);
    if (status == 0)
        status = find_plant(&find, setting.faults, setting.held_out);
    if (status == 0)
        status = find_measure(&find);
    if (status == 0) {
        find_report(&find);
        printf("\nby truth alone: %.1f s\n", clock_seconds() - start);
    }
    if (status == 0 && setting.ablate > 0)
        status = find_ablate(&find, strcmp(setting.effort, "quick") == 0 ? EFFORT_QUICK : EFFORT_STANDARD,
                             setting.ablate);
    if (status == 0 && setting.real + setting.controls > 0)
        status = run_really(&find, &setting);
    find_clear(&find);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

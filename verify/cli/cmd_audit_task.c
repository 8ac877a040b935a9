/* unseen audit of an imported task: finds what its own check accepts */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outputs.h"
#include "reports/record/atomic.h"
#include "trial_setup.h"

struct counts {
    int configs, pass;
    const struct trial_config *passed; /* the first one; NULL: none */
};

static void count(struct counts *c, const char *marks, const struct trial_configs *configs)
{
    for (int i = 0; i < configs->count; i++) {
        c->configs += marks[i] != TRIAL_ABSENT;
        c->pass += marks[i] == TRIAL_ACCEPTED;
        if (marks[i] == TRIAL_ACCEPTED && !c->passed)
            c->passed = &configs->item[i];
    }
}

static struct counts published_of(const struct trial *trial, const struct trial_row *row)
{
    struct counts c = {0};
    count(&c, row->seen_published, &trial->seen);
    return c;
}

static struct counts ours_of(const struct trial *trial, const struct trial_row *row)
{
    struct counts c = {0};
    count(&c, row->seen_ours, &trial->seen);
    count(&c, row->drawn_ours, &trial->drawn);
    return c;
}

static bool passes(const struct counts *c)
{
    return c->configs > 0 && c->pass == c->configs;
}

static void print_count(const struct counts *c)
{
    char text[48];
    snprintf(text, sizeof text, "%s  %d of %d", passes(c) ? "yes" : "no ", c->pass, c->configs);
    printf("  %-16s", text);
}

static int count_dropped(const struct trial *trial)
{
    int dropped = 0;
    for (int i = 0; i < trial->seen.count; i++)
        dropped += trial->seen.item[i].dropped != NULL;
    for (int i = 0; i < trial->drawn.count; i++)
        dropped += trial->drawn.item[i].dropped != NULL;
    return dropped;
}

static int count_passing(const struct trial *trial,
                         struct counts (*of)(const struct trial *, const struct trial_row *))
{
    int passing = 0;
    for (int r = 0; r < trial->rows; r++) {
        const struct counts c = of(trial, &trial->row[r]);
        passing += passes(&c);
    }
    return passing;
}

static void print_table(const struct task *task, const struct trial *trial)
{
    char line[1024];
    printf("unseen audit %s on %s, seed %llu\n\n  %-38s  %-16s  %s\n", task->problem->name, task->device.name,
           (unsigned long long)task->seed, "null output", "passes published", "passes unseen");
    for (int r = 0; r < trial->rows; r++) {
        const struct counts published = published_of(trial, &trial->row[r]),
                            ours = ours_of(trial, &trial->row[r]);
        printf("  %-38s", trial->row[r].name);
        print_count(&published);
        print_count(&ours);
        printf("\n");
    }
    printf(
        "\npublished: atol %g, rtol %g%s, %d trials, as KernelBench checks, on the %d seen configurations; "
        "unseen: the allowed "
        "error on these and %d more\n%d null outputs pass the published check at every seen shape, %d "
        "pass ours\n",
        trial->atol, trial->rtol, trial->own ? " (the task's own)" : "", trial->trials, trial->seen.count,
        trial->drawn.count, count_passing(trial, published_of), count_passing(trial, ours_of));
    for (int r = 0; r < trial->rows; r++) {
        const struct counts ours = ours_of(trial, &trial->row[r]);
        if (ours.passed && config_format(&ours.passed->config, line, sizeof line) > 0)
            printf("  note: '%s' passes ours on %s\n", trial->row[r].name, line);
    }
    if (count_dropped(trial))
        printf("  note: of %d configurations the right answer cannot be told\n", count_dropped(trial));
}

static json_t *count_json(const struct counts *c)
{
    return json_pack("{s:i, s:i, s:b}", "configs", c->configs, "pass", c->pass, "passes", passes(c));
}

static json_t *nulls_json(const struct trial *trial)
{
    json_t *nulls = json_array();
    for (int r = 0; r < trial->rows; r++) {
        char line[1024] = "";
        const struct counts published = published_of(trial, &trial->row[r]),
                            ours = ours_of(trial, &trial->row[r]);
        if (ours.passed)
            config_format(&ours.passed->config, line, sizeof line);
        json_array_append_new(nulls, json_pack("{s:s, s:o, s:o, s:s*}", "name", trial->row[r].name,
                                               "published", count_json(&published), "unseen",
                                               count_json(&ours), "passes_on", ours.passed ? line : NULL));
    }
    return nulls;
}

/* Has the keys of any problem's audit. */
static int write_json(const struct task *task, const struct trial *trial, const char *path)
{
    char error[512];
    json_t *root = json_pack(
        "{s:i, s:{s:s, s:s}, s:s, s:{s:s}, s:I, s:f, s:f, s:i, s:i, s:i, s:i, s:b, s:o}", "schema", 1, "tool",
        "version", UNSEEN_VERSION, "git", unseen_git, "problem", task->problem->name, "device", "name",
        task->device.name, "seed", (json_int_t)task->seed, "published_atol", trial->atol, "published_rtol",
        trial->rtol, "trials", trial->trials, "seen_configs", trial->seen.count, "unseen_configs",
        trial->drawn.count, "skipped", count_dropped(trial), "partial", 0, "nulls", nulls_json(trial));
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    const int status = text ? atomic_write(path, text, strlen(text), error, sizeof error) : -1;
    if (status != 0)
        options_error("%s", text ? error : "out of memory");
    free(text);
    json_decref(root);
    return status == 0 ? 0 : EXIT_ENVIRONMENT;
}

static bool any_accepted(const struct trial *trial)
{
    for (int r = 0; r < trial->rows; r++)
        if (ours_of(trial, &trial->row[r]).pass > 0)
            return true;
    return false;
}

/* Writes an empty file first: an unwritable path shows before minutes are spent. */
static int write_nothing(const char *path)
{
    static const char text[] = "{\"schema\": 1, \"partial\": true, \"nulls\": []}\n";
    char error[512];
    if (atomic_write(path, text, strlen(text), error, sizeof error) == 0)
        return 0;
    options_error("%s", error);
    return EXIT_ENVIRONMENT;
}

int audit_imported(const struct options *options, const struct problem *problem)
{
    struct task task;
    struct trial trial;
    int status = trial_setup_suits("audit", problem);
    if (status == 0 && options->report[REPORT_JSON])
        status = write_nothing(options->report[REPORT_JSON]);
    if (status == 0)
        status = trial_setup_begin(&task, &trial, options, false);
    if (status != 0)
        return status;
    status = options->report[REPORT_JSON] ? write_json(&task, &trial, options->report[REPORT_JSON]) : 0;
    if (!options->quiet)
        print_table(&task, &trial);
    if (status == 0)
        status = any_accepted(&trial) ? EXIT_OTHER : EXIT_GENERAL;
    trial_clear(&trial);
    return prepare_end(&task, status);
}

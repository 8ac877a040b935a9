#include "import_shapes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/space.h"
#include "reports/record/atomic.h"
#include "verify/export/captured.h"
#include "verify/problem/folder.h"

enum { REASONS = 8, OPERATIONS = 6 };

/* The captured rows with their configurations. */
struct fitted {
    struct captured_list rows;
    struct config *config; /* of each row */
    bool *fits;
    char (*why)[256];
    const char *operation; /* whose rows are taken */
};

static bool is_taken(const struct fitted *f, int i)
{
    return strcmp(f->rows.item[i].operation, f->operation) == 0;
}

/* The only operation with a row that fits, or --op. */
static int choose(struct fitted *f, const char *named)
{
    char names[OPERATIONS * 100] = "";
    int others = 0;
    f->operation = named;
    for (int i = 0; i < f->rows.count && !named; i++) {
        const char *const name = f->rows.item[i].operation;
        const size_t used = strlen(names);
        bool known = !f->fits[i];
        for (int k = 0; k < i && !known; k++)
            known = f->fits[k] && strcmp(f->rows.item[k].operation, name) == 0;
        if (known)
            continue;
        f->operation = f->operation ? f->operation : name;
        if (others++ < OPERATIONS)
            snprintf(names + used, sizeof names - used, "%s%.90s", used ? ", " : "", name);
    }
    if (others <= 1)
        return 0;
    options_error("shapes of %d operations fit: %s%s; expected those of one\n---> choose it with --op NAME",
                  others, names, others > OPERATIONS ? ", .." : "");
    return EXIT_USAGE;
}

/* Names each reason once, with the calls that have it. Returns the number of rows that do not fit. */
static int say_why(const struct fitted *f)
{
    int rows = 0, reasons = 0;
    for (int i = 0; i < f->rows.count; i++) {
        int64_t calls = 0;
        int alike = 0;
        bool first = true;
        if (f->fits[i] || (f->operation && !is_taken(f, i)))
            continue;
        rows++;
        for (int k = 0; k < f->rows.count; k++) {
            const bool same =
                !f->fits[k] && strcmp(f->why[k], f->why[i]) == 0 && (!f->operation || is_taken(f, k));
            first = first && !(same && k < i);
            alike += same;
            calls += same ? f->rows.item[k].calls : 0;
        }
        if (first && reasons++ < REASONS)
            fprintf(stderr, "unseen: %s: %s (%d row%s, %lld call%s)\n", f->rows.item[i].where, f->why[i],
                    alike, alike == 1 ? "" : "s", (long long)calls, calls == 1 ? "" : "s");
    }
    if (reasons > REASONS)
        fprintf(stderr, "unseen: %d more reasons\n", reasons - REASONS);
    return rows;
}

/* One line for each configuration, in the order of the file. Returns their number. */
static int put_lines(FILE *out, const struct fitted *f)
{
    int count = 0;
    for (int i = 0; i < f->rows.count; i++) {
        int64_t calls = 0;
        bool first = f->fits[i] && is_taken(f, i);
        char line[1024];
        for (int k = 0; k < f->rows.count && first; k++)
            if (f->fits[k] && is_taken(f, k) && config_same_point(&f->config[k], &f->config[i])) {
                first = k >= i;
                calls += f->rows.item[k].calls;
            }
        if (!first)
            continue;
        config_format(&f->config[i], line, sizeof line);
        line[strlen(line) - strlen(" seed=0")] = '\0'; /* a run draws it */
        fprintf(out, "%s  # %s%s%scalls=%lld\n", line, *f->rows.item[i].workload ? "workload=" : "",
                f->rows.item[i].workload, *f->rows.item[i].workload ? " " : "", (long long)calls);
        count++;
    }
    return count;
}

static int write_set(const struct fitted *f, const struct options *options)
{
    char error[512], *text = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&text, &length);
    if (!out) {
        options_error("out of memory\n---> close other programs");
        return EXIT_ENVIRONMENT;
    }
    fprintf(out, "# %s: from %s\n", options->argument[0], f->rows.form);
    const int count = put_lines(out, f);
    const char *const path = options->out ? options->out : "-";
    int status = 0;
    if (fclose(out) != 0 || atomic_update(path, "a seen set", text, length, error, sizeof error) != 0) {
        options_error("%s", error);
        status = EXIT_ENVIRONMENT;
    } else {
        fprintf(stderr, "%d configuration%s from %s\n", count, count == 1 ? "" : "s", f->rows.form);
    }
    free(text);
    return status;
}

static int fit_all(struct fitted *f, const struct space *space, const struct options *options)
{
    int fitting = 0;
    for (int i = 0; i < f->rows.count; i++) {
        const bool asked = !options->op || strcmp(f->rows.item[i].operation, options->op) == 0;
        f->fits[i] =
            asked && captured_fit(space, &f->rows.item[i], &f->config[i], f->why[i], sizeof f->why[i]);
        fitting += f->fits[i];
    }
    int status = choose(f, options->op);
    if (status != 0)
        return status;
    const int left = say_why(f);
    if (fitting == 0) {
        options_error("%s: no row%s%s fits %s; expected at least one\n---> compare its shapes with unseen "
                      "describe, or widen the contract with --contract",
                      options->shapes, options->op ? " of " : "", options->op ? options->op : "",
                      space->problem->name);
        return EXIT_USAGE;
    }
    status = write_set(f, options);
    return status != 0 ? status : left > 0 ? EXIT_OTHER : EXIT_GENERAL;
}

static int read_contract(struct space *space, const struct problem *problem, const char *given)
{
    struct space_error error;
    char path[1024];
    if (!given)
        folder_shape(problem, "space", path, sizeof path);
    if (space_read(space, problem, given ? given : path, &error) == 0)
        return 0;
    options_error("%s", error.text);
    return error.environment ? EXIT_ENVIRONMENT : EXIT_USAGE;
}

int import_shapes(const struct options *options)
{
    const struct problem *problem;
    struct space space = {0};
    struct fitted f = {.operation = NULL};
    char text[800];
    bool is_usage;
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    int status = options_problem(options->argument[0], &problem);
    if (status == 0)
        status = read_contract(&space, problem, options->space);
    if (status == 0 && captured_read(&f.rows, options->shapes, &is_usage, text, sizeof text) != 0) {
        options_error("%s", text);
        status = is_usage ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    if (status == 0) {
        f.config = calloc((size_t)f.rows.count, sizeof *f.config);
        f.fits = calloc((size_t)f.rows.count, sizeof *f.fits);
        f.why = calloc((size_t)f.rows.count, sizeof *f.why);
        status = f.config && f.fits && f.why ? fit_all(&f, &space, options) : EXIT_ENVIRONMENT;
    }
    free(f.config);
    free(f.fits);
    free(f.why);
    captured_clear(&f.rows);
    space_clear(&space);
    return status;
}

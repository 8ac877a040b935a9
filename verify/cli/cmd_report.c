/* unseen report: converts stored results to other formats */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"
#include "outputs.h"
#include "reports/formats/github.h"
#include "reports/record/published.h"
#include "reports/record/quadrants.h"
#include "reports/json/json_read.h"
#include "reports/terminal/terminal.h"
#include "reports/record/text.h"
#include "console.h"

struct files {
    struct stored_result stored[ARGUMENTS_MAX];
    const struct result *result[ARGUMENTS_MAX];
    int count;
};

static void close_files(struct files *files)
{
    for (int i = 0; i < files->count; i++)
        json_read_free(&files->stored[i]);
    free(files);
}

static int read_files(struct files *files, const struct options *options)
{
    for (int i = 0; i < options->arguments; i++) {
        char error[1024];
        const enum json_read_status status =
            json_read(options->argument[i], &files->stored[i], error, sizeof error);
        if (status != JSON_READ_OK) {
            options_error("%s", error);
            return status == JSON_READ_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
        }
        files->stored[i].result.accept_limited = options->accept_limited;
        files->result[files->count++] = &files->stored[i].result;
        const char *const first = text_or(files->result[0]->problem, "none");
        const char *const other = text_or(files->result[i]->problem, "none");
        if (strcmp(first, other) == 0)
            continue;
        fflush(stdout);
        fprintf(stderr, "unseen: %s: a result of ", options->argument[i]);
        text_plain(stderr, other);
        fprintf(stderr, "; expected one of ");
        text_plain(stderr, first);
        fprintf(stderr, ", as in %s\n---> give results of one problem\n", options->argument[0]);
        return EXIT_USAGE;
    }
    return 0;
}

/* The worst status over several candidates, as a gate. */
static int status_of(const struct options *options, const struct files *files)
{
    for (int i = 0; i < files->count; i++)
        if (!accepts(options, result_verdict(files->result[i])) || files->result[i]->without[0] != '\0')
            return EXIT_OTHER;
    return EXIT_GENERAL;
}

static void print_passed(FILE *out, const struct result *result)
{
    const struct passed seen = passed_of(result, false), unseen = passed_of(result, true);
    fprintf(out, "    %s; of what was judged, %d of %d seen and %d of %d unseen pass\n",
            verdict_name(result_verdict(result)), seen.pass, seen.judged, unseen.pass, unseen.judged);
}

static void print_common(FILE *out, const struct result *first, const struct result *other, bool unseen)
{
    const struct quadrants q = quadrants_of(first, other, unseen);
    const char *const set = unseen ? "unseen" : "seen";
    if (quadrants_common(&q) == 0)
        fprintf(out, "    %-6s  none in common with the first\n", set);
    else
        fprintf(out, "    %-6s  both pass %d, only the first %d, only this one %d, neither %d\n", set, q.both,
                q.first, q.second, q.neither);
}

static void print_beside(FILE *out, const struct files *files)
{
    fprintf(out, "\nSide by side, on configurations that both judged:\n");
    for (int i = 0; i < files->count; i++) {
        fprintf(out, "  %d  ", i + 1);
        text_plain(out, files->result[i]->candidate_path);
        fputc('\n', out);
        print_passed(out, files->result[i]);
        for (int unseen = 0; unseen < 2 && i > 0; unseen++)
            print_common(out, files->result[0], files->result[i], unseen);
    }
}

static void print_reports(const struct console *screen, const struct files *files, bool verbose)
{
    const bool several = files->count > 1;
    for (int i = 0; i < files->count; i++) {
        if (i > 0)
            fputc('\n', screen->out);
        terminal_title(screen->out, files->result[i], screen->colour);
        for (int k = 0; k < files->result[i]->result_count && verbose; k++)
            terminal_config(screen->out, &files->result[i]->results[k], screen->colour);
        if (several && !verbose)
            terminal_summary(screen->out, files->result[i], screen->colour);
        else
            terminal_report(screen->out, files->result[i], screen->colour, verbose);
    }
    if (several)
        print_beside(screen->out, files);
}

/* Writes the requested files, and prints only errors. */
static int write_reports(const struct options *options, const struct files *files)
{
    struct outputs outputs;
    int status = outputs_open(&outputs, options);
    if (status != 0)
        return status;
    outputs_write(&outputs, files->result, files->count);
    outputs_close(&outputs);
    if (!outputs.error[0])
        return 0;
    options_error("%s", outputs.error);
    return EXIT_ENVIRONMENT;
}

static bool wants_files(const struct options *options)
{
    for (int i = 0; i < REPORT_COUNT; i++)
        if (options->report[i])
            return true;
    return false;
}

int command_report(const struct options *options)
{
    struct options mine = *options;
    struct files *files = calloc(1, sizeof *files);
    struct console screen;
    int status;
    if (!files) {
        options_error("out of memory\n---> close other programs");
        return EXIT_ENVIRONMENT;
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    mine.arguments_are_results = true;
    status = outputs_check(&mine);
    if (status == 0)
        status = read_files(files, &mine);
    if (status == 0 && wants_files(options))
        status = write_reports(&mine, files);
    else if (status == 0 && !options->github) {
        console_open(&screen, &mine);
        print_reports(&screen, files, options->verbose);
        console_close(&screen);
    }
    for (int i = 0; i < files->count && status == 0 && options->github; i++)
        github_print(outputs_on_standard(&mine) ? stderr : stdout, files->result[i]);
    if (status == 0)
        status = status_of(options, files);
    close_files(files);
    return status;
}

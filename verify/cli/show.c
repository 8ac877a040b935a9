#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <jansson.h>

#include "gen/contract/instantiate.h"
#include "outputs.h"
#include "reports/json/json.h"
#include "reports/record/program.h"
#include "reports/record/text.h"
#include "verify/problem/folder.h"
#include "verify/session/run.h"
#include "verify/torch/task.h"

static bool away;

void show_away(const struct options *options)
{
    away = outputs_on_standard(options);
}

FILE *show_out(void)
{
    return away ? stderr : stdout;
}

void show_line(const char *label, const char *text)
{
    fprintf(show_out(), "  %-11s", label);
    text_plain(show_out(), text);
    fprintf(show_out(), "\n");
}

static void show_time(const struct timing *timing)
{
    char text[256];
    if (!timing->present)
        return;
    char of[80];
    if (timing->processes > 1)
        snprintf(of, sizeof of, "mean of the medians of %d processes, %d calls in all", timing->processes,
                 timing->samples);
    else
        snprintf(of, sizeof of, "median of %d", timing->samples);
    snprintf(text, sizeof text, "%.4g ms, %s (95%%: %.4g to %.4g; %s)%s", timing->median_ms, of,
             timing->low_ms, timing->high_ms, timing->method,
             timing->disturbed ? ", not to be trusted: disturbed by others on the device" : "");
    show_line("time", text);
    snprintf(text, sizeof text, "%.4g ms by the %s bound: %.3g%% of attainable", timing->attainable_ms,
             bound_name(timing->bound), 100 * timing->fraction);
    show_line("attainable", text);
}

/* The result of the published tolerances, or of the contract's own, which the line then names. */
static void show_published(const struct task *task, bool passes)
{
    const struct space_tolerance *const own = &task->space.tolerance;
    char check[96] = "the published check", line[128];
    if (own->given)
        snprintf(check, sizeof check, "atol=%g rtol=%g of the contract", own->atol, own->rtol);
    snprintf(line, sizeof line, "%s %s it", check, passes ? "passes" : "fails");
    show_line(own->given ? "your check" : "published", line);
}

void show_result(const struct task *task, const struct config_result *result)
{
    char text[512];
    const bool pair = result->pair.present;
    fprintf(show_out(), "%s: %s\n", outcome_name(result->outcome), pair ? result->pair.line : result->line);
    if (pair)
        show_line("after", result->pair.after_line);
    if (result->detail[0])
        show_line("found", result->detail);
    if (result->worst.present) {
        text_element(text, sizeof text, &result->worst);
        show_line("worst", text);
    }
    if (result->fits && result->outcome == OUTCOME_PASS)
        show_line("arithmetic", result->fits);
    show_time(&result->timing);
    if (result->published_judged)
        show_published(task, result->published_pass);
}

void show_findings(const struct session *session)
{
    int count = 0;
    const struct finding *finding = session_findings(session, &count);
    for (int i = 0; i < count; i++) {
        char text[64 + sizeof finding->evidence];
        snprintf(text, sizeof text, "%s: %s", finding_name(finding[i].kind), finding[i].evidence);
        show_line("finding", text);
    }
}

/* Appends an option and its value. The list copies the option; `value` must stay valid. */
static void add(struct show_words *list, const char *option, const char *value)
{
    if (list->count + 2 >= SHOW_WORDS)
        return;
    snprintf(list->text[list->count], sizeof *list->text, "%s", option);
    list->word[list->count] = list->text[list->count];
    list->count++;
    if (value) {
        list->word[list->count] = value;
        list->count++;
    }
    list->word[list->count] = NULL;
}

static void add_number(struct show_words *list, const char *option, const char *format, double value)
{
    char *const text = list->text[list->count + 1];
    snprintf(text, sizeof *list->text, format, value);
    add(list, option, text);
}

void show_check_words(struct show_words *list, const struct options *options, const struct task *task)
{
    *list = (struct show_words){.count = 0};
    if (options->device)
        add(list, "--device", options->device);
    else if (task->device.backend == BACKEND_HOST)
        add(list, "--device", "host");
    if (options->space)
        add(list, "--contract", options->space);
    if (options->timeout != CALL_SECONDS)
        add_number(list, "--timeout", "%g", options->timeout);
    if (options->python)
        add(list, "--python", options->python);
    if (options->entry)
        add(list, "--entry", options->entry);
    if (options->memory > 0)
        add_number(list, "--memory", "%.10gM", options->memory / 0x1p20);
    if (options->published)
        add(list, "--tolerance", "published");
}

void show_command(const struct options *options, const struct task *task, const struct config_result *result)
{
    struct show_words list;
    show_check_words(&list, options, task);
    fprintf(show_out(), "  %-11s", "reproduce");
    program_print(show_out());
    fprintf(show_out(), "check ");
    text_shell(show_out(), folder_word(task->problem));
    fprintf(show_out(), " ");
    text_shell(show_out(), options->argument[1]);
    fprintf(show_out(), " ");
    text_shell(show_out(), result->pair.present ? result->pair.line : result->line);
    if (result->pair.present) {
        fprintf(show_out(), " --after ");
        text_shell(show_out(), result->pair.after_line);
    }
    for (int i = 0; i < list.count; i++) {
        fprintf(show_out(), " ");
        text_shell(show_out(), list.word[i]);
    }
    fprintf(show_out(), "\n");
}

int show_json(const struct task *task, const struct options *options, const struct session *session,
              const struct config_result *first, const struct diagnosis *diagnosis, bool passes)
{
    char error[512];
    struct config_result one = *first;
    struct result run = {.version = UNSEEN_VERSION,
                         .git = unseen_git,
                         .problem = task->problem->name,
                         .language = task->build.language,
                         .build_seconds = task->build.seconds,
                         .object_kept = task->build.kept,
                         .published_tolerance = options->published,
                         .results = &one,
                         .result_count = 1};
    if (!options->report[REPORT_JSON])
        return 0;
    if (diagnosis)
        run.diagnosis = *diagnosis;
    run.finding = (struct finding *)session_findings(session, &run.finding_count);
    snprintf(run.candidate_path, sizeof run.candidate_path, "%s", options->argument[1]);
    memcpy(run.candidate_sha256, task->build.sha256, sizeof run.candidate_sha256);
    memcpy(run.device, task->device.name, sizeof run.device);
    memcpy(run.driver, task->device.driver, sizeof run.driver);
    if (json_write_one(options->report[REPORT_JSON], &run, passes, error, sizeof error) == 0)
        return 0;
    options_error("%s", error);
    return EXIT_ENVIRONMENT;
}

/* Appends a word to a comma-separated list, if it fits. */
static void add_word(char *text, size_t size, const char *word)
{
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length ? ", " : "", word);
}

/* Appends "name=value" with the JSON value of a size, or of a number that get_inputs returns. */
static void add_published(char *text, size_t size, const json_t *entry)
{
    char word[90], *const value = json_dumps(json_object_get(entry, "value"), JSON_ENCODE_ANY);
    snprintf(word, sizeof word, "%.60s=%.20s", json_string_value(json_object_get(entry, "name")),
             value ? value : "?");
    free(value);
    add_word(text, size, word);
}

void show_derived(struct result *result)
{
    for (int i = 0; i < result->result_count; i++) {
        struct config_result *const c = &result->results[i];
        const struct derived *const derived = c->config.problem ? c->config.problem->derived : NULL;
        c->derived_known = derived != NULL;
        for (int k = 0; derived && k < RESULT_DERIVED && derived[k].name; k++)
            c->derived[k] = config_derived(&c->config, k);
    }
}

void show_run(struct result *result)
{
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(result->started, sizeof result->started, "%Y-%m-%dT%H:%M:%SZ", &utc);
    snprintf(result->command_line, sizeof result->command_line, "%s", program_words());
}

void show_kept_sizes(struct result *result, const struct task *task)
{
    const json_t *entry, *root;
    char text[400] = "";
    size_t i;
    if (!task->problem->task)
        return;
    root = imported_description(task->problem->task);
    json_array_foreach(json_object_get(root, "sizes"), i, entry)
    {
        if (json_is_null(json_object_get(entry, "axis")))
            add_published(text, sizeof text, entry);
    }
    json_array_foreach(json_object_get(root, "inputs"), i, entry)
    {
        if (!json_object_get(entry, "shape") && !json_object_get(entry, "expression") &&
            !json_object_get(entry, "form"))
            add_published(text, sizeof text, entry);
    }
    if (text[0])
        result_note(
            result,
            "these sizes of the task stay as they were published, so that nothing is known of others: %s "
            "(the task's README.md says why)",
            text);
}

/* Lists the task's inputs with a given domain, separated by commas. */
static void list_inputs(const struct task *task, const char *domain, char *text, size_t size)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(imported_description(task->problem->task), "inputs"), i, entry)
    {
        const char *const of_entry = json_string_value(json_object_get(entry, "domain"));
        if (of_entry && strcmp(of_entry, domain) == 0)
            add_word(text, size, json_string_value(json_object_get(entry, "name")));
    }
}

void show_computed_inputs(struct result *result, const struct task *task)
{
    char computed[300] = "", same[300] = "";
    if (!task->problem->task)
        return;
    list_inputs(task, "computed", computed, sizeof computed);
    list_inputs(task, "affine", same, sizeof same);
    list_inputs(task, "band", same, sizeof same);
    if (computed[0])
        result_detail(
            result,
            "the task computes elements of these inputs from others or holds them within bounds (a row that "
            "sums to 1, a mask of lengths, a decay): its own get_inputs makes them, in every input "
            "class: %s",
            computed);
    if (same[0])
        result_detail(result,
                      "these inputs hold the same in every call of equal sizes, as the task makes them, so "
                      "that nothing is "
                      "known of others: %s",
                      same);
}

void show_company(struct result *result)
{
    const struct company *company = &result->company;
    if (company->disbelieved)
        result_note(
            result,
            "timings of the candidate process and of the judge disagree (busy CPU?); the report uses the "
            "judge's");
    if (company->most > 0)
        result_note(result, "the device is shared: %d other process%s; times are not to be trusted",
                    company->most, company->most == 1 ? "" : "es");
    else if (company->shared)
        result_note(result, "the device is shared: another unseen uses it; times are not to be trusted");
    else if (company->unproved > 0)
        result_note(
            result,
            "on %d configuration%s the device was idle only long after the stream's events, without proof "
            "that the candidate is why; these times are not to be trusted",
            company->unproved, company->unproved == 1 ? "" : "s");
    if (*company->held_back)
        result_note(result,
                    "the device held its clock back while times were taken (%s), to %.0f MHz at least",
                    company->held_back, company->least_mhz);
}

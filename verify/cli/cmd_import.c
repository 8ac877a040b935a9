/* unseen import: creates a problem's folder from a task in Python */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "import_shapes.h"
#include "reports/record/program.h"
#include "console.h"
#include "reports/record/text.h"
#include "verify/worker/child.h"
#include "verify/sandbox/child_table.h"
#include "verify/util/interrupt.h"
#include "verify/torch/importing.h"

static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ','), at += at != NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

/* The reason why a size stays fixed, from the list `fixed` or its own entry. */
static const char *reason_of(const json_t *task, const json_t *size, const char *name)
{
    const json_t *fixed;
    size_t i;
    json_array_foreach(json_object_get(task, "fixed"), i, fixed)
    {
        const char *why = json_string_value(json_object_get(fixed, "why"));
        if (why && strcmp(json_string_value(json_object_get(fixed, "name")), name) == 0)
            return why;
    }
    const char *why = json_string_value(json_object_get(size, "why"));
    return why ? why : "";
}

/* The description that importing wrote, or NULL. */
static json_t *load_description(const char *folder)
{
    char path[2900];
    const char *slash = strrchr(folder, '/');
    snprintf(path, sizeof path, "%s/%s.task", folder, slash ? slash + 1 : folder);
    return json_load_file(path, 0, NULL);
}

/* Prints why every configuration of the task, or every one that importing tried, has no known answer. */
static void say_what_cannot_be_judged(const json_t *task)
{
    const json_t *note;
    size_t i;
    json_array_foreach(json_object_get(task, "notes"), i, note)
    {
        const char *kind = json_string_value(json_object_get(note, "kind"));
        const char *text = json_string_value(json_object_get(note, "text"));
        if (kind && text && strcmp(kind, "unjudged") == 0)
            printf("note: %s\n", text);
    }
}

/* Lists the requested sizes that cannot vary, and why; NAME.task has all fixed sizes. */
static void say_what_stays(const json_t *task, const char *vary)
{
    const json_t *size;
    size_t i;
    json_array_foreach(json_object_get(task, "sizes"), i, size)
    {
        const char *name = json_string_value(json_object_get(size, "name"));
        if (!name || !is_listed(vary, name) || json_is_string(json_object_get(size, "axis")))
            continue;
        const char *why = reason_of(task, size, name);
        printf("note: %s = %" JSON_INTEGER_FORMAT " stays as it was published, though --vary names it: %s\n",
               name, json_integer_value(json_object_get(size, "value")),
               why + (strncmp(why, "fixed: ", 7) == 0 ? 7 : 0));
    }
}

int command_import(const struct options *options)
{
    char folder[1400], text[2400];
    const struct importing importing = {.source = options->argument[0],
                                        .directory = options->out ? options->out : ".",
                                        .python = options->python,
                                        .form = options->as,
                                        .vary = options->vary,
                                        .seconds = options->compile_timeout};
    if (options->shapes)
        return import_shapes(options);
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    catch_signals(child_stop_all);
    console_watch();
    const enum folder_status status = importing_run(&importing, folder, sizeof folder, text, sizeof text);
    console_unwatch();
    if (status != FOLDER_OK && is_interrupted()) {
        options_error("interrupted; nothing was written");
        return EXIT_INTERRUPTED;
    }
    if (status != FOLDER_OK) {
        options_error("%s", text);
        return status == FOLDER_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    printf("wrote %s; its README.md has the findings, and its contract may be edited:\n  ", folder);
    program_print(stdout);
    printf("describe ");
    text_shell(stdout, folder);
    printf("\n");
    json_t *task = load_description(folder);
    say_what_cannot_be_judged(task);
    if (importing.vary)
        say_what_stays(task, importing.vary);
    json_decref(task);
    return EXIT_GENERAL;
}

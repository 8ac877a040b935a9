/* unseen export: writes a drawn set for other programs */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prepare.h"
#include "reports/record/atomic.h"
#include "problems/suggest.h"
#include "verify/export/export.h"
#include "verify/export/export_arena.h"

static const double most_inputs = 0x1p30; /* bytes; default of --size */

static int find_format(const char *word, enum export_format *format)
{
    char names[64] = "", meant[80];
    struct suggestion near = {.word = word ? word : ""};
    for (int i = 0; i < EXPORT_FORMATS; i++) {
        const size_t used = strlen(names);
        suggest_offer(&near, export_name(i));
        *format = (enum export_format)i;
        if (word && strcmp(word, export_name(i)) == 0)
            return 0;
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", export_name(i));
    }
    options_error("--format '%s'%s; expected one of %s\n---> for example --format json", near.word,
                  suggest_text(&near, meant, sizeof meant), names);
    return EXIT_USAGE;
}

static int find_stored(const struct options *options, const struct tensor_file_format **as)
{
    char names[64] = "";
    *as = tensor_file_find(options->inputs_as, names, sizeof names);
    if (!*as)
        options_error("--inputs-as '%s'; expected one of %s\n---> for example --inputs-as safetensors",
                      options->inputs_as, names);
    else if (options->inputs_as && !options->inputs)
        options_error("--inputs-as %s without --inputs; expected the folder that they go to\n"
                      "---> add --inputs DIR, or leave out --inputs-as",
                      options->inputs_as);
    else
        return 0;
    return EXIT_USAGE;
}

static int write_set(const struct export_set *set, enum export_format format, const char *path)
{
    char error[512], *text = NULL;
    size_t length = 0;
    FILE *const out = open_memstream(&text, &length);
    const int failed = out ? export_write(out, set, format) : -1;
    if (!out || fclose(out) != 0 || failed != 0) {
        free(text);
        options_error("out of memory");
        return EXIT_ENVIRONMENT;
    }
    const int written = atomic_is_standard(path)
                            ? (fwrite(text, 1, length, stdout), 0)
                            : atomic_update(path, "configurations", text, length, error, sizeof error);
    free(text);
    if (written != 0)
        options_error("%s", error);
    return written == 0 ? 0 : EXIT_ENVIRONMENT;
}

static int write_arena(const struct export_set *set, const struct options *options)
{
    char text[512];
    bool is_usage;
    if (export_arena(set, options->argument[0], options->out, &is_usage, text, sizeof text) == 0)
        return 0;
    options_error("%s", text);
    return is_usage ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

static int export_task(const struct task *task, const struct options *options, enum export_format format,
                       const struct tensor_file_format *as)
{
    char text[512];
    bool is_usage;
    const struct export_set set = {
        .task = task, .seen_only = options->only_seen, .inputs = options->inputs, .as = as};
    if (options->inputs && export_inputs(&set, options->size > 0 ? options->size : most_inputs, &is_usage,
                                         text, sizeof text) != 0) {
        options_error("%s", text);
        return is_usage ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    if (format == EXPORT_ARENA)
        return write_arena(&set, options);
    return write_set(&set, format, options->out ? options->out : "-");
}

int command_export(const struct options *options)
{
    struct task task;
    enum export_format format;
    const struct tensor_file_format *as = NULL;
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    int status = find_format(options->format, &format);
    if (status == 0 && format == EXPORT_ARENA && !options->out) {
        options_error("--format arena without --out; expected a new folder\n---> add --out DIRECTORY");
        status = EXIT_USAGE;
    }
    if (status == 0)
        status = find_stored(options, &as);
    if (status == 0)
        status = prepare_task(&task, options);
    if (status != 0)
        return status;
    status = prepare_step(&task, task_draw(&task));
    if (status == 0)
        status = export_task(&task, options, format, as);
    if (status == 0)
        fprintf(stderr, "seed %llu, commitment %s\n%s%s", (unsigned long long)task.seed, task.commitment,
                task.notes.text, task.notes.text[0] ? "\n" : "");
    task_clear(&task);
    return status;
}

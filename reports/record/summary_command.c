/* Commands of a summary: how to run a configuration or the whole run again, and what to do next. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "summary.h"
#include "text.h"

/* Prints "unseen COMMAND PROBLEM" and a blank. */
static void begin_command(FILE *out, const struct result *result, const char *command)
{
    program_print(out);
    fprintf(out, "%s ", command);
    text_shell(out, text_or(result->problem_word, text_or(result->problem, "PROBLEM")));
    fputc(' ', out);
}

static void print_options(FILE *out, const struct result *result)
{
    for (const char *const *word = result->check_options; word != NULL && *word != NULL; word++) {
        fputc(' ', out);
        text_shell(out, *word);
    }
}

/* Appends `option` and its `value`, quoted for the shell; NULL: none. */
static void print_command(FILE *out, const struct result *result, const char *line, bool timed,
                          const char *option, const char *value)
{
    begin_command(out, result, "check");
    text_shell(out, result->candidate_path);
    fputc(' ', out);
    text_shell(out, line);
    fputs(timed ? " --timing" : "", out);
    if (option != NULL) {
        fprintf(out, " %s ", option);
        text_shell(out, value);
    }
    print_options(out, result);
}

char *summary_command_text(const struct result *result, const struct config_result *config)
{
    char *command = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&command, &size);

    if (text == NULL)
        return NULL;
    summary_command(text, result, config);
    if (fclose(text) == 0)
        return command;
    free(command);
    return NULL;
}

void summary_command(FILE *out, const struct result *result, const struct config_result *config)
{
    const bool timed = config->reason.stage == STAGE_TIMED && config->timed_line[0] != '\0';

    if (config->pair.present)
        print_command(out, result, config->pair.line, false, "--after", config->pair.after_line);
    else
        print_command(out, result, timed ? config->timed_line : config->line, timed, NULL, NULL);
}

void summary_command_values(FILE *out, const struct result *result, const char *line, const char *values)
{
    print_command(out, result, line, false, values != NULL ? "--values" : NULL, values);
}

/* A command that already has a --seed gets the same one twice, which is harmless. */
void summary_command_again(FILE *out, const struct result *result)
{
    if (result->command_line[0] != '\0') {
        program_print(out);
        text_plain(out, result->command_line);
    } else {
        begin_command(out, result, "verify");
        text_shell(out, result->candidate_path);
        print_options(out, result);
    }
    if (strstr(result->command_line, "--seed") == NULL)
        fprintf(out, " --seed %" PRIu64, result->seed);
}

void summary_command_shrink(FILE *out, const struct result *result, const char *line)
{
    begin_command(out, result, "shrink");
    text_shell(out, result->candidate_path);
    fputc(' ', out);
    text_shell(out, line);
    print_options(out, result);
}

/* `freeze` takes the contract, but no option on how to run a candidate. */
void summary_command_freeze(FILE *out, const struct result *result, const char *line)
{
    begin_command(out, result, "pin");
    text_shell(out, line);
    for (const char *const *word = result->check_options; word != NULL && *word != NULL; word++)
        if (strcmp(*word, "--contract") == 0 && word[1] != NULL) {
            fprintf(out, " %s ", word[0]);
            text_shell(out, word[1]);
        }
}

/* `compare` has no --tolerance. */
void summary_command_compare(FILE *out, const struct result *result, const char *baseline)
{
    begin_command(out, result, "compare");
    text_shell(out, result->candidate_path);
    fputs(" --against ", out);
    text_shell(out, baseline);
    for (const char *const *word = result->check_options; word != NULL && *word != NULL; word++) {
        if (strcmp(*word, "--tolerance") == 0 && word[1] != NULL) {
            word++;
            continue;
        }
        fputc(' ', out);
        text_shell(out, *word);
    }
}

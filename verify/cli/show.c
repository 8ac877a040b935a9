#include "show.h"

#include <stdio.h>
#include <stdlib.h>

#include "reports/text.h"
#include "verify/problem/folder.h"

void show_line(const char *label, const char *text)
{
    printf("  %-11s", label);
    text_plain(stdout, text);
    printf("\n");
}

static void show_time(const struct timing *timing)
{
    char text[256];
    if (!timing->present)
        return;
    snprintf(text, sizeof text, "%.4g ms, median of %d (95%%: %.4g to %.4g; %s)%s", timing->median_ms,
             timing->samples, timing->low_ms, timing->high_ms, timing->method,
             timing->disturbed ? ", not to be trusted: disturbed by others on the device" : "");
    show_line("time", text);
    snprintf(text, sizeof text, "%.4g ms by the %s bound: %.3g%% of attainable", timing->attainable_ms,
             bound_name(timing->bound), 100 * timing->fraction);
    show_line("attainable", text);
}

void show_result(const struct config_result *result)
{
    char text[512];
    printf("%s: %s\n", outcome_name(result->outcome), result->line);
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
        show_line("published",
                  result->published_pass ? "the published check passes it" : "the published check fails it");
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

char *show_command_options(const struct options *options, const struct task *task)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (options->device)
        fprintf(out, "--device %s ", options->device);
    else if (task->device.backend == BACKEND_HOST)
        fprintf(out, "--device host ");
    if (options->space) {
        fprintf(out, "--space ");
        text_shell(out, options->space);
        fprintf(out, " ");
    }
    if (options->timeout != CALL_SECONDS)
        fprintf(out, "--timeout %g ", options->timeout);
    if (options->python) {
        fprintf(out, "--python ");
        text_shell(out, options->python);
        fprintf(out, " ");
    }
    if (options->entry) {
        fprintf(out, "--entry ");
        text_shell(out, options->entry);
        fprintf(out, " ");
    }
    if (options->memory > 0)
        fprintf(out, "--memory %.10gM ", options->memory / 0x1p20);
    if (options->published)
        fprintf(out, "--tolerance published ");
    fclose(out);
    if (text && size > 0)
        text[size - 1] = '\0'; /* the last blank */
    return text;
}

void show_command(const struct options *options, const struct task *task, const char *config)
{
    char *rest = show_command_options(options, task);
    printf("  %-11sunseen check ", "reproduce");
    text_shell(stdout, folder_word(task->problem));
    printf(" ");
    text_shell(stdout, options->argument[1]);
    printf(" ");
    text_shell(stdout, config);
    printf("%s%s\n", rest && *rest ? " " : "", rest ? rest : "");
    free(rest);
}

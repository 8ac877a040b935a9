#include "github.h"

#include <stdlib.h>
#include <string.h>

#include "reports/html/markup.h"
#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "reports/record/text.h"

enum { SHOWN = 8 }; /* GitHub shows ten annotations per kind and step */

void github_quiet(FILE *out, const char *token)
{
    fprintf(out, "::stop-commands::%s\n", token);
}

void github_speak(FILE *out, const char *token)
{
    fprintf(out, "::%s::\n", token);
}

static const char *level(enum element_verdict verdict)
{
    switch (verdict) {
    case VERDICT_GENERAL: return "notice";
    case VERDICT_LIMITED:
    case VERDICT_INCONCLUSIVE: return "warning";
    default: return "error";
    }
}

static void begin(FILE *out, const struct result *result, const char *kind, const char *title)
{
    fprintf(out, "::%s file=", kind);
    markup_github(out, result->candidate_path, 1);
    fputs(",line=1,title=", out);
    markup_github(out, title, 1);
    fputs("::", out);
}

static void print_failure(FILE *out, const struct result *result, const struct config_result *config,
                          enum outcome outcome)
{
    char title[128], *command = summary_command_text(result, config);

    snprintf(title, sizeof title, "%.60s: %s on %s configuration", text_or(result->problem, "unseen"),
             outcome_name(outcome), config->unseen ? "an unseen" : "a seen");
    begin(out, result, outcome == OUTCOME_REFUSED && config->unseen ? "warning" : "error", title);
    markup_github(out, text_or(config->detail, outcome_name(outcome)), 0);
    if (command != NULL) {
        fputs("%0A", out);
        markup_github(out, command, 0);
    }
    fputc('\n', out);
    free(command);
}

/* Round-robin over outcomes: first one failure of each outcome, then a second of each. */
static void print_failures(FILE *out, const struct result *result)
{
    int left = SHOWN;

    for (int round = 0; round < SHOWN && left > 0; round++) {
        int seen[OUTCOME_COUNT] = {0};

        for (int i = 0; i < result->result_count && left > 0; i++) {
            const enum outcome outcome = config_outcome(&result->results[i], published_decides(result));

            if (!outcome_is_rejected(outcome) || seen[outcome]++ != round)
                continue;
            print_failure(out, result, &result->results[i], outcome);
            left--;
        }
    }
}

void github_print(FILE *out, const struct result *result)
{
    const enum element_verdict verdict = result_verdict(result);
    char title[128], text[SUMMARY_SIZE];

    snprintf(title, sizeof title, "%.60s: %s", text_or(result->problem, "unseen"), verdict_name(verdict));
    begin(out, result, level(verdict), title);
    summary_verdict(text, result);
    markup_github(out, text, 0);
    if (result->diagnosis.present) {
        summary_rule(text, &result->diagnosis);
        fputs("%0A", out);
        markup_github(out, text, 0);
    }
    fputc('\n', out);
    print_failures(out, result);
}

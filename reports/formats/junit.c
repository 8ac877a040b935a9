#include "junit.h"

#include <stdlib.h>
#include <string.h>

#include "reports/html/markup.h"
#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "reports/record/text.h"

static void attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    markup_text(out, value);
    fputc('"', out);
}

static void print_command(FILE *out, const struct result *result, const struct config_result *config)
{
    char *command = summary_command_text(result, config);

    if (command != NULL)
        markup_text(out, command);
    free(command);
}

static void print_failure(FILE *out, const struct result *result, const struct config_result *config,
                          enum outcome outcome)
{
    char element[SUMMARY_SIZE];

    fputs("\n   <failure", out);
    attribute(out, "type", outcome_name(outcome));
    attribute(out, "message", text_or(config->detail, outcome_name(outcome)));
    fputc('>', out);
    print_command(out, result, config);
    if (config->worst.present) {
        text_element(element, sizeof element, &config->worst);
        fputc('\n', out);
        markup_text(out, element);
    }
    if (summary_own(element, result, config)) {
        fputc('\n', out);
        markup_text(out, element);
    }
    fputs("</failure>\n  ", out);
}

/* With --accept limited, the candidate may refuse an unseen configuration: that test case is no failure. */
static bool is_accepted(const struct result *result, const struct config_result *config, enum outcome outcome)
{
    return result->accept_limited && config->unseen && outcome == OUTCOME_REFUSED;
}

static void print_case(FILE *out, const struct result *result, const struct config_result *config)
{
    const enum outcome outcome = config_outcome(config, published_decides(result));
    char name[64];

    snprintf(name, sizeof name, "%.40s.%s", text_or(result->problem, "unseen"),
             config->unseen ? "unseen" : "seen");
    fputs("  <testcase", out);
    attribute(out, "classname", name);
    attribute(out, "name", config->line);
    fprintf(out, " time=\"%.9f\"", config->timing.present ? config->timing.median_ms / 1e3 : 0);
    fputc('>', out);
    if (outcome == OUTCOME_SKIPPED || is_accepted(result, config, outcome)) {
        fputs("<skipped", out);
        attribute(out, "message", text_or(config->detail, "no reason recorded"));
        fputs("/>", out);
    } else if (outcome != OUTCOME_PASS) {
        print_failure(out, result, config, outcome);
    }
    fputs("</testcase>\n", out);
}

static void open_suite(FILE *out, const struct result *result, const char *part, int tests, int failures,
                       int skipped)
{
    char name[700];

    snprintf(name, sizeof name, "%.60s %s: %s", text_or(result->problem, "unseen"), result->candidate_path,
             part);
    fputs(" <testsuite", out);
    attribute(out, "name", name);
    fprintf(out, " tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\">\n", tests, failures, skipped);
}

static void print_set(FILE *out, const struct result *result, bool unseen)
{
    int tests = 0, passes = 0, skipped = 0;

    for (int i = 0; i < result->result_count; i++) {
        const enum outcome outcome = config_outcome(&result->results[i], published_decides(result));

        if (result->results[i].unseen != unseen)
            continue;
        tests++;
        passes += outcome == OUTCOME_PASS;
        skipped += outcome == OUTCOME_SKIPPED || is_accepted(result, &result->results[i], outcome);
    }
    open_suite(out, result, unseen ? "unseen" : "seen", tests, tests - passes - skipped, skipped);
    for (int i = 0; i < result->result_count; i++)
        if (result->results[i].unseen == unseen)
            print_case(out, result, &result->results[i]);
    fputs(" </testsuite>\n", out);
}

static void print_property(FILE *out, const char *name, const char *value)
{
    fputs("   <property", out);
    attribute(out, "name", name);
    attribute(out, "value", text_or(value, ""));
    fputs("/>\n", out);
}

static void print_properties(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE], other[SUMMARY_SIZE];
    const char *const check = summary_checks(text, other, result);

    fputs("  <properties>\n", out);
    if (check != NULL) {
        print_property(out, "our check", text);
        print_property(out, check, other);
    }
    print_property(out, "candidate", result->candidate_path);
    print_property(out, "sha256", result->candidate_sha256);
    print_property(out, "device", result->device);
    snprintf(text, sizeof text, "%llu", (unsigned long long)result->seed);
    print_property(out, "seed", text);
    print_property(out, "commitment", result->commitment);
    if (result->diagnosis.present) {
        summary_rule(text, &result->diagnosis);
        print_property(out, "rule", text);
        print_property(out, "smallest", result->diagnosis.minimal.line);
        if (result->diagnosis.minimal.pair.present)
            print_property(out, "after", result->diagnosis.minimal.pair.after_line);
    }
    fputs("  </properties>\n", out);
}

static void print_verdict(FILE *out, const struct result *result)
{
    const enum element_verdict verdict = result_verdict(result);
    const bool accepted =
        verdict == VERDICT_GENERAL || (verdict == VERDICT_LIMITED && result->accept_limited);
    const bool fails = !accepted || result->without[0] != '\0';
    char text[SUMMARY_SIZE];

    open_suite(out, result, "verdict", 1, fails, 0);
    print_properties(out, result);
    fputs("  <testcase", out);
    snprintf(text, sizeof text, "%.60s.verdict", text_or(result->problem, "unseen"));
    attribute(out, "classname", text);
    fprintf(out, " name=\"general\" time=\"%.3f\">", result->seconds);
    if (fails) {
        summary_verdict(text, result);
        fprintf(out, "<failure type=\"%s\"", verdict_name(verdict));
        attribute(out, "message", text);
        fputc('>', out);
        for (int i = 0; i < result->finding_count; i++) {
            fprintf(out, "%s: ", finding_name(result->finding[i].kind));
            markup_text(out, result->finding[i].evidence);
            fputc('\n', out);
        }
        if (result->diagnosis.present)
            print_command(out, result, &result->diagnosis.minimal);
        fputs("</failure>", out);
    }
    fputs("</testcase>\n </testsuite>\n", out);
}

void junit_print(FILE *out, const struct result *const *results, int count)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"unseen\">\n", out);
    for (int i = 0; i < count; i++) {
        print_verdict(out, results[i]);
        print_set(out, results[i], false);
        print_set(out, results[i], true);
    }
    fputs("</testsuites>\n", out);
}

#include "sarif.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "reports/json/json_values.h"
#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "reports/record/text.h"

static const char version[] = "2.1.0";
static const char schema[] =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/* Every outcome that a result can have; the others stand for no failure. */
static const struct {
    enum outcome outcome;
    const char *text;
} rules[] = {
    {OUTCOME_WRONG, "An output element lies outside its error bound."},
    {OUTCOME_UNWRITTEN, "An output element was never written."},
    {OUTCOME_OVERRUN, "The candidate touched memory outside of a tensor."},
    {OUTCOME_MODIFIED, "The candidate changed an input."},
    {OUTCOME_UNSTABLE, "Equal inputs gave different results."},
    {OUTCOME_REFUSED, "The candidate refused a configuration of the contract."},
    {OUTCOME_CRASH, "The candidate's process ended, or raised an error."},
    {OUTCOME_TIMEOUT, "A call did not end in time."},
    {OUTCOME_EXCEEDED, "The candidate exceeded its bound on memory or processes."},
};
enum { RULES = sizeof rules / sizeof *rules };

static const char finding_rule[] = "finding";
static const char finding_text[] =
    "There is evidence that the candidate cheats, or that its times cannot be true.";

/* A path as a URI reference (RFC 3986): absolute paths get a scheme. */
static json_t *uri(const char *path)
{
    char text[4 * 600] = "";
    size_t used = (size_t)snprintf(text, sizeof text, "%s", *path == '/' ? "file://" : "");
    for (const char *p = path; *p && used + 4 < sizeof text; p++) {
        const unsigned char c = (unsigned char)*p;
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 isalnum(c) || strchr("/-._~", c) ? "%c" : "%%%02X", c);
    }
    return json_string(text);
}

static json_t *location_of(const struct result *result)
{
    return json_pack("[{s:{s:{s:o}, s:{s:i}}}]", "physicalLocation", "artifactLocation", "uri",
                     uri(result->candidate_path), "region", "startLine", 1);
}

static json_t *rule_of(const char *id, const char *text)
{
    return json_pack("{s:s, s:{s:s}}", "id", id, "shortDescription", "text", text);
}

static json_t *all_rules(void)
{
    json_t *all = json_array();
    for (int i = 0; i < RULES; i++)
        json_array_append_new(all, rule_of(outcome_name(rules[i].outcome), rules[i].text));
    json_array_append_new(all, rule_of(finding_rule, finding_text));
    return all;
}

static int rule_index(enum outcome outcome)
{
    int i = 0;
    while (i < RULES && rules[i].outcome != outcome)
        i++;
    return i;
}

static json_t *result_of(const char *rule, int index, const char *level, const char *message,
                         const struct result *result)
{
    return json_pack("{s:s, s:i, s:s, s:{s:o}, s:o}", "ruleId", rule, "ruleIndex", index, "level", level,
                     "message", "text", json_of_text(message), "locations", location_of(result));
}

static json_t *failure_of(const struct result *result, const struct config_result *config,
                          enum outcome outcome)
{
    char *const command = summary_command_text(result, config);
    char message[4096];
    const bool mild = outcome == OUTCOME_REFUSED && config->unseen;
    snprintf(message, sizeof message, "%.700s: %.900s\nRun it again: %.2000s", config->line,
             text_or(config->detail, outcome_name(outcome)), text_or(command, "unseen check"));
    json_t *const made =
        result_of(outcome_name(outcome), rule_index(outcome), mild ? "warning" : "error", message, result);
    json_object_set_new(made, "partialFingerprints",
                        json_pack("{s:o}", "configuration/v1", json_of_text(config->line)));
    json_object_set_new(made, "properties",
                        json_pack("{s:o, s:s, s:o}", "configuration", json_of_text(config->line), "set",
                                  config->unseen ? "unseen" : "seen", "command",
                                  json_of_text(text_or(command, ""))));
    free(command);
    return made;
}

static json_t *all_results(const struct result *result)
{
    json_t *all = json_array();
    for (int i = 0; i < result->result_count; i++) {
        const struct config_result *const config = &result->results[i];
        const enum outcome outcome = config_outcome(config, published_decides(result));
        if (outcome_is_rejected(outcome))
            json_array_append_new(all, failure_of(result, config, outcome));
    }
    for (int i = 0; i < result->finding_count; i++) {
        char message[600];
        snprintf(message, sizeof message, "%.100s: %.400s", finding_name(result->finding[i].kind),
                 result->finding[i].evidence);
        json_array_append_new(all, result_of(finding_rule, RULES, "error", message, result));
    }
    return all;
}

static json_t *properties_of(const struct result *result)
{
    char text[SUMMARY_SIZE];
    summary_verdict(text, result);
    json_t *const made = json_pack(
        "{s:s, s:s, s:o, s:I, s:s, s:o}", "problem", text_or(result->problem, "unseen"), "verdict",
        verdict_name(result_verdict(result)), "reason", json_of_text(text), "seed", (json_int_t)result->seed,
        "commitment", result->commitment, "device", json_of_text(result->device));
    if (result->diagnosis.present) {
        summary_rule(text, &result->diagnosis);
        json_object_set_new(made, "rule", json_of_text(text));
        json_object_set_new(made, "smallest", json_of_text(result->diagnosis.minimal.line));
    }
    return made;
}

static json_t *run_of(const struct result *result)
{
    json_t *const driver = json_pack("{s:s, s:s, s:o}", "name", "unseen", "version",
                                     text_or(result->version, "unknown"), "rules", all_rules());
    json_t *const artifact = json_pack("{s:{s:o}}", "location", "uri", uri(result->candidate_path));
    if (*result->candidate_sha256)
        json_object_set_new(artifact, "hashes", json_pack("{s:s}", "sha-256", result->candidate_sha256));
    return json_pack("{s:{s:o}, s:[o], s:[{s:b}], s:o, s:o}", "tool", "driver", driver, "artifacts", artifact,
                     "invocations", "executionSuccessful", !result->partial, "results", all_results(result),
                     "properties", properties_of(result));
}

void sarif_print(FILE *out, const struct result *const *results, int count)
{
    json_t *const runs = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(runs, run_of(results[i]));
    json_t *const log = json_pack("{s:s, s:s, s:o}", "$schema", schema, "version", version, "runs", runs);
    char *const text = log ? json_dumps(log, JSON_INDENT(1)) : NULL;
    if (text)
        fprintf(out, "%s\n", text);
    free(text);
    json_decref(log);
}

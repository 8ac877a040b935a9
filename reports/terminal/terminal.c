#include "terminal.h"

#include <inttypes.h>
#include <string.h>

#include "reports/record/published.h"
#include "reports/record/summary.h"
#include "terminal_internal.h"
#include "reports/record/text.h"
#include "reports/record/oracle_quality.h"

enum { SHOWN_FINDINGS = 12 };

const char *terminal_paint(enum paint paint, bool colour)
{
    static const char *const code[] = {
        [PAINT_GOOD] = "\033[1;32m",
        [PAINT_DOUBTFUL] = "\033[1;33m",
        [PAINT_BAD] = "\033[1;31m",
        [PAINT_STRONG] = "\033[1m",
    };

    return colour ? code[paint] : "";
}

const char *terminal_plain(bool colour)
{
    return colour ? "\033[0m" : "";
}

void terminal_label(FILE *out, const char *label)
{
    fprintf(out, "  %-*s", TERMINAL_LABEL - 2, label);
}

void terminal_line(FILE *out, const char *label, const char *text)
{
    terminal_label(out, label);
    text_wrap(out, TERMINAL_LABEL, TERMINAL_LABEL, text);
}

/* ---- Before the run ---- */

static void print_commitment(FILE *out, const struct result *result)
{
    terminal_label(out, "commitment");
    fprintf(out, "%s\n", text_or(result->commitment, "none")); /* on one line, so that it can be copied */
}

static void print_sets(FILE *out, const struct result *result)
{
    char text[256], parts[96] = "";
    int used = 0;

    if (result->planned_scouts > 0)
        used = snprintf(parts, sizeof parts, ", %d of them scouts", result->planned_scouts);
    if (result->planned_directed > 0)
        snprintf(parts + used, sizeof parts - (size_t)used, ", %d directed", result->planned_directed);
    if (result->unseen_given[0])
        snprintf(text, sizeof text,
                 "%d seen configurations, and %d unseen ones that were given and not drawn",
                 result->planned_seen, result->planned - result->planned_seen);
    else
        snprintf(text, sizeof text, "%d seen and %d unseen configurations%s, effort %s", result->planned_seen,
                 result->planned - result->planned_seen, parts, text_or(result->effort, "not named"));
    terminal_line(out, "sets", text);
}

void terminal_title(FILE *out, const struct result *result, bool colour)
{
    fprintf(out, "%sunseen %s: %s%s\n", terminal_paint(PAINT_STRONG, colour), text_or(result->version, ""),
            text_or(result->problem, "unknown problem"), terminal_plain(colour));
}

static void print_plan(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];

    snprintf(
        text, sizeof text, "%d seen and %d unseen configurations, %s%s, seed %" PRIu64, result->planned_seen,
        result->planned - result->planned_seen, result->unseen_given[0] ? "" : "effort ",
        result->unseen_given[0] ? "given and not drawn" : text_or(result->effort, "not named"), result->seed);
    terminal_line(out, "sets", text);
}

void terminal_header(FILE *out, const struct result *result, bool colour, bool verbose)
{
    terminal_title(out, result, colour);
    if (!verbose) {
        print_plan(out, result);
        return;
    }
    print_sets(out, result);
    print_commitment(out, result);
    terminal_line(out, "", "SHA-256 of the unseen set, fixed before the candidate first runs");
}

/* ---- During the run ---- */

static void time_left(char *buffer, size_t size, double seconds)
{
    buffer[0] = '\0';
    if (!(seconds >= 0 && seconds < 1e6))
        return;
    if (seconds < 100)
        snprintf(buffer, size, ", about %.0f s left", seconds);
    else if (seconds < 6000)
        snprintf(buffer, size, ", about %.0f min left", seconds / 60);
    else
        snprintf(buffer, size, ", about %.1f h left", seconds / 3600);
}

/* Avoids the last column: some terminals would wrap there, and the wrapped line could not be cleared. */
static int progress_width(void)
{
    return text_width() - 1;
}

void terminal_status(FILE *out, const char *text)
{
    const int width = progress_width();

    fprintf(out, "\r%-*.*s", width, width, text); /* padded with blanks to overwrite a longer earlier line */
    fflush(out);
}

void terminal_progress(FILE *out, int done, int total, int failures, double seconds_left)
{
    char text[128], left[48];
    const bool narrow = text_width() < TEXT_WIDTH;

    time_left(left, sizeof left, seconds_left);
    snprintf(text, sizeof text, "%d/%d%s, %d failure%s%s", done, total, narrow ? "" : " configurations",
             failures, failures == 1 ? "" : "s", left);
    terminal_status(out, text);
}

void terminal_progress_clear(FILE *out)
{
    fprintf(out, "\r%*s\r", progress_width(), "");
    fflush(out);
}

void terminal_config(FILE *out, const struct config_result *config, bool colour)
{
    const struct timing *timing = &config->timing;
    const struct outcome_traits *outcome = outcome_traits(config->outcome);

    fprintf(out, "%s%-9s%s %-6s  ", terminal_paint(outcome->paint, colour), outcome->name,
            terminal_plain(colour), config->unseen ? "unseen" : "seen");
    text_plain(out, config->line);
    if (timing->present)
        fprintf(out, "  %.4g ms, %.3g%% of the %s bound", timing->median_ms, 100 * timing->fraction,
                bound_name(timing->bound));
    if (timing->present && text_or(timing->unmet, "")[0] != '\0') {
        fputs(" [", out);
        text_plain(out, timing->unmet);
        fputc(']', out);
    }
    if (timing->present && timing->disturbed)
        fputs(" [not to be trusted: disturbed]", out);
    if (config->outcome != OUTCOME_PASS && config->detail[0] != '\0') {
        fputs("  ", out);
        text_plain(out, config->detail);
    }
    fputc('\n', out);
}

/* ---- After the run ---- */

void terminal_findings(FILE *out, const struct result *result, int most, const char *elsewhere)
{
    char text[400];

    for (int i = 0; i < result->finding_count && i < most; i++) {
        snprintf(text, sizeof text, "%s: %s", finding_name(result->finding[i].kind),
                 result->finding[i].evidence);
        terminal_line(out, "finding", text);
    }
    if (result->finding_count > most) {
        snprintf(text, sizeof text, "%d more (%s lists them)", result->finding_count - most, elsewhere);
        terminal_line(out, "finding", text);
    }
}

void terminal_forbid(FILE *out, const struct result *result)
{
    char text[520];

    if (result->forbid[0] == '\0' || result->verdict == VERDICT_FORBIDDEN)
        return;
    snprintf(text, sizeof text, "%s: no use of it in the object's names%s", result->forbid,
             result->forbid_blind ? "; what it loads could not be seen" : " or in what was loaded");
    if (result->forbid_launches[0])
        snprintf(text + strlen(text), sizeof text - strlen(text), "; %s", result->forbid_launches);
    terminal_line(out, "forbid", text);
}

/* All branches that were not taken, one per line. */
static void print_branches(FILE *out, const struct result *result)
{
    const struct result_branches *const b = &result->branches;
    char text[SUMMARY_SIZE];

    if (!b->present)
        return;
    snprintf(text, sizeof text,
             "%d of %d branches of its code reached, in %d of %d configurations; %d of these were drawn for "
             "them%s",
             b->taken, b->count, b->called, b->configurations, b->added,
             b->taken < b->count ? "; never:" : "");
    terminal_line(out, "coverage", text);
    for (int i = 0; i < b->nevers; i++) {
        summary_branch(text, sizeof text, &b->never[i]);
        terminal_line(out, "", text);
    }
    if (b->count - b->taken > b->nevers) {
        snprintf(text, sizeof text, "%d more (`unseen cover` lists them)", b->count - b->taken - b->nevers);
        terminal_line(out, "", text);
    }
    if (b->note[0] != '\0')
        terminal_line(out, "", b->note);
}

static void print_notes(FILE *out, const struct result *result)
{
    char line[sizeof result->notes];
    const char *rest = result->notes;

    while (*rest != '\0') {
        size_t length = strcspn(rest, "\n");

        memcpy(line, rest, length);
        line[length] = '\0';
        if (length > 0)
            terminal_line(out, "note", line);
        rest += length + (rest[length] == '\n');
    }
}

/* The phases of the JSON result; they add up to the duration of the run. */
static void print_phases(FILE *out, const struct result *result)
{
    const struct phase_seconds *p = &result->phase;
    const struct {
        const char *name;
        double seconds;
    } phase[] = {
        {"opening", p->open},       {"building", p->build},     {"drawing", p->draw},
        {"starting", p->start},     {"mapping", p->map},        {"filling", p->fill},
        {"running", p->run},        {"judging", p->judge},      {"witnessing", p->witness},
        {"timing", p->time},        {"stopping", p->stop},      {"baseline", p->baseline},
        {"ceilings", p->calibrate}, {"explaining", p->explain}, {"covering", p->cover},
        {"other", p->other},
    };

    for (size_t i = 0; i < sizeof phase / sizeof phase[0]; i++) {
        terminal_label(out, i == 0 ? "time" : "");
        fprintf(out, "%-12s%9.2f s\n", phase[i].name, phase[i].seconds);
    }
}

/* The candidate, the problem and the device; how they were judged only with -v. */
static void print_provenance(FILE *out, const struct result *result)
{
    char text[SUMMARY_SIZE];

    terminal_label(out, "candidate");
    text_plain(out, result->candidate_path); /* on one line, so that it can be copied */
    fputc('\n', out);
    summary_candidate(text, result);
    terminal_line(out, "", text);
    summary_device(text, result);
    terminal_line(out, "device", text);
    if (summary_ceilings(text, result))
        terminal_line(out, "ceilings", text);
    if (result->sandbox[0] != '\0')
        terminal_line(out, "isolation", result->sandbox);
    print_sets(out, result);
    snprintf(text, sizeof text, "%" PRIu64 " (--seed with it draws the same sets again)", result->seed);
    terminal_line(out, "seed", text);
    print_commitment(out, result);
}

static void print_closing(FILE *out, const struct result *result, bool colour)
{
    const enum element_verdict verdict = result_verdict(result);

    fprintf(out, "%s%s%s after %.1f s\n", terminal_paint(verdict_paint(verdict), colour),
            verdict_name(verdict), terminal_plain(colour), result->seconds);
}

void terminal_report(FILE *out, const struct result *result, bool colour, bool verbose)
{
    char text[SUMMARY_SIZE];

    if (!verbose) {
        terminal_brief(out, result, colour);
        return;
    }
    fputc('\n', out);
    terminal_verdict(out, result, colour);
    if (oracle_quality_line(result, text, sizeof text))
        terminal_line(out, "answers", text);
    fputc('\n', out);
    terminal_diagnosis(out, result, colour);
    terminal_table(out, result);
    fputc('\n', out);
    terminal_failures(out, result, colour);
    if (published_count(result).rejected > 0)
        fputc('\n', out);
    terminal_findings(out, result, SHOWN_FINDINGS, "--json");
    terminal_forbid(out, result);
    terminal_skipped(out, result);
    print_branches(out, result);
    summary_arithmetic(text, result);
    terminal_line(out, "arithmetic", text);
    print_notes(out, result);
    print_phases(out, result);
    print_provenance(out, result);
    print_closing(out, result, colour);
}

#include "writers.h"

#include <stdlib.h>

#include "reports/record/atomic.h"
#include "csv.h"
#include "reports/html/html.h"
#include "reports/json/json.h"
#include "junit.h"
#include "markdown.h"
#include "sarif.h"
#include "trace.h"

#define ONE " verify "
#define SEVERAL " verify report "

/* clang-format off */
static const struct {
    const char *option, *words, *commands, *help;
    int (*write)(const char *path, const struct result *result, char *error, size_t error_size);
    void (*print)(FILE *out, const struct result *const *results, int count);
} writers[REPORT_COUNT] = {
    [REPORT_JSON] = {"json", "JSON result", ONE, "write the whole result to FILE", .write = json_write},
    [REPORT_CSV] = {"csv", "CSV table", ONE, "write one line per configuration to FILE", .print = csv_print},
    [REPORT_HTML] = {"html", "HTML page", SEVERAL, "write one self-contained page to FILE", .print = html_print},
    [REPORT_JUNIT] = {"junit", "JUnit report", SEVERAL, "write JUnit XML to FILE: one test case per configuration",
                      .print = junit_print},
    [REPORT_MARKDOWN] = {"markdown", "Markdown report", SEVERAL, "write Markdown to FILE, for a comment on a pull request",
                         .print = markdown_print},
    [REPORT_SARIF] = {"sarif", "SARIF log", SEVERAL, "write SARIF 2.1.0 to FILE: one result per failing configuration",
                      .print = sarif_print},
    [REPORT_TRACE] = {"trace", "trace", SEVERAL,
                      "write FlashInfer-Bench's JSON lines to FILE: the evaluation of each configuration",
                      .print = trace_print},
};
/* clang-format on */

const char *report_option(enum report_kind kind)
{
    return writers[kind].option;
}

const char *report_words(enum report_kind kind)
{
    return writers[kind].words;
}

const char *report_help(enum report_kind kind)
{
    return writers[kind].help;
}

const char *report_commands(enum report_kind kind)
{
    return writers[kind].commands;
}

int report_write(enum report_kind kind, const char *path, const struct result *const *results, int count,
                 char *error, size_t error_size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out;
    int status = -1;

    if (writers[kind].write != NULL)
        return writers[kind].write(path, results[0], error, error_size);
    out = open_memstream(&text, &length);
    if (out != NULL)
        writers[kind].print(out, results, count);
    if (out == NULL || fclose(out) != 0)
        snprintf(error, error_size,
                 "%s: cannot write the report: out of memory\n"
                 "---> draw fewer configurations (--unseen N)",
                 path);
    else
        status = atomic_write(path, text, length, error, error_size);
    free(text);
    return status;
}

/* Texts of a candidate or its author in all output: they stay texts. */
#include <string.h>

#include "fuzz.h"
#include <jansson.h>

#include "reports/json/json.h"
#include "reports/terminal/terminal.h"

#define csv_print fuzz_csv_print
#include "reports/formats/csv.c"

enum { COLUMNS = 31 };

/* Strings of the input, each up to its NUL. */
static void next(const uint8_t **data, size_t *size, char *word, size_t room)
{
    size_t length = strnlen((const char *)*data, *size), used = length < room ? length : room - 1;
    memcpy(word, *data, used);
    word[used] = '\0';
    length += length < *size;
    *data += length;
    *size -= length;
}

/* RFC 4180: the right number of rows and columns. */
static void check_csv(const char *csv, size_t length, int rows)
{
    bool quoted = false;
    int columns = 1, lines = 0;
    for (size_t i = 0; i < length; i++) {
        quoted ^= csv[i] == '"';
        columns += csv[i] == ',' && !quoted;
        if (csv[i] == '\n' && !quoted) {
            FUZZ_CHECK(columns == COLUMNS);
            columns = 1;
            lines++;
        }
    }
    FUZZ_CHECK(!quoted && lines == rows + 1);
}

static void write_csv(const struct result *result)
{
    char *csv = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&csv, &length);
    FUZZ_CHECK(out != NULL);
    fputs(header, out);
    for (int i = 0; i < result->result_count; i++)
        put_config(out, &result->results[i]);
    FUZZ_CHECK(fclose(out) == 0);
    check_csv(csv, length, result->result_count);
    free(csv);
}

static void write_terminal(const struct result *result)
{
    char *shown = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&shown, &length);
    FUZZ_CHECK(out != NULL);
    terminal_header(out, result, false, true);
    for (int i = 0; i < result->result_count; i++)
        terminal_config(out, &result->results[i], false);
    terminal_report(out, result, false, true);
    terminal_report(out, result, false, false);
    FUZZ_CHECK(fclose(out) == 0);
    fuzz_plain(shown, length);
    free(shown);
}

static void write_json(const struct result *result)
{
    char *dump = json_dump(result);
    FUZZ_CHECK(dump != NULL);
    json_t *again = json_loads(dump, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_CHECK(again && json_array_size(json_object_get(again, "results")) == (size_t)result->result_count);
    json_decref(again);
    free(dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config_result configs[3];
    struct finding finding = {.kind = FINDING_CHANNEL};
    struct result result = {.version = "0",
                            .git = "0",
                            .problem = "softmax",
                            .problem_word = "softmax",
                            .effort = "quick",
                            .verdict = VERDICT_CHEATING,
                            .results = configs,
                            .result_count = 3,
                            .finding = &finding,
                            .finding_count = 1};
    memset(configs, 0, sizeof configs);
    next(&data, &size, result.candidate_path, sizeof result.candidate_path);
    next(&data, &size, result.notes, sizeof result.notes);
    next(&data, &size, finding.evidence, sizeof finding.evidence);
    for (int i = 0; i < 3; i++) {
        configs[i] = (struct config_result){.unseen = i > 0, .outcome = OUTCOME_CRASH, .line = "rows=1"};
        next(&data, &size, configs[i].detail, sizeof configs[i].detail);
        next(&data, &size, configs[i].why, sizeof configs[i].why);
    }
    write_csv(&result);
    write_terminal(&result);
    write_json(&result);
    return 0;
}

/* Compares the files of a run with those of the undisturbed one. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lost_internal.h"

static struct {
    int status;
    json_t *json;
    char *csv;
} undisturbed[LOST_CANDIDATES];

static char *read_file(const char *path)
{
    char *text = NULL, buffer[4096];
    size_t size = 0;
    FILE *in = fopen(path, "re"), *out = in ? open_memstream(&text, &size) : NULL;
    for (size_t got; out && (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
        fwrite(buffer, 1, got, out);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    return text;
}

bool lost_keep(enum lost_candidate candidate, const struct lost_run *run)
{
    json_decref(undisturbed[candidate].json);
    free(undisturbed[candidate].csv);
    undisturbed[candidate].status = run->status;
    undisturbed[candidate].json = json_load_file("j.json", JSON_REJECT_DUPLICATES, NULL);
    undisturbed[candidate].csv = read_file("c.csv");
    return undisturbed[candidate].json && undisturbed[candidate].csv;
}

void lost_drop(void)
{
    for (int c = 0; c < LOST_CANDIDATES; c++) {
        json_decref(undisturbed[c].json);
        free(undisturbed[c].csv);
    }
    memset(undisturbed, 0, sizeof undisturbed);
}

/* Compares the decision about every configuration. Times and messages may differ. */
static bool same_results(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"config", "set", "outcome", "worst", "elements", "fits"};
    const json_t *x = json_object_get(a, "results"), *y = json_object_get(b, "results");
    if (json_array_size(x) != json_array_size(y))
        return false;
    for (size_t i = 0; i < json_array_size(x); i++)
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (!json_equal(json_object_get(json_array_get(x, i), keys[k]),
                            json_object_get(json_array_get(y, i), keys[k])))
                return false;
    return json_equal(json_object_get(a, "verdict"), json_object_get(b, "verdict")) &&
           json_equal(json_object_get(a, "commitment"), json_object_get(b, "commitment")) &&
           json_equal(json_object_get(a, "findings"), json_object_get(b, "findings"));
}

/* A timed run's lines have times in them. */
static const char *compare_csv(const struct lost_how *how, const char *csv)
{
    const char *right = undisturbed[how->candidate].csv;
    int lines = 0, expected = 0;
    if (!how->timing)
        return strcmp(csv, right) == 0 ? NULL : "c.csv is another";
    for (; *csv; csv++)
        lines += *csv == '\n';
    for (; *right; right++)
        expected += *right == '\n';
    return lines == expected ? NULL : "c.csv has another number of lines";
}

const char *lost_same(const struct lost_how *how, const struct lost_run *run)
{
    json_t *json = json_load_file("j.json", JSON_REJECT_DUPLICATES, NULL);
    char *csv = read_file("c.csv"), *out = read_file("out.txt");
    const char *verdict = json_string_value(json_object_get(undisturbed[how->candidate].json, "verdict"));
    char line[64];
    snprintf(line, sizeof line, "\n%s: ", verdict ? verdict : "none");
    const char *wrong = run->status != undisturbed[how->candidate].status       ? "the exit status is another"
                        : !json                                                 ? "j.json is not whole"
                        : !same_results(json, undisturbed[how->candidate].json) ? "the verdict is another"
                        : !csv                                                  ? "there is no c.csv"
                        : !out || !strstr(out, line) || out[strlen(out) - 1] != '\n'
                            ? "the report is not whole"
                            : compare_csv(how, csv);
    json_decref(json);
    free(csv);
    free(out);
    return wrong;
}

static const char *whole_json(const struct lost_how *how)
{
    char *text = read_file("j.json");
    if (!text)
        return NULL;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    const bool partial =
        json_is_true(json_object_get(json, "partial")) && verdict && strcmp(verdict, "inconclusive") == 0;
    const char *wrong = !json ? "j.json is half"
                        : partial || same_results(json, undisturbed[how->candidate].json)
                            ? NULL
                            : "j.json has another verdict";
    json_decref(json);
    free(text);
    return wrong;
}

/* Its lines are lines of the undisturbed one. */
static const char *whole_csv(const struct lost_how *how)
{
    const char *wrong = NULL;
    char *text = how->timing ? NULL : read_file("c.csv"), *rest = NULL;
    if (text && *text && text[strlen(text) - 1] != '\n')
        wrong = "c.csv ends within a line";
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !wrong;
         line = strtok_r(NULL, "\n", &rest))
        if (!strstr(undisturbed[how->candidate].csv, line))
            wrong = "c.csv has another line";
    free(text);
    return wrong;
}

const char *lost_whole(const struct lost_how *how)
{
    const char *wrong = whole_json(how);
    return wrong ? wrong : whole_csv(how);
}

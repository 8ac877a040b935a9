#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "reports/record/atomic.h"
#include "json_fields.h"
#include "json_values.h"

char *json_dump(const struct result *result)
{
    json_t *const json = json_of_record(&result_record, result);
    char *const dump = json != NULL ? json_dumps(json, JSON_INDENT(1)) : NULL;

    json_decref(json);
    return dump;
}

/* Writes the text and frees it. */
static int write_dump(const char *path, char *dump, char *error, size_t error_size)
{
    size_t length;
    int status;

    if (dump == NULL) {
        snprintf(error, error_size,
                 "%s: cannot write the report: out of memory\n"
                 "---> draw fewer configurations (--unseen N)",
                 path);
        return -1;
    }
    length = strlen(dump);
    dump[length] = '\n'; /* over the terminator: the text is written by its length */
    status = atomic_write(path, dump, length + 1, error, error_size);
    free(dump);
    return status;
}

int json_write(const char *path, const struct result *result, char *error, size_t error_size)
{
    return write_dump(path, json_dump(result), error, error_size);
}

/* ---- One configuration ---- */

/* `check` writes the configuration's result, `shrink` the simplest failing one. */
static json_t *one_json(const struct result *run)
{
    if (!run->diagnosis.present)
        return json_pack("{s:o}", "result", json_of_record(&config_record, &run->results[0]));
    return json_of_record(&shrunk_record, run);
}

int json_write_one(const char *path, const struct result *run, bool passes, char *error, size_t error_size)
{
    json_t *json =
        json_pack("{s:i, s:s, s:o, s:o, s:o, s:{s:o, s:o}, s:s, s:b}", "schema", SCHEMA_NUMBER, "command",
                  run->diagnosis.present ? "shrink" : "check", "tool", json_of_record(&tool_record, run),
                  "problem", json_of_text(run->problem), "candidate", json_of_record(&candidate_record, run),
                  "device", "name", json_of_text(run->device), "driver", json_of_text(run->driver),
                  "tolerance", run->published_tolerance ? "published" : "exact", "passes", passes);
    char *dump = json_object_update_new(json, json_of_record(&findings_record, run)) == 0 &&
                         json_object_update_new(json, one_json(run)) == 0
                     ? json_dumps(json, JSON_INDENT(1))
                     : NULL;

    json_decref(json);
    return write_dump(path, dump, error, error_size);
}

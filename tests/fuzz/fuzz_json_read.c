/* Stored results: a result that was read is written again and must be readable. */
#include <string.h>

#include "fuzz.h"
#include "reports/json/json.h"
#include "reports/json/json_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[4096] = "";
    struct stored_result stored, again;
    if (json_read(fuzz_file(data, size), &stored, error, sizeof error) != JSON_READ_OK) {
        fuzz_error(error);
        return 0;
    }
    char *const text = json_dump(&stored.result);
    FUZZ_CHECK(text != NULL);
    const enum json_read_status status =
        json_read(fuzz_file((const uint8_t *)text, strlen(text)), &again, error, sizeof error);
    if (status != JSON_READ_OK)
        fprintf(stderr, "%s\n", error);
    FUZZ_CHECK(status == JSON_READ_OK);
    FUZZ_CHECK(again.result.verdict == stored.result.verdict &&
               again.result.result_count == stored.result.result_count &&
               again.result.finding_count == stored.result.finding_count);
    json_read_free(&again);
    json_read_free(&stored);
    free(text);
    return 0;
}

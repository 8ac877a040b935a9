/* Stored results: a result that was read is written again and must be readable. */
#include <string.h>

#include "fuzz.h"
#include "reports/json.h"
#include "reports/stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[4096] = "";
    struct stored stored, again;
    if (stored_read(fuzz_file(data, size), &stored, error, sizeof error) != STORED_OK) {
        fuzz_error(error);
        return 0;
    }
    char *const text = json_dump(&stored.result);
    FUZZ_CHECK(text != NULL);
    const enum stored_status status =
        stored_read(fuzz_file((const uint8_t *)text, strlen(text)), &again, error, sizeof error);
    if (status != STORED_OK)
        fprintf(stderr, "%s\n", error);
    FUZZ_CHECK(status == STORED_OK);
    FUZZ_CHECK(again.result.verdict == stored.result.verdict &&
               again.result.result_count == stored.result.result_count &&
               again.result.finding_count == stored.result.finding_count);
    stored_free(&again);
    stored_free(&stored);
    free(text);
    return 0;
}

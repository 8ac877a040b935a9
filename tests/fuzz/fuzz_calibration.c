/* A stored calibration of a device. The first byte decides whether it is compared with the device of the
 * examples. */
#include <string.h>

#include "fuzz.h"
#include "verify/device/calibration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char hash[CALIBRATION_HASH] = "", why[4096] = "";
    struct calibration read;
    struct device device = {.backend = BACKEND_HOST, .processors = 2};
    if (size == 0)
        return 0;
    strcpy(device.uuid, "host");
    strcpy(device.driver, "d");
    snprintf(device.name, sizeof device.name, "%s", data[0] & 1 ? "a host" : "another");
    const enum calibration_fit fit =
        calibration_read(fuzz_file(data + 1, size - 1), &device, &read, hash, why, sizeof why);
    FUZZ_CHECK(fit != CALIBRATION_MISSING);
    FUZZ_CHECK(fit == CALIBRATION_FITS
                   ? strlen(hash) == CALIBRATION_HASH - 1 && read.figures.value[FIGURE_COPY] > 0
                   : *why != '\0');
    return 0;
}

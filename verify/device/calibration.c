#include "calibration.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "reports/record/atomic.h"
#include "verify/util/home_folder.h"
#include "verify/util/version.h"
#include "gen/random/hex.h"

enum { SCHEMA = 1, MOST_BYTES = 1 << 20 };
static const char kind[] = "unseen calibration";

void calibration_now(char date[CALIBRATION_DATE])
{
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, CALIBRATION_DATE, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void calibration_describe(const struct device *device, struct calibration *out)
{
    *out = (struct calibration){.processors = device->processors,
                                .protocol = PEAKS_PROTOCOL,
                                .clock_mhz = device->clock_mhz,
                                .memory_clock_mhz = device->memory_clock_mhz};
    memcpy(out->uuid, device->uuid, sizeof out->uuid);
    memcpy(out->name, device->name, sizeof out->name);
    memcpy(out->driver, device->driver, sizeof out->driver);
    snprintf(out->version, sizeof out->version, "%s", UNSEEN_VERSION);
    snprintf(out->git, sizeof out->git, "%.40s", unseen_git);
    calibration_now(out->date);
}

/* --- location of the file --- */

static void hash_of(const char *data, size_t size, char hex[CALIBRATION_HASH])
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&hash);
    sha256_update(&hash, size, (const uint8_t *)data);
    sha256_digest(&hash, sizeof digest, digest);
    hex_text(digest, sizeof digest, hex);
}

/* The id distinguishes machines that share a home folder. */
static void name_machine(char *text, size_t size)
{
    FILE *file = fopen("/etc/machine-id", "re");
    *text = '\0';
    if (file && !fgets(text, (int)size, file))
        *text = '\0';
    if (file)
        fclose(file);
    if (*text == '\0' && gethostname(text, size) != 0)
        *text = '\0';
    text[size - 1] = '\0';
}

bool calibration_path(const struct device *device, char *path, size_t size, char *why, size_t why_size)
{
    char directory[900], machine[128], text[512], hash[CALIBRATION_HASH];
    if (!cache_folder(directory, sizeof directory, why, why_size))
        return false;
    name_machine(machine, sizeof machine);
    snprintf(text, sizeof text, "%s %s %d", machine, device->name, device->processors);
    hash_of(text, strlen(text), hash);
    snprintf(path, size, "%s/peaks-%s-%.8s.json", directory, device->uuid, hash);
    return true;
}

/* --- writing --- */

static json_t *known_or_null(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *figures_json(const struct figures *figures)
{
    json_t *const all = json_object();
    for (int f = 0; f < FIGURE_COUNT; f++)
        if (figures->value[f] > 0)
            json_object_set_new(
                all, figure_name((enum figure)f),
                json_pack("{s:f, s:f}", "value", figures->value[f], "spread", figures->spread[f]));
    return all;
}

int calibration_write(const char *path, bool named, const struct calibration *c, char hash[CALIBRATION_HASH],
                      char *why, size_t why_size)
{
    json_t *const json =
        json_pack("{s:s, s:i, s:i, s:{s:s, s:s}, s:s, s:o, s:{s:s, s:s, s:s, s:i, s:o, s:o}, s:o}", "kind",
                  kind, "schema", SCHEMA, "protocol", c->protocol, "tool", "version", c->version, "git",
                  c->git, "date", c->date, "raised", *c->raised ? json_string(c->raised) : json_null(),
                  "device", "uuid", c->uuid, "name", c->name, "driver", c->driver, "processors",
                  c->processors, "clock_mhz", known_or_null(c->clock_mhz), "memory_clock_mhz",
                  known_or_null(c->memory_clock_mhz), "figures", figures_json(&c->figures));
    char *const text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    int status = -1;
    json_decref(json);
    if (!text)
        snprintf(why, why_size, "out of memory");
    else
        status =
            (named ? atomic_update : atomic_replace)(path, "calibration", text, strlen(text), why, why_size);
    if (status == 0)
        hash_of(text, strlen(text), hash);
    free(text);
    return status;
}

/* --- reading --- */

/* Reads a regular file and appends a NUL; NULL with errno. */
static char *read_all(const char *path, size_t *size)
{
    struct stat status;
    char *text = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > MOST_BYTES)
        errno = EINVAL;
    else if ((text = calloc(1, (size_t)status.st_size + 1)) != NULL) {
        ssize_t got = 1;
        for (*size = 0; *size < (size_t)status.st_size && got > 0; *size += got > 0 ? (size_t)got : 0)
            got = read(fd, text + *size, (size_t)status.st_size - *size);
    }
    const int error = errno;
    close(fd);
    errno = error;
    return text;
}

static void copy_text(const json_t *object, const char *key, char *out, size_t size)
{
    const char *const text = json_string_value(json_object_get(object, key));
    snprintf(out, size, "%s", text ? text : "");
}

/* Treats a figure that is no positive number as unknown. False: a present figure is invalid. */
static bool read_figures(const json_t *json, struct figures *out)
{
    for (int f = 0; f < FIGURE_COUNT; f++) {
        const json_t *const one = json_object_get(json, figure_name((enum figure)f));
        const double value = json_number_value(json_object_get(one, "value"));
        if (one && !(value > 0 && isfinite(value)))
            return false;
        out->value[f] = one ? value : 0;
        out->spread[f] = json_number_value(json_object_get(one, "spread"));
    }
    return out->value[FIGURE_COPY] > 0 && out->value[FIGURE_LAUNCH] > 0;
}

static bool read_json(const json_t *json, struct calibration *out)
{
    const char *const what = json_string_value(json_object_get(json, "kind"));
    const json_t *const device = json_object_get(json, "device"), *const tool = json_object_get(json, "tool");
    memset(out, 0, sizeof *out);
    if (!what || strcmp(what, kind) != 0 || json_integer_value(json_object_get(json, "schema")) != SCHEMA)
        return false;
    copy_text(device, "uuid", out->uuid, sizeof out->uuid);
    copy_text(device, "name", out->name, sizeof out->name);
    copy_text(device, "driver", out->driver, sizeof out->driver);
    copy_text(json, "date", out->date, sizeof out->date);
    copy_text(json, "raised", out->raised, sizeof out->raised);
    copy_text(tool, "version", out->version, sizeof out->version);
    copy_text(tool, "git", out->git, sizeof out->git);
    out->processors = (int)json_integer_value(json_object_get(device, "processors"));
    out->protocol = (int)json_integer_value(json_object_get(json, "protocol"));
    out->clock_mhz = json_number_value(json_object_get(device, "clock_mhz"));
    out->memory_clock_mhz = json_number_value(json_object_get(device, "memory_clock_mhz"));
    return *out->date != '\0' && read_figures(json_object_get(json, "figures"), &out->figures);
}

static enum calibration_fit fit(const struct calibration *c, const struct device *device, char *why,
                                size_t why_size)
{
    if (strcmp(c->uuid, device->uuid) != 0 || strcmp(c->name, device->name) != 0 ||
        c->processors != device->processors) {
        snprintf(why, why_size, "it is of another device (%.100s, %d processors; expected %.100s, %d)",
                 c->name, c->processors, device->name, device->processors);
        return CALIBRATION_FOREIGN;
    }
    if (c->protocol > PEAKS_PROTOCOL) {
        snprintf(why, why_size, "a later version of the tool measured it (protocol %d; expected %d)",
                 c->protocol, PEAKS_PROTOCOL);
        return CALIBRATION_FOREIGN;
    }
    if (c->protocol < PEAKS_PROTOCOL || strcmp(c->driver, device->driver) != 0) {
        snprintf(why, why_size, "it was measured with driver %.60s, protocol %d; now %.60s, %d", c->driver,
                 c->protocol, device->driver, PEAKS_PROTOCOL);
        return CALIBRATION_STALE;
    }
    return CALIBRATION_FITS;
}

enum calibration_fit calibration_read(const char *path, const struct device *device, struct calibration *out,
                                      char hash[CALIBRATION_HASH], char *why, size_t why_size)
{
    size_t size = 0;
    *why = *hash = '\0';
    char *const text = read_all(path, &size);
    if (!text && errno == ENOENT)
        return CALIBRATION_MISSING;
    if (!text) {
        snprintf(why, why_size, "it cannot be read (%s)", strerror(errno));
        return CALIBRATION_FOREIGN;
    }
    json_error_t where;
    json_t *const json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    const bool read = read_json(json, out);
    json_decref(json);
    hash_of(text, size, hash);
    free(text);
    if (read)
        return fit(out, device, why, why_size);
    snprintf(why, why_size, "it is no calibration (expected what unseen calibrate writes)");
    return CALIBRATION_FOREIGN;
}

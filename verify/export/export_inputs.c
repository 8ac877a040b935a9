/* Inputs as files of NumPy (format 1.0): filled as for the host, which holds the same bits as on a GPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export_internal.h"
#include "gen/contract/instantiate.h"
#include "gen/inputs/fill.h"

enum { PATH_SIZE = 4600, HEADER_ALIGN = 64, HEADER_LEAD = 10 };

const char *export_stored(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F32: return "<f4";
    case DTYPE_F64: return "<f8";
    case DTYPE_F16: return "<f2";
    case DTYPE_BF16: return "<u2";
    case DTYPE_I32: return "<i4";
    case DTYPE_I64: return "<i8";
    case DTYPE_I8: return "|i1";
    case DTYPE_BOOL: return "|b1";
    default: return "|u1"; /* bytes, and formats of 8 bits */
    }
}

/* --- one file --- */

static void write_header(FILE *out, enum dtype dtype, const struct instance_tensor *made)
{
    char text[512];
    int used = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        export_stored(dtype));
    for (int d = 0; d < made->rank; d++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%lld, ", (long long)made->dim[d]);
    used += snprintf(text + used, sizeof text - (size_t)used, "), }");
    while ((HEADER_LEAD + used + 1) % HEADER_ALIGN != 0)
        text[used++] = ' ';
    text[used++] = '\n';
    const unsigned char lead[HEADER_LEAD] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(used & 255), (unsigned char)(used >> 8)};
    fwrite(lead, 1, sizeof lead, out);
    fwrite(text, 1, (size_t)used, out);
}

/* Rows one after the other: what lies between them in a kernel's memory is no input. */
static int write_tensor(const char *path, const struct config *config, const struct instance *instance, int t)
{
    const struct tensor *const tensor = &config->problem->tensors[t];
    const struct instance_tensor *const made = &instance->tensor[t];
    const size_t size = dtype_size(tensor->dtype), width = (size_t)instance_tensor_width(made),
                 pitch = (size_t)instance_tensor_pitch(made), count = (size_t)instance_tensor_count(made);
    char *const values = calloc((size_t)instance_tensor_span(made) + 1, size);
    FILE *const out = values ? fopen(path, "wxe") : NULL;
    if (!out) {
        free(values);
        return -1;
    }
    fill_host(config->problem, instance, t, config->seed, 0, values);
    write_header(out, tensor->dtype, made);
    for (size_t row = 0; width > 0 && row < count / width; row++)
        fwrite(values + row * pitch * size, size, width, out);
    free(values);
    const bool failed = fflush(out) != 0 || ferror(out);
    const int reason = errno;
    if (fclose(out) == 0 && !failed)
        return 0;
    errno = failed ? reason : errno;
    return -1;
}

/* --- all of them --- */

static double bytes_of(const struct export_set *set)
{
    const struct tensor *const tensors = set->task->problem->tensors;
    const struct drawn *drawn;
    const char *name;
    int place;
    double bytes = 0;
    for (int i = 0; (drawn = export_at(set, i, &name, &place)) != NULL; i++) {
        struct instance instance;
        if (config_measure(&drawn->config, &instance) != 0)
            return -1;
        for (int t = 0; tensors[t].name; t++)
            if (tensors[t].role != TENSOR_OUTPUT)
                bytes +=
                    (double)instance_tensor_count(&instance.tensor[t]) * (double)dtype_size(tensors[t].dtype);
        instance_clear(&instance);
    }
    return bytes;
}

/* Leaves the path that failed in `path`. */
static int write_config(const struct export_set *set, int i, char path[PATH_SIZE])
{
    const struct tensor *const tensors = set->task->problem->tensors;
    struct instance instance;
    const char *name;
    char file[160];
    int place, status = 0;
    const struct drawn *const drawn = export_at(set, i, &name, &place);
    snprintf(path, PATH_SIZE, "%.4000s/%s-%d", set->inputs, name, place);
    if (mkdir(path, 0755) != 0)
        return -1;
    if (config_instantiate(&drawn->config, 0, &instance) != 0) {
        errno = ENOMEM;
        return -1;
    }
    for (int t = 0; tensors[t].name && status == 0; t++) {
        if (tensors[t].role == TENSOR_OUTPUT)
            continue;
        export_file(file, sizeof file, name, place, tensors[t].name);
        snprintf(path, PATH_SIZE, "%.4000s/%s", set->inputs, file);
        status = write_tensor(path, &drawn->config, &instance, t);
    }
    const int reason = errno;
    instance_clear(&instance);
    errno = reason;
    return status;
}

static void remove_all(const struct export_set *set, int configs)
{
    const struct tensor *const tensors = set->task->problem->tensors;
    const char *name;
    char path[PATH_SIZE], file[160];
    int place;
    for (int i = 0; i < configs; i++) {
        export_at(set, i, &name, &place);
        for (int t = 0; tensors[t].name; t++) {
            export_file(file, sizeof file, name, place, tensors[t].name);
            snprintf(path, sizeof path, "%.4000s/%s", set->inputs, file);
            unlink(path);
        }
        snprintf(path, sizeof path, "%.4000s/%s-%d", set->inputs, name, place);
        rmdir(path);
    }
    rmdir(set->inputs);
}

static int refuse(double bytes, double most, bool *is_usage, char *text, size_t size)
{
    *is_usage = bytes >= 0;
    if (bytes < 0)
        snprintf(text, size, "out of memory");
    else
        snprintf(
            text, size,
            "--inputs: the inputs of these configurations are %.4g MiB; at most %.4g MiB were expected\n"
            "---> draw fewer (--unseen N), narrow the contract (--space FILE), or allow more: --size %.0fM",
            bytes / 0x1p20, most / 0x1p20, bytes / 0x1p20 + 1);
    return -1;
}

int export_inputs(const struct export_set *set, double most, bool *is_usage, char *text, size_t size)
{
    char path[PATH_SIZE];
    const char *name;
    int place;
    const double bytes = bytes_of(set);
    if (bytes < 0 || bytes > most)
        return refuse(bytes, most, is_usage, text, size);
    if (mkdir(set->inputs, 0755) != 0) {
        *is_usage = errno == EEXIST || errno == ENOENT || errno == ENOTDIR;
        snprintf(text, size, "--inputs %.300s: cannot be made (%s); a new folder was expected\n---> %s",
                 set->inputs, strerror(errno),
                 errno == EEXIST ? "remove it, or choose another place" : "correct the path");
        return -1;
    }
    for (int i = 0; export_at(set, i, &name, &place); i++)
        if (write_config(set, i, path) != 0) {
            *is_usage = false;
            snprintf(text, size,
                     "%.300s: cannot be written (%s), and nothing is left of --inputs\n"
                     "---> free some room, or choose another place",
                     path, strerror(errno));
            remove_all(set, i + 1);
            return -1;
        }
    return 0;
}

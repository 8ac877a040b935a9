/* Writes inputs to files. They are filled as for the host, with the same bits as on a GPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export_internal.h"
#include "gen/contract/instantiate.h"
#include "gen/inputs/fill.h"

enum { PATH_SIZE = 4600 };

/* --- one file --- */

/* Writes consecutive rows, without the padding between them in memory. Returns 0 or an errno. */
static int put_values(FILE *out, const struct tensor_file *file, int t)
{
    const struct instance_tensor *const made = &file->instance->tensor[t];
    const enum dtype dtype = file->config->problem->tensors[t].dtype;
    const int64_t width = instance_tensor_width(made), count = instance_tensor_count(made);
    const int64_t pitch = dtype_bytes(dtype, instance_tensor_pitch(made));
    char *const values = calloc((size_t)dtype_bytes(dtype, instance_tensor_span(made)) + 1, 1);
    if (!values)
        return ENOMEM;
    fill_host(file->config->problem, file->instance, t, file->config->seed, 0, values);
    for (int64_t row = 0; width > 0 && row < count / width; row++)
        fwrite(values + row * pitch, 1, (size_t)dtype_bytes(dtype, width), out);
    free(values);
    return 0;
}

/* Returns 0 or an errno. */
static int write_file(const char *path, const struct tensor_file_format *as, const struct tensor_file *file)
{
    FILE *const out = fopen(path, "wxe");
    if (!out)
        return errno;
    int failed = as->begin(out, file) == 0 ? 0 : ENOMEM;
    for (int i = 0; i < file->count && failed == 0; i++) {
        errno = 0;
        failed = put_values(out, file, file->tensor[i]);
        if (failed == 0 && (fflush(out) != 0 || ferror(out)))
            failed = errno ? errno : EIO;
    }
    if (fclose(out) != 0 && failed == 0)
        failed = errno;
    return failed;
}

/* --- all files --- */

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
                bytes += (double)dtype_bytes(tensors[t].dtype, instance_tensor_count(&instance.tensor[t]));
        instance_clear(&instance);
    }
    return bytes;
}

static void folder_of(char path[PATH_SIZE], const struct export_set *set, const char *name, int place)
{
    snprintf(path, PATH_SIZE, "%.4000s/%s-%d", set->inputs, name, place);
}

static void path_of(char path[PATH_SIZE], const struct export_set *set, const char *name, int place, int t)
{
    char file[160];
    export_file(file, sizeof file, set->as, name, place, set->task->problem->tensors[t].name);
    snprintf(path, PATH_SIZE, "%.4000s/%s", set->inputs, file);
}

/* Lists the inputs, widest dtypes first, each width in the problem's order. */
static void list_inputs(struct tensor_file *file)
{
    const struct tensor *const tensors = file->config->problem->tensors;
    file->count = 0;
    for (int bits = 64; bits > 0; bits /= 2)
        for (int t = 0; tensors[t].name; t++)
            if (tensors[t].role != TENSOR_OUTPUT && dtype_row(tensors[t].dtype)->bits == bits)
                file->tensor[file->count++] = t;
}

/* Writes the listed tensors to one file, or to one file each. Returns 0 or an errno; `path` names the file
 * that failed. */
static int write_listed(const struct export_set *set, const struct tensor_file *file, int place,
                        char path[PATH_SIZE])
{
    if (set->as->together) {
        path_of(path, set, file->set, place, 0);
        return write_file(path, set->as, file);
    }
    folder_of(path, set, file->set, place);
    int failed = mkdir(path, 0755) == 0 ? 0 : errno;
    for (int i = 0; i < file->count && failed == 0; i++) {
        struct tensor_file one = *file;
        one.tensor[0] = file->tensor[i];
        one.count = 1;
        path_of(path, set, file->set, place, one.tensor[0]);
        failed = write_file(path, set->as, &one);
    }
    return failed;
}

static int write_config(const struct export_set *set, int i, char path[PATH_SIZE])
{
    struct instance instance;
    const char *name;
    int place;
    const struct drawn *const drawn = export_at(set, i, &name, &place);
    struct tensor_file file = {
        .config = &drawn->config, .instance = &instance, .set = name, .why = drawn->why};
    folder_of(path, set, name, place);
    if (config_instantiate(&drawn->config, 0, &instance) != 0)
        return ENOMEM;
    list_inputs(&file);
    const int failed = write_listed(set, &file, place, path);
    instance_clear(&instance);
    return failed;
}

static void remove_all(const struct export_set *set, int configs)
{
    const struct tensor *const tensors = set->task->problem->tensors;
    const char *name;
    char path[PATH_SIZE];
    int place;
    for (int i = 0; i < configs; i++) {
        export_at(set, i, &name, &place);
        for (int t = 0; tensors[t].name; t++) {
            path_of(path, set, name, place, t);
            unlink(path);
        }
        folder_of(path, set, name, place);
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
        snprintf(text, size,
                 "--inputs: the inputs of these configurations are %.4g MiB; at most %.4g MiB were expected\n"
                 "---> draw fewer (--unseen N), narrow the contract (--contract FILE), or allow more: --size "
                 "%.0fM",
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
                 errno == EEXIST                       ? "remove it, or choose another place"
                 : errno == ENOENT || errno == ENOTDIR ? "correct the path"
                                                       : "choose a place that can be written to");
        return -1;
    }
    for (int i = 0; export_at(set, i, &name, &place); i++) {
        const int failed = write_config(set, i, path);
        if (failed != 0) {
            *is_usage = false;
            snprintf(text, size,
                     "%.300s: cannot be written (%s), and nothing is left of --inputs\n"
                     "---> free some room, or choose another place",
                     path, strerror(failed));
            remove_all(set, i + 1);
            return -1;
        }
    }
    return 0;
}

#include "tensor_file.h"

#include <endian.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "gen/contract/space.h"
#include "verify/util/version.h"

enum { LINE = 1024 };

/* --- NumPy --- */

enum { NPY_ALIGN = 64, NPY_LEAD = 10 };

static const char *npy_type(enum dtype dtype)
{
    return dtype_row(dtype)->in_numpy;
}

static int npy_begin(FILE *out, const struct tensor_file *file)
{
    const struct instance_tensor *const made = &file->instance->tensor[file->tensor[0]];
    const enum dtype dtype = file->config->problem->tensors[file->tensor[0]].dtype;
    char text[512];
    int used =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", npy_type(dtype));
    for (int d = 0; d < made->rank; d++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%lld, ",
                         (long long)(made->dim[d] / (d + 1 < made->rank ? 1 : dtype_packed(dtype))));
    used += snprintf(text + used, sizeof text - (size_t)used, "), }");
    while ((NPY_LEAD + used + 1) % NPY_ALIGN != 0)
        text[used++] = ' ';
    text[used++] = '\n';
    const unsigned char lead[NPY_LEAD] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(used & 255), (unsigned char)(used >> 8)};
    fwrite(lead, 1, sizeof lead, out);
    fwrite(text, 1, (size_t)used, out);
    return 0;
}

const struct tensor_file_format stored_npy = {"npy", false, npy_type, npy_begin};

/* --- safetensors --- */

enum { SAFE_ALIGN = 8 };

static const char *safe_type(enum dtype dtype)
{
    return dtype_row(dtype)->in_safetensors;
}

/* Strings only, as the format requires. */
static json_t *safe_metadata(const struct tensor_file *file)
{
    char line[LINE];
    config_format(file->config, line, sizeof line);
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "tool", "unseen " UNSEEN_VERSION, "problem",
                     file->config->problem->name, "set", file->set, "line", line, "why", file->why);
}

static json_t *safe_tensor(const struct tensor_file *file, int t, int64_t *offset)
{
    const struct instance_tensor *const made = &file->instance->tensor[t];
    const enum dtype dtype = file->config->problem->tensors[t].dtype;
    const int64_t begin = *offset;
    json_t *const shape = json_array();
    for (int d = 0; d < made->rank; d++)
        json_array_append_new(shape, json_integer(made->dim[d]));
    *offset += dtype_bytes(dtype, instance_tensor_count(made));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", safe_type(dtype), "shape", shape, "data_offsets",
                     (json_int_t)begin, (json_int_t)*offset);
}

static int safe_begin(FILE *out, const struct tensor_file *file)
{
    json_t *const header = json_pack("{s:o}", "__metadata__", safe_metadata(file));
    int64_t offset = 0;
    int failed = header ? 0 : -1;
    for (int i = 0; i < file->count && failed == 0; i++) /* the order of keys is kept */
        failed = json_object_set_new(header, file->config->problem->tensors[file->tensor[i]].name,
                                     safe_tensor(file, file->tensor[i], &offset));
    char *const text = failed == 0 ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (!text)
        return -1;
    const size_t length = strlen(text), padded = (length + SAFE_ALIGN - 1) / SAFE_ALIGN * SAFE_ALIGN;
    const uint64_t count = htole64(padded);
    fwrite(&count, sizeof count, 1, out);
    fprintf(out, "%-*s", (int)padded, text);
    free(text);
    return 0;
}

const struct tensor_file_format stored_safetensors = {"safetensors", true, safe_type, safe_begin};

/* --- both formats --- */

const struct tensor_file_format *tensor_file_find(const char *name, char *names, size_t size)
{
    static const struct tensor_file_format *const all[] = {&stored_npy, &stored_safetensors};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!name || strcmp(name, all[i]->name) == 0)
            return all[i];
    snprintf(names, size, "%s, %s", stored_npy.name, stored_safetensors.name);
    return NULL;
}

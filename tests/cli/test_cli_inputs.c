/* unseen export --inputs: files of inputs, read back by a reader of our own. */
#include "cli.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/export/tensor_file.h"

/* --- a reader of safetensors --- */

struct safe {
    char *bytes; /* the whole file */
    size_t size;
    json_t *header;
    const char *data; /* behind the header */
    size_t data_size;
};

static char *read_all(const char *path, size_t *size)
{
    char *bytes = NULL;
    FILE *const in = fopen(path, "re"), *const out = open_memstream(&bytes, size);
    ck_assert_msg(in != NULL, "no file %s", path);
    for (int c; (c = fgetc(in)) != EOF;)
        fputc(c, out);
    fclose(in);
    fclose(out);
    return bytes;
}

static void safe_take(struct safe *safe)
{
    uint64_t count;
    json_error_t error;
    ck_assert_uint_gt(safe->size, sizeof count);
    memcpy(&count, safe->bytes, sizeof count);
    count = le64toh(count);
    ck_assert_msg(count <= safe->size - sizeof count, "a header of %" PRIu64 " bytes in %zu", count,
                  safe->size);
    ck_assert_uint_eq((sizeof count + count) % 8, 0);
    ck_assert_int_eq(safe->bytes[sizeof count], '{');
    safe->header = json_loadb(safe->bytes + sizeof count, count, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(safe->header != NULL, "%s", error.text);
    safe->data = safe->bytes + sizeof count + count;
    safe->data_size = safe->size - sizeof count - count;
}

static void safe_give_back(struct safe *safe)
{
    json_decref(safe->header);
    free(safe->bytes);
}

static size_t size_of_type(const char *type)
{
    static const struct {
        const char *name;
        size_t size;
    } all[] = {{"F64", 8}, {"I64", 8}, {"F32", 4},     {"I32", 4},     {"F16", 2}, {"BF16", 2},
               {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(type, all[i].name) == 0)
            return all[i].size;
    ck_abort_msg("%s is no type of safetensors", type);
    return 0;
}

static size_t offset_of(const json_t *tensor, size_t which)
{
    return (size_t)json_integer_value(json_array_get(json_object_get(tensor, "data_offsets"), which));
}

/* The requirements of every reader on a header. Shape, type and place agree. A tensor begins at a multiple of
 * its type's size, where the one before ended. The last one ends with the file. */
static void safe_expect_whole(const struct safe *safe)
{
    const char *name;
    json_t *tensor, *dim;
    size_t end = 0, i;
    json_object_foreach(safe->header, name, tensor)
    {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        const size_t size = size_of_type(json_string_value(json_object_get(tensor, "dtype")));
        size_t bytes = size;
        json_array_foreach(json_object_get(tensor, "shape"), i, dim) bytes *= (size_t)json_integer_value(dim);
        ck_assert_uint_eq(json_object_size(tensor), 3);
        ck_assert_msg(offset_of(tensor, 0) == end, "%s begins at %zu and not at %zu", name,
                      offset_of(tensor, 0), end);
        ck_assert_uint_eq(end % size, 0);
        ck_assert_uint_eq(offset_of(tensor, 1) - end, bytes);
        end += bytes;
    }
    ck_assert_uint_eq(end, safe->data_size);
}

/* --- what is written --- */

/* For the set in given.seen. */
static json_t *export_as(const char *problem, const char *as, const char *folder)
{
    CLI("export", problem, "--device", "host", "--seed", "3", "--seen", "given.seen", "--seen-only",
        "--format", "json", "--inputs", folder, "--inputs-as", as);
    cli_expect(0, "\"inputs_as\": \"");
    json_t *json = json_loads(cli.out, 0, NULL);
    ck_assert_ptr_nonnull(json);
    ck_assert_str_eq(json_string_value(json_object_get(json, "inputs_as")), as);
    return json;
}

static const json_t *tensors_at(const json_t *json, size_t i)
{
    return json_object_get(json_array_get(json_object_get(json, "configurations"), i), "tensors");
}

/* Behind a NumPy file's header. */
static const char *npy_values(const char *bytes)
{
    return bytes + 10 + (unsigned char)bytes[8] + 256 * (unsigned char)bytes[9];
}

/* The gaps between rows in a kernel's memory are zero here, and no value of the class `normal` is. */
static void expect_no_gaps(const char *name, const char *values, size_t bytes)
{
    for (size_t i = 0; strcmp(name, "logits") == 0 && i + 1 < bytes; i += 2)
        ck_assert_msg(values[i] || values[i + 1], "a gap at byte %zu", i);
}

static void expect_alike(const struct safe *safe, const json_t *tensor, const json_t *other)
{
    const char *const name = json_string_value(json_object_get(tensor, "name"));
    const json_t *const found = json_object_get(safe->header, name);
    char path[400];
    size_t size;
    ck_assert_msg(found != NULL, "no %s", name);
    ck_assert_str_eq(json_string_value(json_object_get(found, "dtype")),
                     json_string_value(json_object_get(tensor, "stored")));
    ck_assert(json_equal(json_object_get(found, "shape"), json_object_get(tensor, "shape")));
    snprintf(path, sizeof path, "npy/%s", json_string_value(json_object_get(other, "file")));
    char *const bytes = read_all(path, &size);
    const size_t values = size - (size_t)(npy_values(bytes) - bytes);
    ck_assert_uint_eq(offset_of(found, 1) - offset_of(found, 0), values);
    ck_assert_msg(memcmp(safe->data + offset_of(found, 0), npy_values(bytes), values) == 0, "%s differs",
                  name);
    expect_no_gaps(name, npy_values(bytes), values);
    free(bytes);
}

/* Types of 1, 2, 4 and 8 bytes beside each other, in odd counts. In the problem's order, or the narrowest
 * first, some would be misaligned. Rows have gaps between them, and some inputs are outputs, too. */
static const struct {
    const char *problem, *seen;
} mixed[] = {
    {"gemm_fp8", "m=3 n=5 k=7\nm=1 n=1 k=1\n"},
    {"cross_entropy", "rows=3 vocab=5 pad=3\nrows=1 vocab=7 pad=0\n"},
    {"rope_cache", "tokens=3 heads=3 kv_heads=3 head_dim=80 page_size=1 pages=5 max_position=9 rotated=all "
                   "style=pairs slots=shuffled\n"},
};

START_TEST(safetensors_hold_the_bits_that_files_of_numpy_hold)
{
    const char *const problem = mixed[_i].problem;
    cli_put("given.seen", mixed[_i].seen);
    json_t *const safe_set = export_as(problem, "safetensors", "safe"), *const npy_set =
                                                                            export_as(problem, "npy", "npy");
    const size_t configs = json_array_size(json_object_get(safe_set, "configurations"));
    ck_assert_uint_gt(configs, 0);
    for (size_t i = 0; i < configs; i++) {
        struct safe safe;
        char path[400];
        size_t inputs = 0, t;
        json_t *tensor;
        snprintf(path, sizeof path, "safe/seen-%zu.safetensors", i + 1);
        safe.bytes = read_all(path, &safe.size);
        safe_take(&safe);
        safe_expect_whole(&safe);
        json_array_foreach(tensors_at(safe_set, i), t, tensor)
        {
            const char *const file = json_string_value(json_object_get(tensor, "file"));
            if (!file)
                continue;
            ck_assert_str_eq(file, path + strlen("safe/"));
            expect_alike(&safe, tensor, json_array_get(tensors_at(npy_set, i), t));
            inputs++;
        }
        ck_assert_uint_eq(json_object_size(safe.header), inputs + 1);
        const json_t *const told = json_object_get(safe.header, "__metadata__");
        ck_assert_str_eq(json_string_value(json_object_get(told, "problem")), problem);
        ck_assert_str_eq(json_string_value(json_object_get(told, "set")), "seen");
        ck_assert(json_equal(
            json_object_get(told, "line"),
            json_object_get(json_array_get(json_object_get(safe_set, "configurations"), i), "line")));
        safe_give_back(&safe);
    }
    json_decref(safe_set);
    json_decref(npy_set);
}
END_TEST

/* One tensor of every type, and among them one without elements. */
START_TEST(every_type_has_its_name)
{
    static const struct axis axes[] = {{.name = NULL}};
    static const struct tensor tensors[] = {
        {"bool", DTYPE_BOOL, TENSOR_INPUT, NULL, NULL}, {"e5m2", DTYPE_E5M2, TENSOR_INPUT, NULL, NULL},
        {"e4m3", DTYPE_E4M3, TENSOR_INPUT, NULL, NULL}, {"i8", DTYPE_I8, TENSOR_INPUT, NULL, NULL},
        {"u8", DTYPE_U8, TENSOR_INPUT, NULL, NULL},     {"f16", DTYPE_F16, TENSOR_INPUT, NULL, NULL},
        {"bf16", DTYPE_BF16, TENSOR_INPUT, NULL, NULL}, {"f32", DTYPE_F32, TENSOR_INPUT, NULL, NULL},
        {"i32", DTYPE_I32, TENSOR_INPUT, NULL, NULL},   {"f64", DTYPE_F64, TENSOR_INPUT, NULL, NULL},
        {"i64", DTYPE_I64, TENSOR_INPUT, NULL, NULL},   {.name = NULL}};
    static const char *const types[] = {"BOOL", "F8_E5M2", "F8_E4M3", "I8",  "U8", "F16",
                                        "BF16", "F32",     "I32",     "F64", "I64"};
    static const struct problem problem = {.name = "all", .axes = axes, .tensors = tensors};
    static struct instance instance;
    const struct config config = {.problem = &problem, .seed = 1};
    struct tensor_file file = {&config, &instance, "seen", "said \"so\"", {0}, 0};
    struct safe safe = {.size = 0};
    for (int t = 0; tensors[t].name; t++) {
        instance.tensor[t] = (struct instance_tensor){.rank = 2, .dim = {t == 3 ? 0 : 3, 5}};
        file.tensor[file.count++] = t;
    }
    FILE *const out = open_memstream(&safe.bytes, &safe.size);
    ck_assert_int_eq(stored_safetensors.begin(out, &file), 0);
    fclose(out);
    safe_take(&safe);
    ck_assert_uint_eq(safe.data_size, 0); /* the values are the caller's */
    for (int t = 0; tensors[t].name; t++) {
        const json_t *const tensor = json_object_get(safe.header, tensors[t].name);
        ck_assert_str_eq(json_string_value(json_object_get(tensor, "dtype")), types[t]);
        ck_assert_uint_eq(offset_of(tensor, 1) - offset_of(tensor, 0),
                          (t == 3 ? 0 : 15) * size_of_type(types[t]));
    }
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(safe.header, "__metadata__"), "why")),
                     "said \"so\"");
    safe_give_back(&safe);
}
END_TEST

/* --- what cannot be --- */

START_TEST(what_cannot_be_written_is_told_and_leaves_nothing)
{
    struct stat status;
#define EXPORT(...)                                                                                          \
    CLI("export", "softmax", "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen",          \
        "--seed", "7", "--unseen", "6", "--format", "json", __VA_ARGS__)
    EXPORT("--inputs", "x", "--inputs-as", "zip");
    cli_expect_error(2, "--inputs-as 'zip'", "expected one of npy, safetensors", "--inputs-as safetensors");
    ck_assert_int_ne(stat("x", &status), 0);
    EXPORT("--inputs-as", "safetensors");
    cli_expect_error(2, "--inputs-as safetensors without --inputs", "expected the folder",
                     "add --inputs DIR");
    EXPORT("--inputs", "/sys/unseen-inputs", "--inputs-as", "safetensors"); /* no user may, root neither */
    cli_expect_error(3, "--inputs /sys/unseen-inputs: cannot be made", "a new folder was expected",
                     "choose a place that can be written to");
    cli.file_limit = 3000;
    EXPORT("--inputs", "full", "--inputs-as", "safetensors");
    cli_expect_error(3, "full/seen-1.safetensors: cannot be written (File too large)", "nothing is left",
                     "free some room");
    ck_assert_int_ne(stat("full", &status), 0);
    cli.file_limit = 0;
    EXPORT("--inputs", "left", "--inputs-as", "safetensors");
    cli_expect(0, "\"file\": \"unseen-6.safetensors\"");
    ck_assert_int_eq(stat("left/unseen-6.safetensors", &status), 0);
}
END_TEST

TCase *cli_inputs_case(void)
{
    TCase *tests = tcase_create("inputs");
    tcase_add_checked_fixture(tests, cli_setup, cli_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, safetensors_hold_the_bits_that_files_of_numpy_hold, 0,
                        sizeof mixed / sizeof *mixed);
    tcase_add_test(tests, every_type_has_its_name);
    tcase_add_test(tests, what_cannot_be_written_is_told_and_leaves_nothing);
    return tests;
}

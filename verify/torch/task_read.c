#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task_internal.h"
#include "verify/build/scratch.h"

struct reading {
    struct imported *task;
    char *text;
    size_t size;
};

/* Writes "FILE: TEXT". Returns false. */
static __attribute__((format(printf, 2, 3))) bool fail(const struct reading *r, const char *format, ...)
{
    va_list arguments;
    const int used = snprintf(r->text, r->size, "%s: ", r->task->file);
    va_start(arguments, format);
    if (used > 0 && (size_t)used < r->size)
        vsnprintf(r->text + used, r->size - (size_t)used, format, arguments);
    va_end(arguments);
    strncat(r->text, "\n---> import the task again: unseen import", r->size - strlen(r->text) - 1);
    return false;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool is_name(const char *name)
{
    if (!name || !*name || (*name >= '0' && *name <= '9') || strlen(name) > 48)
        return false;
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* Reads an array of at most `most` entries. */
static bool list_of(const struct reading *r, const json_t *parent, const char *key, size_t most,
                    json_t **list)
{
    *list = json_object_get(parent, key);
    if (!json_is_array(*list))
        return fail(r, "\"%s\" is missing or no list; a list was expected", key);
    if (json_array_size(*list) > most)
        return fail(r, "\"%s\" has %zu entries; %zu at most were expected", key, json_array_size(*list),
                    most);
    return true;
}

/* --- axes --- */

static bool read_axes(const struct reading *r)
{
    struct imported *task = r->task;
    json_t *list, *entry;
    size_t i;
    if (!list_of(r, task->root, "axes", PROBLEM_MAX_ARGUMENTS, &list))
        return false;
    json_array_foreach(list, i, entry)
    {
        const char *name = text_of(entry, "name"), *why = text_of(entry, "why");
        if (!is_name(name) || strcmp(name, "input") == 0 || strcmp(name, "seed") == 0)
            return fail(
                r, "the axis number %zu is called '%.40s'; a C name was expected, and neither input nor seed",
                i, name ? name : "");
        for (size_t j = 0; j < i; j++)
            if (strcmp(task->axes[j].name, name) == 0)
                return fail(r, "two axes are called '%s'; different names were expected", name);
        const bool may_be_0 = json_integer_value(json_object_get(entry, "low")) == 0;
        task->axes[i] = (struct axis){name, AXIS_NUMBER, NULL, why ? why : "", may_be_0};
        task->arguments[i] = (struct argument){name, ARGUMENT_I64};
        task->ring[i] = (int)json_integer_value(json_object_get(entry, "ring"));
    }
    task->axes[i] = (struct axis){"input", AXIS_CHOICE, NULL, "how the inputs are drawn", false};
    return true;
}

/* --- tensors --- */

static bool read_dtype(const struct reading *r, const json_t *entry, enum dtype *dtype)
{
    const char *name = text_of(entry, "dtype");
    for (int i = 0; name && i < DTYPE_COUNT; i++)
        if (strcmp(dtype_row((enum dtype)i)->in_torch, name) == 0) {
            *dtype = (enum dtype)i;
            return true;
        }
    return fail(r,
                "a tensor has the dtype '%.40s'; float32, bfloat16, int64 or another one that the tool knows "
                "was expected",
                name ? name : "");
}

/* Reads an integer, or a string with an expression of axes. */
static struct constraint *read_expression(const struct reading *r, const json_t *value)
{
    char number[32], why[200];
    const char *text = json_string_value(value);
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        text = number;
    }
    if (!text) {
        fail(r, "an extent is neither a number nor a text; one of them was expected");
        return NULL;
    }
    struct constraint *expression = expression_parse(&r->task->problem, text, why, sizeof why);
    if (!expression)
        fail(r, "the extent '%.60s': %s", text, why);
    return expression;
}

static bool read_shape(const struct reading *r, const json_t *entry, struct task_shape *shape)
{
    json_t *list, *extent;
    size_t i;
    if (!list_of(r, entry, "shape", PROBLEM_MAX_RANK, &list))
        return false;
    json_array_foreach(list, i, extent)
    {
        shape->dim[i] = read_expression(r, extent);
        if (!shape->dim[i])
            return false;
        shape->rank = (int)i + 1;
    }
    return true;
}

static bool read_optional(const struct reading *r, const json_t *object, const char *key,
                          struct constraint **out)
{
    const json_t *const value = json_object_get(object, key);
    return !value || (*out = read_expression(r, value)) != NULL;
}

static bool add_tensor(const struct reading *r, const json_t *entry, enum tensor_role role, int t)
{
    struct imported *task = r->task;
    const char *name = text_of(entry, "name");
    enum dtype dtype = DTYPE_F32;
    if (t >= PROBLEM_MAX_TENSORS)
        return fail(r, "there are more than %d tensors", PROBLEM_MAX_TENSORS);
    if (!is_name(name) || strcmp(name, "stream") == 0 || problem_axis_index(&task->problem, name) >= 0 ||
        problem_tensor_index(&task->problem, name) >= 0)
        return fail(
            r, "a tensor is called '%.40s'; a C name was expected that no axis, argument or other tensor has",
            name ? name : "");
    if (!read_dtype(r, entry, &dtype) || !read_shape(r, entry, &task->shape[t]) ||
        !read_optional(r, entry, "bound", &task->bound[t]))
        return false;
    json_t *const low = json_object_get(entry, "low");
    if (json_is_string(low) && !(task->least[t] = read_expression(r, low)))
        return false;
    task->low[t] = json_integer_value(low);
    task->tensors[t] = (struct tensor){
        name, dtype, role, task_shape_text(&task->shape[t]), NULL, text_of(entry, "length_of")};
    return task->tensors[t].shape != NULL || fail(r, "out of memory");
}

/* Reads the shapes of drawn weights. Packed one after the other, they are the tensor `weights`. */
static bool read_weights(const struct reading *r, int t)
{
    enum { MOST = 8192 };
    struct imported *task = r->task;
    json_t *list, *entry;
    size_t i;
    if (!list_of(r, task->root, "weights", MOST, &list))
        return false;
    task->weight = calloc(json_array_size(list) + 1, sizeof *task->weight);
    if (!task->weight)
        return fail(r, "out of memory");
    json_array_foreach(list, i, entry)
    {
        const char *kind = text_of(entry, "kind");
        if (!kind)
            return fail(r, "the weight number %zu has no kind; one was expected", i);
        if (strcmp(kind, "constructed") != 0 && !read_shape(r, entry, &task->weight[task->weight_count++]))
            return false;
    }
    if (task->weight_count == 0)
        return true;
    if (t >= PROBLEM_MAX_TENSORS)
        return fail(r, "there are more than %d tensors", PROBLEM_MAX_TENSORS);
    task->weights = t;
    task->tensors[t] = (struct tensor){"weights", DTYPE_F32, TENSOR_INPUT, "[all weights, packed]", NULL};
    return true;
}

/* Reads a number that depends on axes and is not whole. */
static bool read_scalar(const struct reading *r, const json_t *entry, struct task_scalar *out)
{
    const char *const name = text_of(entry, "form");
    if (!name)
        return true;
    out->form = task_scalar_form(name);
    out->factor = json_number_value(json_object_get(entry, "factor"));
    if (!out->form)
        return fail(
            r, "a number has the form '%.40s'; linear, rsqrt or another one of doc/formats.md was expected",
            name);
    return (out->of = read_expression(r, json_object_get(entry, "of"))) != NULL;
}

static bool read_tensors(const struct reading *r)
{
    json_t *inputs, *outputs, *entry;
    size_t i;
    int t = 0;
    bool written = false;
    if (!list_of(r, r->task->root, "inputs", PROBLEM_MAX_TENSORS, &inputs) ||
        !list_of(r, r->task->root, "outputs", PROBLEM_MAX_TENSORS, &outputs))
        return false;
    json_array_foreach(inputs, i, entry)
    {
        const json_t *const number = json_object_get(entry, "expression");
        if (json_object_get(entry, "shape")) {
            written = written || json_is_true(json_object_get(entry, "written"));
            if (!add_tensor(r, entry,
                            json_is_true(json_object_get(entry, "written")) ? TENSOR_INOUT : TENSOR_INPUT,
                            t++))
                return false;
        } else if ((number && !(r->task->number[i] = read_expression(r, number))) ||
                   !read_scalar(r, entry, &r->task->scalar[i])) {
            return false;
        }
    }
    if (!read_weights(r, t))
        return false;
    t += r->task->weights >= 0;
    json_array_foreach(outputs, i, entry)
    {
        if (!add_tensor(r, entry, TENSOR_OUTPUT, t++))
            return false;
    }
    return i > 0 || written || fail(r, "there is no output; one at least was expected");
}

/* --- classes --- */

static bool read_table(const struct reading *r, const json_t *object, struct task_fill *out)
{
    const json_t *const steps = json_object_get(object, "steps");
    struct task_table *const table = out->table = calloc(1, sizeof *table);
    if (!table)
        return fail(r, "out of memory");
    table->value = json_number_value(json_object_get(object, "value"));
    if (json_array_size(steps) > PROBLEM_MAX_RANK)
        return fail(r, "a table has %zu steps; %d at most were expected", json_array_size(steps),
                    PROBLEM_MAX_RANK);
    for (size_t d = 0; d < json_array_size(steps); d++)
        if (!(table->step[d] = read_expression(r, json_array_get(steps, d))))
            return false;
    return read_optional(r, object, "start", &table->start) && read_optional(r, object, "low", &table->low) &&
           read_optional(r, object, "high", &table->high);
}

/* Reads the levels of FILL_DECISION. */
static bool read_levels(const struct reading *r, const json_t *object, struct fill *fill)
{
    json_t *list, *level;
    size_t i;
    if (!list_of(r, object, "at", FILL_MAX_LEVELS, &list))
        return false;
    json_array_foreach(list, i, level)
    {
        if (!json_is_number(level))
            return fail(r, "level %zu of a fill by decisions is no number; a number was expected", i);
        fill->level[i] = (float)json_number_value(level);
    }
    fill->level_count = (int)i;
    fill->step = json_integer_value(json_object_get(object, "step"));
    return i > 0 || fail(r, "a fill by decisions has no levels; one at least was expected");
}

static bool read_fill(const struct reading *r, const json_t *object, struct task_fill *out)
{
    static const struct {
        const char *name;
        enum task_drawn drawn;
        enum fill_kind kind;
    } kinds[] = {{"normal", TASK_FILL, FILL_NORMAL},
                 {"uniform", TASK_FILL, FILL_UNIFORM},
                 {"wide", TASK_FILL, FILL_WIDE},
                 {"peak", TASK_FILL, FILL_PEAK},
                 {"integers", TASK_FILL, FILL_INTEGERS},
                 {"powers", TASK_FILL, FILL_POWERS},
                 {"levels", TASK_FILL, FILL_LEVELS},
                 {"uneven", TASK_UNEVEN, FILL_UNEVEN},
                 {"sign", TASK_FILL, FILL_SIGNS},
                 {"flag", TASK_FILL, FILL_LEVELS},
                 {"constant", TASK_FILL, FILL_CONSTANT},
                 {"decision", TASK_DECISION, FILL_DECISION},
                 {"index", TASK_INDEX, FILL_LEVELS},
                 {"simplex", TASK_SIMPLEX, FILL_UNIFORM},
                 {"triu", TASK_TRIU, FILL_GIVEN},
                 {"tril", TASK_TRIL, FILL_GIVEN},
                 {"symmetric", TASK_SYMMETRIC, FILL_GIVEN},
                 {"ascending", TASK_ASCENDING, FILL_GIVEN},
                 {"distinct", TASK_DISTINCT, FILL_GIVEN},
                 {"permutation", TASK_PERMUTATION, FILL_GIVEN},
                 {"affine", TASK_AFFINE, FILL_GIVEN},
                 {"band", TASK_BAND, FILL_GIVEN},
                 {"computed", TASK_COMPUTED, FILL_GIVEN}};
    const char *kind = text_of(object, "kind");
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, kind) != 0)
            continue;
        out->drawn = kinds[i].drawn;
        out->fill = (struct fill){.kind = kinds[i].kind,
                                  .a = (float)json_number_value(json_object_get(object, "a")),
                                  .b = (float)json_number_value(json_object_get(object, "b")),
                                  .density = (float)json_number_value(json_object_get(object, "density"))};
        out->along = (int)json_integer_value(json_object_get(object, "along"));
        if (strcmp(kind, "sign") == 0)
            out->fill.b = 1;
        if (strcmp(kind, "flag") == 0)
            out->fill.b = 2;
        if (out->drawn == TASK_DECISION)
            return read_levels(r, object, &out->fill);
        return (out->drawn != TASK_AFFINE && out->drawn != TASK_BAND) || read_table(r, object, out);
    }
    return fail(
        r,
        "an input is filled by '%.40s'; normal, uniform, index or another one of doc/formats.md was expected",
        kind ? kind : "");
}

static bool read_class(const struct reading *r, const json_t *entry, size_t i)
{
    struct imported *task = r->task;
    const char *name = text_of(entry, "name"), *shows = text_of(entry, "shows");
    if (!is_name(name) || !shows)
        return fail(r, "the input class number %zu has no %s; one was expected", i,
                    shows ? "name" : "word on what it shows");
    for (size_t j = 0; j < i; j++)
        if (strcmp(task->classes[j].name, name) == 0)
            return fail(r, "two input classes are called '%s'; different names were expected", name);
    task->classes[i] =
        (struct input_class){.name = name, .data = DATA_ANY, .shows = shows, .adjust = imported_draw};
    task->classes[i].discriminating = (int)json_integer_value(json_object_get(entry, "discriminating"));
    for (int t = 0; task->tensors[t].name; t++) {
        const json_t *fill = json_object_get(json_object_get(entry, "fill"), task->tensors[t].name);
        if (t == task->weights)
            task->fill[i][t].fill = (struct fill){.kind = FILL_NORMAL, .b = 1};
        if (task->tensors[t].role == TENSOR_OUTPUT || (t == task->weights && !fill))
            continue;
        if (!fill)
            return fail(r, "the input class '%s' does not fill '%s'; a fill for every input was expected",
                        name, task->tensors[t].name);
        if (!read_fill(r, fill, &task->fill[i][t]))
            return false;
    }
    return true;
}

static bool read_classes(const struct reading *r)
{
    json_t *list, *entry;
    size_t i;
    if (!list_of(r, r->task->root, "classes", TASK_MAX_CLASSES, &list))
        return false;
    json_array_foreach(list, i, entry)
    {
        if (!read_class(r, entry, i))
            return false;
    }
    return i > 0 || fail(r, "there is no input class; one at least was expected");
}

/* --- the rest --- */

static bool read_flops(const struct reading *r)
{
    struct task_work *flops = &r->task->flops;
    const json_t *object = json_object_get(r->task->root, "flops");
    const json_t *powers = json_object_get(object, "powers"), *below = json_object_get(object, "below");
    const json_t *base = json_object_get(object, "base");
    flops->coefficient = json_number_value(json_object_get(object, "coefficient"));
    if (!(flops->coefficient >= 0) || !isfinite(flops->coefficient))
        return fail(r, "\"flops\" has no coefficient from 0 on; one was expected");
    for (int i = 0; r->task->axes[i].name; i++) {
        const char *axis = r->task->axes[i].name;
        flops->power[i] = json_number_value(json_object_get(powers, axis));
        flops->below[i] = json_number_value(json_object_get(below, axis));
        flops->base[i] = json_number_value(json_object_get(base, axis)); /* 0: no value is below */
    }
    return true;
}

/* Reads the published check's atol and rtol, one number: the task's for the first output's dtype, or else
 * KernelBench's. Only audit and harden use those of other outputs (unseen_torch.harden). */
static bool read_tolerance(const struct reading *r)
{
    const json_t *object = json_object_get(r->task->root, "tolerance");
    const json_t *output = json_array_get(json_object_get(r->task->root, "outputs"), 0);
    const char *dtype = text_of(output, "dtype");
    const json_t *given = dtype ? json_object_get(object, dtype) : NULL, *one;
    const char *key;
    const bool narrow = dtype && (strcmp(dtype, "float16") == 0 || strcmp(dtype, "bfloat16") == 0);
    const double value = given ? json_number_value(given) : narrow ? 1e-2 : 1e-4;
    json_object_foreach(
        (json_t *)object, key,
        one) if (!json_is_number(one) ||
                 !(json_number_value(one) >=
                   0)) return fail(r, "\"tolerance\" has no number from 0 on for %.40s; one was expected",
                                   key);
    r->task->problem.published_atol = r->task->problem.published_rtol = value;
    return true;
}

/* Checks that the source in the folder is the one that was imported. */
static bool check_source(const struct reading *r)
{
    struct imported *task = r->task;
    const json_t *source = json_object_get(task->root, "source");
    const char *file = text_of(source, "file"), *expected = text_of(source, "sha256");
    char found[65];
    if (!file || strchr(file, '/') || !expected)
        return fail(r, "\"source\" has no file in the folder with its sha256; both were expected");
    snprintf(task->source, sizeof task->source, "%.900s/%.200s", task->folder, file);
    if (scratch_take(task->source, NULL, found) != 0)
        return fail(r, "its source %s cannot be read: %s", task->source, strerror(errno));
    return strcmp(found, expected) == 0 ||
           fail(r, "its source %s is not the one that was imported: found SHA-256 %.16s.., expected %.16s..",
                task->source, found, expected);
}

static bool set_problem(const struct reading *r, const char *name)
{
    struct imported *task = r->task;
    const char *const file = strrchr(task->file, '/');
    char *summary = malloc(TASK_TEXT);
    if (!summary)
        return fail(r, "out of memory");
    snprintf(summary, TASK_TEXT, "imported task, class %.60s of %.200s", imported_entry(task),
             text_of(json_object_get(task->root, "source"), "file"));
    task->oracle =
        (struct problem_oracle){.folder = task->folder, .description = file ? file + 1 : task->file};
    task->problem = (struct problem){.name = strdup(name),
                                     .summary = summary,
                                     .arithmetic = "that of the task's dtypes; see its page",
                                     .axes = task->axes,
                                     .tensors = task->tensors,
                                     .arguments = task->arguments,
                                     .classes = task->classes,
                                     .arithmetic_class = ARITHMETIC_F32,
                                     .peak = PEAK_MEMORY,
                                     .host_ns = 20,
                                     .task = task,
                                     .oracle = &task->oracle,
                                     .instantiate = imported_instantiate,
                                     .measure = imported_measure};
    return task->problem.name != NULL || fail(r, "out of memory");
}

static bool read_all(const struct reading *r, const char *name)
{
    struct imported *task = r->task;
    json_error_t error;
    task->root = json_load_file(task->file, 0, &error);
    if (!task->root)
        return fail(r, "line %d: %s; a JSON object was expected", error.line, error.text);
    if (json_integer_value(json_object_get(task->root, "task")) != 1)
        return fail(r, "its format is not known: \"task\" is not 1; 1 was expected");
    if (!set_problem(r, name) || !read_axes(r) || !read_tensors(r) || !read_classes(r) || !read_flops(r) ||
        !read_tolerance(r) || !check_source(r))
        return false;
    task_sizes_list(task);
    return true;
}

const struct problem *imported_read(const char *folder, const char *name, const struct problem *known,
                                    char *text, size_t size)
{
    struct imported *task = calloc(1, sizeof *task);
    const struct reading reading = {task, text, size};
    if (!task) {
        snprintf(text, size, "out of memory");
        return NULL;
    }
    task->weights = -1;
    snprintf(task->folder, sizeof task->folder, "%.900s", folder);
    snprintf(task->file, sizeof task->file, "%.900s/%.64s.task", folder, name);
    const bool read = read_all(&reading, name); /* compares the source's SHA-256, too */
    if (read && !(known && json_equal(task->root, known->task->root)))
        return &task->problem;
    imported_free(task);
    return read ? known : NULL;
}

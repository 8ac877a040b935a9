#include "solution.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

static enum build_status bad(const char *path, const char *what, char *error, size_t error_size)
{
    snprintf(error, error_size,
             "%s: %s\n---> a solution has `sources` (each with `path` and `content`) and `spec` with "
             "`entry_point`, "
             "such as \"main.py::run\"",
             path, what);
    return BUILD_FAILED;
}

bool solution_is_inside(const char *path, size_t length)
{
    if (length == 0 || *path == '/' || length > 100)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((i == 0 || path[i - 1] == '/') && (strncmp(path + i, "..", 2) == 0 || path[i] == '/'))
            return false;
    return true;
}

static bool write_source(const struct build *build, const char *name, const char *content)
{
    char path[sizeof build->object];
    snprintf(path, sizeof path, "%s/%.100s", build->python.folder, name);
    for (char *slash = strchr(path + strlen(build->python.folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    const bool ok = file && fputs(content, file) >= 0;
    return file && fclose(file) == 0 && ok;
}

/* Sets object and python.entry from `spec`, without checking that the file exists. */
static enum build_status read_spec(struct build *build, const char *path, const json_t *root, char *error,
                                   size_t error_size)
{
    const json_t *const spec = json_object_get(root, "spec"), *const style = json_object_get(
                                                                  spec, "destination_passing_style");
    const char *const entry = json_string_value(json_object_get(spec, "entry_point"));
    const char *const colons = entry ? strstr(entry, "::") : NULL;
    if (!colons || !colons[2] || strlen(colons + 2) > 60)
        return bad(path, "found no spec.entry_point of the form FILE::NAME", error, error_size);
    if (colons - entry < 4 || strncmp(colons - 3, ".py", 3) != 0)
        return bad(path, "its entry point is not in a .py file; expected Python or Triton", error,
                   error_size);
    if (!solution_is_inside(entry, (size_t)(colons - entry)))
        return bad(path, "its entry point is no path inside of its folder", error, error_size);
    snprintf(build->object, sizeof build->object, "%s/%.*s", build->python.folder, (int)(colons - entry),
             entry);
    /* The default is destination-passing style. */
    snprintf(build->python.entry, sizeof build->python.entry, "%.60s%s", colons + 2,
             style && json_is_false(style) ? "" : "!");
    return BUILD_OK;
}

static enum build_status unpack(struct build *build, const char *path, const json_t *root, char *error,
                                size_t error_size)
{
    const json_t *source;
    size_t i;
    const enum build_status status = read_spec(build, path, root, error, error_size);
    if (status != BUILD_OK)
        return status;
    json_array_foreach(json_object_get(root, "sources"), i, source)
    {
        const char *const name = json_string_value(json_object_get(source, "path"));
        const char *const content = json_string_value(json_object_get(source, "content"));
        if (!name || !content || !solution_is_inside(name, strlen(name)))
            return bad(path, "a source without a path inside of its folder, or without content", error,
                       error_size);
        if (!write_source(build, name, content))
            return scratch_no_room("write the sources to", build->python.folder, error, error_size);
    }
    if (access(build->object, F_OK) != 0)
        return bad(path, "the file of spec.entry_point is not among its sources", error, error_size);
    return BUILD_OK;
}

/* NULL: `error` says why. */
static json_t *read_json(const char *path, char *error, size_t error_size)
{
    json_error_t why;
    char text[300];
    json_t *const root = json_load_file(path, 0, &why);
    if (!root) {
        snprintf(text, sizeof text, "line %d: %.150s", why.line, why.text);
        bad(path, text, error, error_size);
    }
    return root;
}

enum build_status solution_unpack(struct build *build, const char *path, char *error, size_t error_size)
{
    if (scratch_take(path, NULL, build->sha256) != 0)
        return bad(path, "it cannot be read", error, error_size);
    json_t *const root = read_json(path, error, error_size);
    if (!root)
        return BUILD_FAILED;
    const enum build_status status = unpack(build, path, root, error, error_size);
    json_decref(root);
    return status;
}

static bool has_contents(const json_t *root)
{
    return json_is_string(json_object_get(json_array_get(json_object_get(root, "sources"), 0), "content"));
}

enum build_status solution_read_spec(struct build *build, const char *path, bool *whole, char *error,
                                     size_t error_size)
{
    json_t *const root = read_json(path, error, error_size);
    *whole = root && has_contents(root);
    const enum build_status status = !root    ? BUILD_FAILED
                                     : *whole ? solution_unpack(build, path, error, error_size)
                                              : read_spec(build, path, root, error, error_size);
    json_decref(root);
    return status;
}

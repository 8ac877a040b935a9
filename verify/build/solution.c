#include "solution.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

/* Below the folder, without a way out of it. */
static bool is_inside(const char *path)
{
    if (*path == '/' || *path == '\0' || strlen(path) > 100)
        return false;
    for (const char *p = path; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
        if (strncmp(p, "..", 2) == 0 || *p == '/')
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

static enum build_status unpack(struct build *build, const char *path, const json_t *root, char *error,
                                size_t error_size)
{
    const json_t *const spec = json_object_get(root, "spec"),
                        *const sources = json_object_get(root, "sources"),
                        *const style = json_object_get(spec, "destination_passing_style");
    const char *const entry = json_string_value(json_object_get(spec, "entry_point"));
    const char *const colons = entry ? strstr(entry, "::") : NULL;
    bool found = false;
    size_t i;
    const json_t *source;
    if (!colons || !colons[2] || strlen(colons + 2) > 60)
        return bad(path, "found no spec.entry_point of the form FILE::NAME", error, error_size);
    if (colons - entry < 4 || strncmp(colons - 3, ".py", 3) != 0)
        return bad(path, "its entry point is not in a .py file; expected Python or Triton", error,
                   error_size);
    json_array_foreach(sources, i, source)
    {
        const char *const name = json_string_value(json_object_get(source, "path"));
        const char *const content = json_string_value(json_object_get(source, "content"));
        if (!name || !content || !is_inside(name))
            return bad(path, "a source without a path inside of its folder, or without content", error,
                       error_size);
        if (!write_source(build, name, content))
            return scratch_no_room("write the sources to", build->python.folder, error, error_size);
        found =
            found || (strlen(name) == (size_t)(colons - entry) && strncmp(name, entry, strlen(name)) == 0);
    }
    if (!found)
        return bad(path, "the file of spec.entry_point is not among its sources", error, error_size);
    snprintf(build->object, sizeof build->object, "%s/%.*s", build->python.folder, (int)(colons - entry),
             entry);
    /* Where nothing is said, it is. */
    snprintf(build->python.entry, sizeof build->python.entry, "%.60s%s", colons + 2,
             style && json_is_false(style) ? "" : "!");
    return BUILD_OK;
}

enum build_status solution_unpack(struct build *build, const char *path, char *error, size_t error_size)
{
    json_error_t why;
    char text[300];
    if (scratch_take(path, NULL, build->sha256) != 0)
        return bad(path, "it cannot be read", error, error_size);
    json_t *const root = json_load_file(path, 0, &why);
    if (!root) {
        snprintf(text, sizeof text, "line %d: %.150s", why.line, why.text);
        return bad(path, text, error, error_size);
    }
    const enum build_status status = unpack(build, path, root, error, error_size);
    json_decref(root);
    return status;
}

#include "scaffold.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"
#include "template.h"
#include "verify/build/scratch.h"

enum { PATH = 1200, NESTED = 8 };

struct copying {
    const struct problem *like;
    const char *name;
    char folder[PATH]; /* the new folder */
    char error[400];   /* not empty: the error */
    int depth;
};

static char *read_text(const char *path)
{
    char *text = NULL, buffer[4096];
    size_t size;
    FILE *in = fopen(path, "re"), *out = in ? open_memstream(&text, &size) : NULL;
    for (size_t got; out && (got = fread(buffer, 1, sizeof buffer, in)) > 0;)
        fwrite(buffer, 1, got, out);
    if (out)
        fclose(out);
    if (in)
        fclose(in);
    return text;
}

/* --- sources and their includes --- */

/* The file being copied, for resolving its includes. */
struct including {
    struct copying *c;
    const char *path;
    char name[256];
};

static void copy_source(struct copying *c, const char *path, const char *name);

/* Copies an included file that is beside the including one; an include of the tool's stays unchanged. */
static const char *take_include(void *data, const char *file)
{
    struct including *i = data;
    char directory[PATH], path[2 * PATH], beside[2 * PATH];
    snprintf(directory, sizeof directory, "%s", i->path);
    snprintf(path, sizeof path, "%s/%s", dirname(directory), file);
    if (access(path, R_OK) != 0)
        return NULL;
    const char *const slash = strrchr(file, '/');
    snprintf(i->name, sizeof i->name, "%s", slash ? slash + 1 : file);
    snprintf(beside, sizeof beside, "%s/%s", i->c->folder, i->name);
    if (access(beside, F_OK) != 0)
        copy_source(i->c, path, i->name);
    return i->name;
}

static FILE *create(struct copying *c, const char *name)
{
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    FILE *out = fopen(path, "wxe");
    if (!out)
        snprintf(c->error, sizeof c->error, "%.300s: %s", path, strerror(errno));
    return out;
}

static void finish(struct copying *c, FILE *out, const char *name)
{
    const bool bad = ferror(out) != 0;
    if ((fclose(out) != 0 || bad) && !c->error[0])
        snprintf(c->error, sizeof c->error, "%.150s/%.100s: %s", c->folder, name, strerror(errno));
}

static void copy_source(struct copying *c, const char *path, const char *name)
{
    struct including including = {.c = c, .path = path};
    char *text = c->depth < NESTED ? read_text(path) : NULL;
    FILE *out = text ? create(c, name) : NULL;
    if (!text)
        snprintf(c->error, sizeof c->error, "%.300s cannot be read: %s", path, strerror(errno));
    c->depth++;
    if (out) {
        template_source(out, text, c->like->name, c->name, take_include, &including);
        finish(c, out, name);
    }
    c->depth--;
    free(text);
}

static void copy_sources(struct copying *c)
{
    static const char *const files[] = {"problem.c", "reference.h", "baseline.c", "baseline.cu"};
    char path[PATH], name[2 * MODULE_NAME];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (folder_source(c->like, files[i], path, sizeof path) == 0)
            copy_source(c, path, files[i]);
    for (const struct tensor *t = c->like->tensors; t->name; t++) {
        snprintf(name, sizeof name, "reference_%s.h", t->name);
        if (folder_source(c->like, name, path, sizeof path) == 0)
            copy_source(c, path, name);
    }
}

static void copy_shapes(struct copying *c)
{
    static const char *const endings[] = {"space", "seen", "host.seen"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[PATH], name[2 * MODULE_NAME];
        if (folder_shape(c->like, endings[i], path, sizeof path) != 0)
            continue;
        snprintf(name, sizeof name, "%s.%s", c->name, endings[i]);
        char *text = read_text(path);
        FILE *out = text ? create(c, name) : NULL;
        if (out) {
            template_shape(out, text, c->like->name, c->name);
            finish(c, out, name);
        }
        free(text);
    }
}

static void write_page(struct copying *c)
{
    FILE *out = create(c, "README.md");
    if (!out)
        return;
    fprintf(out,
            "# %s\n\n"
            "A copy of `%s` under another name: %s.\n\n"
            "| file | says |\n|---|---|\n"
            "| `problem.c` | axes, tensors, arguments, how inputs are drawn, FLOPs and bytes |\n"
            "| `reference.h` | the mathematics, written once, and `ref_error`: what an honest kernel may be "
            "off |\n"
            "| `%s.space` | the contract: which values of every axis are legal |\n"
            "| `%s.seen` | the configurations that a kernel's author is given |\n"
            "| `baseline.c`, `baseline.cu` | plain honest kernels |\n\n"
            "    unseen describe ./%s\n"
            "    unseen selftest ./%s --device host\n"
            "    unseen verify ./%s %s/baseline.c --device host --effort quick\n",
            c->name, c->like->name, c->like->summary, c->name, c->name, c->name, c->name, c->name, c->name);
    finish(c, out, "README.md");
}

/* --- public function --- */

enum folder_status scaffold_write(const struct problem *like, const char *name, const char *directory,
                                  char *text, size_t size)
{
    struct copying c = {.like = like, .name = name};
    char path[PATH];
    if (folder_source(like, "problem.c", path, sizeof path) != 0) {
        snprintf(text, size,
                 "found no %s; the sources of %s were expected there\n---> run the tool in its source tree, "
                 "or install "
                 "it with `make install`",
                 path, like->name);
        return FOLDER_ENVIRONMENT;
    }
    if (snprintf(c.folder, sizeof c.folder, "%s/%s", directory, name) >= (int)sizeof c.folder ||
        mkdir(c.folder, 0777) != 0) {
        const bool exists = errno == EEXIST;
        snprintf(text, size, "cannot make the folder %.600s: %s; a new one was expected\n---> %s", c.folder,
                 strerror(errno),
                 exists ? "choose another name, or another place with --out DIR"
                        : "choose a place "
                          "with --out DIR");
        return FOLDER_INPUT;
    }
    copy_sources(&c);
    copy_shapes(&c);
    write_page(&c);
    if (!c.error[0])
        return FOLDER_OK;
    scratch_remove(c.folder);
    snprintf(text, size, "%s; nothing was written\n---> free some room, or choose a place with --out DIR",
             c.error);
    return FOLDER_ENVIRONMENT;
}

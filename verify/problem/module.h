/* A problem's folder as a shared object in this process: compiled like the tool's own problems, cached by
 * cache.h, loaded by dlopen. A module uses the tool's own functions (problems/, reference/, MPFR), which the
 * tool is linked to export. So there is one MPFR with one set of limits and one fetcher, and compiling a
 * problem needs no library except libc. */
#ifndef UNSEEN_MODULE_H
#define UNSEEN_MODULE_H

#include "verify/build/build.h"

enum { MODULE_PATH = 800, MODULE_NAME = 64, MODULE_REFERENCES = 32 };

/* Description of what to compile. */
struct module_source {
    char folder[MODULE_PATH];                     /* absolute path without symbolic links */
    char name[MODULE_NAME];                       /* name of the folder and of the problem */
    char outputs[MODULE_REFERENCES][MODULE_NAME]; /* "" for reference.h, OUTPUT for reference_OUTPUT.h */
    int output_count;
};

struct module {
    /* from dlopen; valid for the life of the process. An unchanged folder gets the same one again */
    void *handle;
    char object[1300]; /* the file; valid until module_release */
    char scratch[512];
    char note[600]; /* not empty: a note for the user */
};

/* Loads everything for the host, or the enclosure for a GPU of compute capability `arch`. On any result but
 * BUILD_OK error has a text. */
enum build_status module_host(struct module *module, const struct module_source *source, char *error,
                              size_t error_size);
enum build_status module_cuda(struct module *module, const struct module_source *source, const char *arch,
                              char *error, size_t error_size);
/* Writes "problem.c exports no problem_NAME", with a hint. */
void module_explain_unnamed(const struct module_source *source, char *error, size_t error_size);
/* removes files that are no longer needed; the code stays loaded */
void module_release(struct module *module);

#endif

/* A problem's folder as a shared object in this process: compiled as the tool's own problems are, kept by cache.h, loaded
 * by dlopen. What a module needs of the tool (problems/ and reference/ functions, MPFR) it finds in the tool itself, which is
 * linked for that: so there is one MPFR with one set of limits and one fetcher, and a problem can be compiled where no
 * library but the C one is installed to link with. */
#ifndef UNSEEN_MODULE_H
#define UNSEEN_MODULE_H

#include "verify/build/build.h"

enum { MODULE_PATH = 800, MODULE_NAME = 64, MODULE_REFERENCES = 32 };

/* What is compiled. */
struct module_source {
    char folder[MODULE_PATH];                     /* absolute, without links */
    char name[MODULE_NAME];                       /* of the folder, and of the problem */
    char outputs[MODULE_REFERENCES][MODULE_NAME]; /* "" for reference.h, OUTPUT for reference_OUTPUT.h */
    int output_count;
};

struct module {
    void *handle;      /* of dlopen; for the life of the process */
    char object[1300]; /* the file, until module_release */
    char scratch[512];
    char note[600]; /* not empty: what the user should know */
};

/* Everything for the host; and the enclosure on a GPU of the compute capability `arch`. An error text on anything but
 * BUILD_OK. */
enum build_status module_host(struct module *module, const struct module_source *source, char *error,
                              size_t error_size);
enum build_status module_cuda(struct module *module, const struct module_source *source, const char *arch,
                              char *error, size_t error_size);
/* "problem.c exports no problem_NAME", with what to do. */
void module_explain_unnamed(const struct module_source *source, char *error, size_t error_size);
void module_release(struct module *module); /* files that are no longer needed; the code stays */

#endif

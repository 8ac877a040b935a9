/* Builds a shared object from a candidate file. */
#ifndef UNSEEN_BUILD_H
#define UNSEEN_BUILD_H

#include "verify/device/region.h"
#include "reports/record/result.h"
#include "verify/worker/python.h"

enum build_status {
    BUILD_OK,
    BUILD_INPUT, /* missing, unreadable, "-", unknown suffix: bad usage (exit 2) */
    /* the candidate's fault (exit 2): the compiler failed, and its log is kept; or a bad link line, or a bad
     * solution */
    BUILD_FAILED,
    BUILD_ENVIRONMENT, /* no compiler, no room in the temporary directory, or --budget ran out (exit 3) */
    BUILD_STATUSES
};
const char *build_status_name(enum build_status status); /* "input", "failed", ... */
enum owner build_status_owner(enum build_status status);

struct build {
    char object[512];    /* absolute path of the .so, always a private copy */
    char directory[512]; /* private temporary directory, removed by build_clear */
    /* full compiler output in `directory`; after BUILD_FAILED, the path where it was kept (unseen-build.log
     * here, else a new name in TMPDIR or /tmp) */
    char log[512];
    char text[512];       /* the preprocessed source, in `directory`; empty: there is none */
    char sha256[65];      /* of the candidate file as given */
    const char *language; /* "c", "cuda", "so", "python", "solution" */
    double seconds;
    bool kept;            /* the object was in the store (object_store.h), and no compiler ran */
    struct python python; /* how to run a module, whose file is then `object`; else empty */
};

struct build_options {
    const char *path;
    enum backend backend; /* a .c needs the host, a .cu CUDA; other kinds run on either */
    int device;
    const char *arch; /* "90a": compute capability with its architecture-specific features; for .cu */
    double timeout;   /* seconds for the compiler */
    /* For C and C++: an instrumented object, which tells a map what it executes
     * (verify/runner/coverage_map.h) */
    bool coverage;
    /* Only for a .py, a .json or a folder: */
    const char *python;  /* the interpreter; NULL: python3 on PATH */
    const char *scripts; /* PYTHON_PACKAGE */
    const char *entry;   /* the class or function, for a folder also FILE:NAME; NULL: found by name */
    const char *problem; /* the function's name if there is no class */
    const char *adapter; /* the problem's adapter for classes; NULL: none */
    const char *task;    /* file of the imported task that the adapter serves; NULL: none */
    const char *names;   /* names of the problem's arguments, separated by blanks */
};

/* Builds a candidate. On any result but BUILD_OK only a kept log remains, and build_clear has nothing to do.
 * `error` gets what was expected, what was found and what to do. For BUILD_FAILED it gets the compiler's
 * first errors and the path of the full log. */
enum build_status build_candidate(struct build *build, const struct build_options *options, char *error,
                                  size_t error_size);
const struct python *build_python(const struct build *build); /* NULL: it is no module */
void build_clear(struct build *build); /* removes the directory; accepts a zeroed build */

#endif

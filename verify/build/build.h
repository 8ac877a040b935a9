/* Turn a candidate file into a shared object. */
#ifndef UNSEEN_BUILD_H
#define UNSEEN_BUILD_H

#include "verify/device/region.h"
#include "reports/result.h"
#include "verify/isolate/python.h"

enum build_status {
    BUILD_OK,
    BUILD_INPUT,  /* missing, unreadable, "-", unknown suffix: usage (exit 2) */
    BUILD_FAILED, /* the candidate's fault (exit 2): the compiler said no, and its log is kept; or a bad link line, a bad solution */
    BUILD_ENVIRONMENT, /* no compiler, no room in the temporary directory, --budget was over (exit 3) */
    BUILD_STATUSES
};
const char *build_status_name(enum build_status status); /* "input", "failed", ... */
enum owner build_status_owner(enum build_status status);

struct build {
    char object[512];     /* absolute path of the .so (a private copy, also of a given .so) */
    char directory[512];  /* private temporary directory, removed by build_clear */
    char log[512];        /* full compiler output: in `directory`; after BUILD_FAILED where it was
                            * kept (unseen-build.log here, else a new name in TMPDIR or /tmp) */
    char sha256[65];      /* of the candidate file as given */
    const char *language; /* "c", "cuda", "so", "python", "solution" */
    double seconds;
    struct python python; /* of a module: how it is run; else empty. `object` is then its file */
};

struct build_options {
    const char *path;
    enum backend backend; /* a .c needs the host, a .cu CUDA; others go with either */
    int device;
    const char *arch; /* "90a": compute capability with its a-features; for .cu */
    double timeout;   /* seconds for the compiler */
    /* For a .py, a .json or a folder: */
    const char *python;  /* the interpreter; NULL: python3 on PATH */
    const char *scripts; /* verify/python */
    const char *entry;   /* the class or function, of a folder FILE:NAME as well; NULL: what is found */
    const char *problem; /* the function's name where no class is there */
    const char *adapter; /* the problem's, for classes; NULL: none */
    const char *task;    /* the file of an imported task, for which the adapter is; NULL: none */
    const char *names;   /* of the problem's arguments, with blanks between them */
};

/* On anything but BUILD_OK nothing is left behind except a kept log, and build_clear has nothing
 * to do.
 * error: what was expected, what was found, what to do; for BUILD_FAILED the compiler's first
 * errors and where the full log is. */
enum build_status build_candidate(struct build *build, const struct build_options *options, char *error,
                                  size_t error_size);
const struct python *build_python(const struct build *build); /* NULL: it is no module */
void build_clear(struct build *build); /* removes the directory; a zeroed build is fine */

#endif

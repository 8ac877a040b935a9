/* Turn a candidate file into a shared object. */
#ifndef UNSEEN_BUILD_H
#define UNSEEN_BUILD_H

#include "verify/device/region.h"

enum build_status {
    BUILD_OK,
    BUILD_INPUT,      /* missing, unreadable, "-", unknown suffix, bad link line: usage (exit 2) */
    BUILD_FAILED,     /* the compiler said no: the candidate's fault, (exit 2); log kept */
    BUILD_ENVIRONMENT /* no compiler, no room in the temporary directory (exit 3) */
};

struct build {
    char object[512];     /* absolute path of the .so (a private copy, also of a given .so) */
    char directory[512];  /* private temporary directory, removed by build_clear */
    char log[512];        /* full compiler output: in `directory`; after BUILD_FAILED where it was
                            * kept (unseen-build.log here, else in TMPDIR or /tmp) */
    char sha256[65];      /* of the candidate file as given */
    const char *language; /* "c", "cuda", "so" */
    double seconds;
};

struct build_options {
    const char *path;
    enum backend backend; /* a .c needs the host, a .cu CUDA; a .so goes with either */
    int device;
    const char *arch; /* "90a": compute capability with its a-features; for .cu */
    double timeout;   /* seconds for the compiler */
};

/* On anything but BUILD_OK nothing is left behind except a kept log, and build_clear has nothing
 * to do.
 * error: what was expected, what was found, what to do; for BUILD_FAILED the compiler's first
 * errors and where the full log is. */
enum build_status build_candidate(struct build *build, const struct build_options *options, char *error,
                                  size_t error_size);
void build_clear(struct build *build); /* removes the directory; a zeroed build is fine */

#endif

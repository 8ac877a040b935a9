/* Bubblewrap's command line: what a process in the sandbox may see and do.
 *
 * It sees programs and libraries of the system, the folders of LD_LIBRARY_PATH, the CUDA Toolkit, and what it is shown
 * by name. Nothing else of the file system is there: no home, no /etc but the loader's files, no working directory. It has
 * no network, its own /proc, /tmp and /dev, and a root that cannot be written. */
#ifndef UNSEEN_SANDBOX_H
#define UNSEEN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "verify/device/region.h"

enum { SANDBOX_ARGUMENTS = 256, SANDBOX_TEXT = 16384 };

/* An argument vector and the text that its arguments point into. */
struct sandbox {
    const char *argv[SANDBOX_ARGUMENTS];
    int count;
    char text[SANDBOX_TEXT];
    size_t used;
};

/* What is to run inside. */
enum sandbox_use {
    SANDBOX_CANDIDATE, /* a runner on the host */
    SANDBOX_CUDA,      /* a runner with the GPU's devices */
    SANDBOX_COMPILER
};

void sandbox_begin(struct sandbox *sandbox, enum sandbox_use use);
void sandbox_show(struct sandbox *sandbox, const char *path); /* a file or folder, absolute, to read */
void sandbox_lend(struct sandbox *sandbox, const char *path); /* the same, to write */

void sandbox_stand(struct sandbox *sandbox,
                   const char *folder); /* the working directory, itself not shown; default: / */

/* The program of that name on PATH, with the folder that it lies in and, for a toolchain outside of the system's folders,
 * its libraries. */
void sandbox_show_program(struct sandbox *sandbox, const char *name);

/* What is to run goes behind: argv[count], and so on. False: something did not fit. */
bool sandbox_end(struct sandbox *sandbox);

/* --- does it work here? --- */

/* Probes once per process. UNSEEN_NO_SANDBOX=1 turns it off. */
bool sandbox_works(void);

const char *sandbox_why_not(void); /* NULL: it does */

/* From now on nothing of a candidate's is compiled or run outside of it. */
void sandbox_require(void);
bool sandbox_required(void);

/* --- folders that every compiler is shown: the tool's headers, --sources --- */

enum { SANDBOX_SOURCES = 16 };
bool sandbox_add_source(const char *folder); /* false: there is none, or there are too many */
const char *sandbox_source(int i);           /* NULL: there are no more */
void sandbox_show_sources(struct sandbox *sandbox);

#endif

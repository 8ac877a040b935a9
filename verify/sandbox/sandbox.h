/* Bubblewrap's command line: the view and rights of a process in the sandbox.
 *
 * The process sees programs and libraries of the system, the folders of LD_LIBRARY_PATH, the CUDA Toolkit,
 * and paths that are shown explicitly. It sees nothing else of the file system: no home, no /etc except the
 * loader's files, no working directory. It has no network, its own /proc, /tmp and /dev, and a read-only
 * root. */
#ifndef UNSEEN_SANDBOX_H
#define UNSEEN_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "verify/device/region.h"

enum { SANDBOX_ARGUMENTS = 256, SANDBOX_TEXT = 16384 };

/* An argument vector and the text to which its arguments point. */
struct sandbox {
    const char *argv[SANDBOX_ARGUMENTS];
    int count;
    char text[SANDBOX_TEXT];
    size_t used;
};

/* Kind of the process to run inside. */
enum sandbox_use {
    SANDBOX_CANDIDATE, /* a runner on the host */
    SANDBOX_CUDA,      /* a runner with the GPU's devices */
    SANDBOX_COMPILER
};

void sandbox_begin(struct sandbox *sandbox, enum sandbox_use use);
/* shows a file or folder (absolute path), read-only */
void sandbox_show(struct sandbox *sandbox, const char *path);
void sandbox_lend(struct sandbox *sandbox, const char *path); /* the same, writable */

void sandbox_stand(struct sandbox *sandbox,
                   const char *folder); /* sets the working directory without showing it; default: / */

/* Shows the program of that name on PATH with its folder. For a toolchain outside of the system's folders, it
 * also shows its libraries. */
void sandbox_show_program(struct sandbox *sandbox, const char *name);

/* Ends the command line; the caller appends its program at argv[count]. False: something did not fit. */
bool sandbox_end(struct sandbox *sandbox);

/* --- does it work here? --- */

/* Probes once. UNSEEN_NO_SANDBOX=1 disables it. */
bool sandbox_works(void);

/* Probes again from now on, unless a start inside has succeeded. So a command finds out for itself, whatever
 * an earlier one in this process met. */
void sandbox_probe_again(void);

const char *sandbox_why_not(void); /* NULL: it works */

/* Requires the sandbox, or does not: from now on no code of a candidate is compiled or run outside of it. */
void sandbox_require(bool on);
bool sandbox_required(void);

/* --- folders shown to every compiler: the tool's headers, --include-dir --- */

enum { SANDBOX_SOURCES = 16 };
bool sandbox_add_source(const char *folder); /* false: no such folder, or too many */
void sandbox_clear_sources(void);
const char *sandbox_source(int i); /* NULL: beyond the last */
void sandbox_show_sources(struct sandbox *sandbox);

#endif

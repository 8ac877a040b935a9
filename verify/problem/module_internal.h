/* Compiles a folder to an object; used by module.c. */
#ifndef UNSEEN_MODULE_INTERNAL_H
#define UNSEEN_MODULE_INTERNAL_H

#include "module.h"

enum { MODULE_SOURCES = 512 };

/* One compilation of a folder. */
struct making {
    const struct module_source *source;
    const char *arch; /* NULL: for the host */
    char root[MODULE_PATH];
    char compiler[600];
    char directory[512]; /* contains the object, module.so, and all intermediate files */
    char log[600];
    char *sources[MODULE_SOURCES + 1]; /* inputs reported by the compiler; NULL-terminated */
    int source_count;
};

/* Finds the tool's own sources and the compiler; BUILD_ENVIRONMENT if one is missing. */
enum build_status making_prepare(struct making *making, char *error, size_t error_size);
/* Builds the key, one line of everything that determines the object. Asks the compiler for its version. */
enum build_status making_key(struct making *making, char *key, size_t size, char *error, size_t error_size);
enum build_status making_run(struct making *making, char *error, size_t error_size);
void making_clear(struct making *making); /* frees the list of sources */

#endif

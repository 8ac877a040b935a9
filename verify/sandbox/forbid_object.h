/* Lists the names in a shared object, read as the loader reads it. The object is the candidate's: nothing in
 * it is trusted, and malformed parts are skipped. */
#ifndef UNSEEN_FORBID_OBJECT_H
#define UNSEEN_FORBID_OBJECT_H

#include <stdbool.h>

enum object_name {
    OBJECT_NEEDS,   /* a library that it depends on */
    OBJECT_CALLED,  /* its own name (DT_SONAME) */
    OBJECT_REFERS,  /* an undefined dynamic symbol */
    OBJECT_DEFINES, /* a defined dynamic symbol */
    OBJECT_HAS,     /* a symbol of the static table only */
    /* a C++ name anywhere in the file: kernels are registered by these names, and cubins contain them */
    OBJECT_MANGLED
};

typedef void object_visit(void *data, enum object_name kind, const char *name);

/* Calls `found` for every name in the 64-bit object open as `fd`. The file is read, not mapped, since it may
 * shrink meanwhile. `mangled`: also C++ names, for which the whole file is read. Returns 0, or -1 if it is no
 * such object. */
int object_names(int fd, bool mangled, object_visit *found, void *data);

#endif

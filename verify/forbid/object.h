/* The names that a shared object holds, read as the loader reads it. The object is the candidate's: nothing in it is
 * believed, and what is malformed is passed over. */
#ifndef UNSEEN_OBJECT_H
#define UNSEEN_OBJECT_H

#include <stdbool.h>

enum object_name {
    OBJECT_NEEDS,   /* a library that is loaded with it */
    OBJECT_CALLED,  /* what it calls itself (DT_SONAME) */
    OBJECT_REFERS,  /* a dynamic symbol that another object must define */
    OBJECT_DEFINES, /* a dynamic symbol of its own */
    OBJECT_HAS,     /* a symbol that only its table for debuggers tells */
    OBJECT_MANGLED /* a C++ name anywhere in the file: kernels are registered by theirs, and cubins hold them */
};

typedef void object_visit(void *data, enum object_name kind, const char *name);

/* Gives `found` every name of the 64-bit object open as `fd`, which is read and not mapped: it may shrink meanwhile. `mangled`:
 * the C++ names, too, for which the whole file is read. Returns 0; -1: it is no such object. */
int object_names(int fd, bool mangled, object_visit *found, void *data);

#endif

/* Requirements of a candidate in Python besides its file: the interpreter, its installation, and a private
 * writable folder. */
#ifndef UNSEEN_PYTHON_H
#define UNSEEN_PYTHON_H

#include "verify/sandbox/python_program.h"

enum { PYTHON_PATH = 400 };

struct python {
    struct python_program program; /* no path: the candidate is no module */
    char script[PYTHON_PATH];      /* PYTHON_START */
    char folder[PYTHON_PATH];      /* the candidate's own files, read-only */
    char cache[PYTHON_PATH];       /* written by the candidate and its compilers; kept between starts */
    char entry[64];                /* the class or function; empty: found by name */
    char adapter[PYTHON_PATH];     /* binds a published interface to the problem; empty: none */
    char task[PYTHON_PATH];        /* file of an imported task, which the adapter reads; empty: none */
    /* tensors that the adapter passes to a constructor (a model's weights), separated by blanks */
    char state[128];
    char names[512];        /* names of the problem's arguments, separated by blanks */
    double compile_timeout; /* seconds for loading, and for the first call of a configuration */
};

#endif

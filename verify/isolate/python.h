/* What a candidate in Python needs beside its file: the interpreter, what that is made of, a private folder to write to. */
#ifndef UNSEEN_PYTHON_H
#define UNSEEN_PYTHON_H

#include "python_program.h"

enum { PYTHON_PATH = 400 };

struct python {
    struct python_program program; /* without a path: the candidate is no module */
    char script[PYTHON_PATH];      /* verify/python/runner.py */
    char folder[PYTHON_PATH];      /* the candidate's own files, to read */
    char cache[PYTHON_PATH];       /* what it and its compilers write; kept from start to start */
    char entry[64];                /* the class or function; empty: what is found */
    char adapter[PYTHON_PATH];     /* binds a published interface to the problem; empty: none */
    char task[PYTHON_PATH];        /* an imported task's file, which the adapter reads; empty: none */
    char state[128]; /* tensors that the adapter gives to a constructor, with blanks: a model's weights */
    char names[512]; /* of the problem's arguments, with blanks between them */
    double compile_timeout; /* seconds for loading, and for the first call of a configuration */
};

#endif

/* Which interpreter, and what of the file system it needs. It is asked, since a name on PATH may be a script that chooses among
 * versions, and a virtual environment stands on another installation. The one search for candidates, imported tasks and their
 * right answers, so that the same fault has the same words everywhere. */
#ifndef UNSEEN_PYTHON_PROGRAM_H
#define UNSEEN_PYTHON_PROGRAM_H

#include <stddef.h>

enum { PROGRAM_FOLDERS = 24, PROGRAM_PATH = 1024, PROGRAM_WORD = 64 };

struct python_program {
    char path
        [PROGRAM_PATH]; /* absolute; of a virtual environment its own, which is known by its place. Empty: none */
    char folder[PROGRAM_FOLDERS]
               [PROGRAM_PATH]; /* what it and its packages lie in: what a sandbox has to show */
    int folders;
    char version[PROGRAM_WORD]; /* "3.11.2" */
    char torch[PROGRAM_WORD];   /* "2.9.0", "none" */
    char cuda[PROGRAM_WORD];    /* that torch was built with; "none" */
};

/* Asks `named`, a path or a name on PATH (NULL, "": python3), by the script `probe` (verify/python/probe.py) with the rights of
 * whoever runs this, outside of any sandbox: nothing of a candidate or task runs there, and nothing large is imported. 0; -1:
 * there is none, or it does not answer, and `text` says why. */
int python_ask(struct python_program *program, const char *named, const char *probe, char *text, size_t size);

enum python_need { PYTHON_TORCH, PYTHON_TORCH_CUDA };

/* 0; -1: it lacks that, and `text` says what. */
int python_require(const struct python_program *program, enum python_need need, char *text, size_t size);

#endif

/* The Python interpreter and the parts of the file system that it needs. The interpreter is asked, since a
 * name on PATH may be a script that selects a version, and a virtual environment depends on another
 * installation. Candidates, imported tasks and oracles share this search, so the same error has the same
 * message everywhere. */
#ifndef UNSEEN_PYTHON_PROGRAM_H
#define UNSEEN_PYTHON_PROGRAM_H

#include <stddef.h>

/* The Python package of candidates and tasks, a folder of the tool. Processes start as
 * `python -I PYTHON_START MODULE ARGUMENT..`. */
#define PYTHON_PACKAGE "verify/torch/unseen_torch"
#define PYTHON_START PYTHON_PACKAGE "/__main__.py"
#define PYTHON_PROBE PYTHON_PACKAGE "/probe.py"

enum { PROGRAM_FOLDERS = 24, PROGRAM_PATH = 1024, PROGRAM_WORD = 64 };

struct python_program {
    char path
        /* absolute path; for a virtual environment its own, which is identified by its place. Empty: none */
        [PROGRAM_PATH];
    char folder[PROGRAM_FOLDERS]
               [PROGRAM_PATH]; /* folders of the interpreter and its packages, which a sandbox must show */
    int folders;
    char version[PROGRAM_WORD]; /* "3.11.2" */
    char torch[PROGRAM_WORD];   /* "2.9.0", "none" */
    char cuda[PROGRAM_WORD];    /* CUDA version that torch was built with; "none" */
    /* hash of the list of its packages with their versions; empty: unknown */
    char packages[PROGRAM_WORD];
};

/* Asks `named`, a path or a name on PATH (NULL, "": python3), by the script `probe` (PYTHON_PROBE).
 * It runs with the user's rights outside of any sandbox: no code of a candidate or task runs, and nothing
 * large is imported. Returns 0, or -1 if there is none or it does not answer; `text` says why. */
int python_ask(struct python_program *program, const char *named, const char *probe, char *text, size_t size);

enum python_need { PYTHON_TORCH, PYTHON_TORCH_CUDA };

/* Returns 0, or -1 if it lacks the need, as `text` says. */
int python_require(const struct python_program *program, enum python_need need, char *text, size_t size);

#endif

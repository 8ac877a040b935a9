/* The branches of an instrumented candidate.
 *
 * A branch is one of the two outcomes of a conditional jump in the code compiled without optimization, or
 * one value that a switch lists, or any other value of it. Left out: headers outside of the candidate's
 * folder, and tests of pointers right after a call (`p = malloc(n); if (!p)`), which leave no trace. */
#ifndef UNSEEN_BRANCHES_H
#define UNSEEN_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verify/build/build.h"

enum { BRANCHES_MOST = 20000, BRANCH_FILE_SIZE = 64, BRANCH_TEXT_SIZE = 96 };

struct branch {
    uint32_t place; /* of the point that the jump follows, or of the switch (coverage_map.h) */
    uint32_t to;    /* place of the point where it leads; of a switch 0 */
    int at;         /* bit of the value of a switch */
    int64_t value;  /* this value, unless it stands for all others */
    bool is_switch, is_other;
    int file, line;   /* index into the texts */
    int to_line;      /* of a jump: where it leads; 0: unknown */
    char relation[3]; /* of a jump: how the operands compare then; "": unknown */
    bool taken;
};

/* A comparison of integers. */
struct traced_comparison {
    uint32_t place;
    bool with_number; /* its first operand is a number of the text */
    int file, line;
};

/* A point whose line is known: the start of a basic block. */
struct block {
    uint32_t place;
    int file, line;
    bool reached;
};

/* A file of the candidate's own: one in its folder. */
struct source_text {
    char name[BRANCH_FILE_SIZE]; /* base name */
    char *text;                  /* NULL: it could not be read */
    char **line;                 /* [0] is line 1 */
    int lines;
};

struct branches {
    struct branch *branch; /* by file and line */
    struct traced_comparison *comparison;
    struct block *block;
    int count, comparisons, blocks;
    struct source_text *text;
    int texts;
};

/* Reads the branches of the instrumented object. `path` is the candidate as the user named it. On any
 * result but BUILD_OK `why` has a phrase: there is no objdump, or there are more branches than
 * BRANCHES_MOST. */
enum build_status branches_open(struct branches *branches, const struct build *build, const char *path,
                                char *why, size_t why_size);
void branches_close(struct branches *branches);

int branches_taken(const struct branches *branches);

/* A line of the text without its blanks at both ends, in printable ASCII; "": it is unknown. */
void source_line(const struct source_text *text, int line, char *to, size_t size);

/* Describes where a branch leads: "to line 119", "where <=", "value 3", "another value". */
void branch_outcome(const struct branch *branch, char *text, size_t size);

/* Describes a branch: `softmax.c:118 "if (cols > 1 << 24)" to line 119`, or `.. value 3`. If both
 * outcomes lead to one line, the relation of the operands tells them apart. */
void branch_format(const struct branches *branches, const struct branch *branch, char *text, size_t size);

#endif

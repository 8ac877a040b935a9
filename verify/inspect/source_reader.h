/* A text that is being read for clues, and what the files of this family do with it. */
#ifndef UNSEEN_SOURCE_READER_H
#define UNSEEN_SOURCE_READER_H

#include "gen/draw/clue.h"
#include "source_definitions.h"
#include "source_tokens.h"
#include "source_tree.h"

enum { READER_MOST_ENCLOSING = 32, READER_MOST_NEGATED = 16 };

/* A condition that holds where statements are read. */
struct enclosing {
    struct clue_term term;
    bool negated; /* another branch is taken, or left the block, unless it holds */
};

struct reader {
    struct source source;
    struct definitions definitions;
    struct tree tree;
    struct clue_list *list;
    struct enclosing enclosing[READER_MOST_ENCLOSING]; /* conditions around the present statement */
    int enclosed;
    int base;                 /* of them, those around the present block */
    int counter;              /* name that the header of the present loop counts; -1: none */
    int subject;              /* node of the present switch; -1: none */
    int cases;                /* the bracket of its cases */
    int switched;             /* conditions around it */
    bool leaves;              /* the last statement ends its block, as return and break do */
    struct call_frame *frame; /* the call whose function is being read (source_inline.c); NULL: none */
    int inlined;              /* calls in that of the outermost frame */
    int site;                 /* where the macro stands whose value is being read; -1: none is */
    int depth;                /* of recursion */
    bool quiet;               /* the value of a definition is being read: no clue is added */
    bool failed;              /* memory is out */
    bool done;                /* the list is full */
};

/* Reads the expression at `*at`, which ends before `end`, and moves `*at` behind it. Leaves `*at` alone if
 * there is no expression. Unless `quiet`, adds the clues of what the node does not hold, such as arguments.
 * */
int expression_read(struct reader *reader, int *at, int end);

/* Finds the definitions that are constants. */
void expansion_fold_constants(struct reader *reader);
/* The value of a NODE_NAME that has a single one; -1: none, or it is too long. */
int expansion_of(struct reader *reader, int node);
/* The expression with names replaced by their values, and so on, `depth` times. */
int expansion_of_all(struct reader *reader, int node, int depth);

/* Adds the clues of an expression whose value is a condition. True if it is a single alternative, which
 * `only` then has. */
bool clues_add_condition(struct reader *reader, int node, struct clue *only);
/* The condition's opposite, if that is a single alternative. */
bool clues_opposite(struct reader *reader, int node, struct clue *opposite);
/* Adds the clues of an expression of any kind. */
void clues_add_expression(struct reader *reader, int node);
/* A cast to a narrow integer type: beyond its greatest value the result is another. */
void clues_add_overflow(struct reader *reader, int subject, int64_t greatest, int token);
/* `subject`: -1 for "?". */
void clues_add_tile(struct reader *reader, int subject, int64_t bound, int token);

/* The definition of a NODE_NAME; NULL: none is visible. */
static inline struct definition *reader_definition(const struct reader *reader, int node)
{
    const struct node *const name = &reader->tree.node[node];
    return definition_at(&reader->definitions, &reader->source, (int)name->value, name->token);
}

/* Reads statements, or arguments, and adds their clues. */
void walk_tokens(struct reader *reader, int begin, int end);

/* The next token behind `at`, or behind the bracket that it opens. */
static inline int reader_skip(const struct reader *reader, int at)
{
    const int match = reader->source.token[at].match;
    return (match > at ? match : at) + 1;
}

#endif

/* Calls of functions that only return an expression, and of such macros. */
#ifndef UNSEEN_SOURCE_INLINE_H
#define UNSEEN_SOURCE_INLINE_H

struct reader;

/* The value of the call whose name is at `name` and whose parentheses open at `open`; -1: unknown. */
int inline_call(struct reader *reader, int name, int open);

/* The argument that the call being read gives this name; -1: the name is no parameter of it. */
int inline_argument(struct reader *reader, int name);

#endif

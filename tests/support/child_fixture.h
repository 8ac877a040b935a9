/* The isolated runner under test. One object has all the candidates, of which the symbol chooses. There are
 * two tensors of memory, and every started process is stopped after every test. */
#ifndef UNSEEN_TESTS_CHILD_FIXTURE_H
#define UNSEEN_TESTS_CHILD_FIXTURE_H

#include <check.h>

#include "verify/build/build.h"
#include "verify/worker/child.h"

enum { FIXTURE_COUNT = 1021 }; /* elements; a multiple neither of 4 nor of the page */

struct child_fixture {
    char folder[64];
    struct build built; /* of the candidates */
    struct region x, y; /* FIXTURE_COUNT floats each */
    struct child *child;
    double memory;   /* set before a start: the bound; 0 again after every test */
    char text[1024]; /* the last call's message */
};
extern struct child_fixture it;

void fixture_add(TCase *tests); /* to all tests of the case */

void fixture_write(const char *path, const char *content);
void fixture_compile(struct build *build, const char *name, const char *source); /* in the folder */

enum child_status fixture_start_object(const char *object, const char *symbol, const char *log);
void fixture_start(const char *symbol); /* a candidate with x and y mapped */
struct call fixture_make_call(enum placement placement);
enum child_status fixture_make(const struct call *call, double timeout, int *returned);
enum child_status fixture_call(enum placement placement, double timeout, int *returned);
enum child_status fixture_run(const char *symbol, enum placement placement, int *returned); /* both */

TCase *child_endings_case(void);   /* test_child_endings.c */
TCase *child_limits_case(void);    /* test_child_limits.c */
TCase *child_group_case(void);     /* likewise */
TCase *child_arena_case(void);     /* test_child_arena.c */
TCase *child_arguments_case(void); /* test_child_arguments.c */
TCase *child_state_case(void);     /* test_child_state.c */
TCase *child_several_case(void);   /* test_child_several.c */

#endif

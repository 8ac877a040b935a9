/* A test that cannot run here says so and is counted: it is neither right nor wrong. */
#ifndef UNSEEN_TESTS_SKIP_H
#define UNSEEN_TESTS_SKIP_H

/* Before the first test: they run in processes of their own, which report to this one. */
void skip_open(void);

/* Counts the current test as skipped; the caller returns. The reason is a few words: "root reads every
 * file". */
void skip_test(const char *reason);
#define SKIP_TEST(reason)                                                                                    \
    do {                                                                                                     \
        skip_test(reason);                                                                                   \
        return;                                                                                              \
    } while (0)

int skip_count(void);
void skip_print(void); /* the reasons, each with its count: "root reads every file (2), ..." */

#endif

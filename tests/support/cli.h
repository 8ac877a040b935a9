/* The tool as users meet it: run build/unseen in a directory of its own and check its output. */
#ifndef UNSEEN_TESTS_CLI_H
#define UNSEEN_TESTS_CLI_H

#include <check.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* The result of the last run. */
struct cli {
    int status;            /* exit status; 1000 + signal when it was killed */
    char *out, *err;       /* all of both streams; "" when there was nothing */
    const char *stdout_to; /* set before a run: a path instead of the file that becomes `out` */
    long file_limit;       /* set before a run: RLIMIT_FSIZE in bytes; 0: none */
};
extern struct cli cli;

/* Fixture: an empty working directory, also TMPDIR, holding tiny.space and tiny.seen (two points). */
void cli_setup(void);
void cli_teardown(void);

/* Run `unseen` with these words. */
#define CLI(...) cli_run((const char *const[]){__VA_ARGS__, NULL})
void cli_run(const char *const *words);
/* The same in two steps, to do something in between. */
#define CLI_START(...) cli_start((const char *const[]){__VA_ARGS__, NULL})
pid_t cli_start(const char *const *words);
void cli_wait(pid_t pid);
bool cli_printed(const char *text); /* has the running tool printed it yet? */

/* The options of every short run: the host, the tiny sets, no timing. */
#define TINY "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen", "--no-timing"

/* Exit status and the three parts of an error: found, expected, to do. */
void cli_expect_error(int status, const char *found, const char *expected, const char *hint);
void cli_expect(int status, const char *in_out);
void cli_expect_without(const char *text); /* in neither stream */

const char *
cli_torch(void); /* an interpreter with torch: UNSEEN_TEST_PYTHON, or build/venv's; NULL: there is none */
void cli_put(const char *name, const char *text);
char *cli_text(const char *path); /* up to 64 KiB of a file; valid until the next call */
/* A right softmax that does `hook` first and adds `bias` to every result. */
void cli_put_kernel(const char *name, const char *hook, const char *bias);
const char *cli_repository(const char *path); /* absolute; valid for three further calls */
const char *cli_tool(void);

json_t *cli_json(const char *path); /* a whole result; the caller frees it */
int cli_count(const json_t *result, const char *set, const char *key); /* result.seen.pass ... */
bool cli_has_children(void); /* is any process left that this test, or its children, started? */

TCase *cli_usage_case(void);
TCase *cli_input_case(void);
TCase *cli_candidate_case(void);
TCase *cli_limits_case(void);
TCase *cli_run_case(void);
TCase *cli_output_case(void);
TCase *cli_scores_case(void);
TCase *cli_reward_case(void);
TCase *cli_peaks_case(void);
TCase *cli_report_case(void);
TCase *cli_audit_case(void);
TCase *cli_explain_case(void);
TCase *cli_values_case(void);
TCase *cli_scouts_case(void);
TCase *cli_directed_case(void);
TCase *cli_cover_case(void);
TCase *cli_compare_case(void);
TCase *cli_shrink_case(void);
TCase *cli_after_case(void);
TCase *cli_freeze_case(void);
TCase *cli_export_case(void);
TCase *cli_shapes_case(void);
TCase *cli_inputs_case(void);
TCase *cli_ci_case(void);
TCase *cli_batch_case(void);
TCase *cli_busy_case(void); /* part of the busy suite */

#endif

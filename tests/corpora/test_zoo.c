/* Cheats are not general and honest kernels are (tests/corpora/zoo). Defences have names and can be removed, which a
 * verdict then says. */
#include <check.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "share.h"
#include "suites.h"
#include "verify/util/defence.h"

#define TIMED                                                                                                \
    "--device", "host", "--contract", "tiny.space", "--seen", "tiny.seen", "--unseen", "6", "--no-lock",     \
        "--no-explain"

/* One in so many for the host with `make check`: three candidates, a second each. */
enum { ZOO_SHARE = 28, ZOO_MOST = 256, ZOO_LINE = 256 };

static char line[ZOO_MOST][ZOO_LINE];
static int lines;

START_TEST(a_candidate_of_the_zoo_gets_what_it_deserves)
{
    ck_assert_msg(strncmp(line[_i], "ok ", 3) == 0 || strncmp(line[_i], "open ", 5) == 0 ||
                      strncmp(line[_i], "closed ", 7) == 0 || strncmp(line[_i], "idle ", 5) == 0,
                  "%s", line[_i]);
}
END_TEST

START_TEST(some_candidate_was_verified)
{
    ck_assert_int_gt(lines, 0);
}
END_TEST

/* Only verdicts count, and on the host no time decides any, so nothing waits for a quiet machine there. The
 * lines of run.sh up to the sums. They are made here, before Check forks its tests, which then only look. */
static void visit(const char *device, int share)
{
    char self[512], command[1200];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    snprintf(command, sizeof command, "MORE=%s sh tests/corpora/zoo/run.sh '%s' %s --share %d %d",
             strcmp(device, "host") == 0 ? "--no-lock" : "", dirname(self), device, share,
             share_rotation_of(share));
    printf("zoo: %s\n", command);
    share_print(strcmp(device, "host") == 0 ? "zoo" : "zoo-cuda", "candidates");
    FILE *output = popen(command, "r");
    bool sums = false;
    for (char text[ZOO_LINE]; output && fgets(text, sizeof text, output);) {
        sums = sums || *text == '\n';
        if (sums)
            fputs(text, stdout);
        else if (lines < ZOO_MOST)
            strcpy(line[lines++], text);
    }
    if (output)
        pclose(output);
    fflush(stdout);
}

START_TEST(every_defence_has_a_name_and_a_meaning)
{
    for (int i = 0; i < DEFENCE_COUNT; i++) {
        ck_assert_ptr_nonnull(defence_name((enum defence)i));
        ck_assert_ptr_nonnull(defence_meaning((enum defence)i));
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(defence_name((enum defence)i), defence_name((enum defence)k));
    }
}
END_TEST

START_TEST(defences_go_by_their_names_and_come_back)
{
    char text[DEFENCE_TEXT];
    ck_assert(defence_is_on(DEFENCE_FRESH) && defence_is_on(DEFENCE_MOVED));
    ck_assert_ptr_null(defence_remove("moved,fresh"));
    ck_assert(!defence_is_on(DEFENCE_FRESH) && !defence_is_on(DEFENCE_MOVED) &&
              defence_is_on(DEFENCE_POISON));
    defence_removed(text, sizeof text);
    ck_assert_str_eq(text, "fresh,moved");
    defence_restore();
    defence_removed(text, sizeof text);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(a_name_that_is_none_takes_nothing_away)
{
    static const char *const wrong[] = {"", "fres", "freshly", "fresh,", ",fresh", "fresh,nonsense"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_ptr_nonnull(defence_remove(wrong[i]));
        ck_assert(defence_is_on(DEFENCE_FRESH));
    }
}
END_TEST

START_TEST(all_names_fit_in_one_text)
{
    char text[DEFENCE_TEXT];
    for (int i = 0; i < DEFENCE_COUNT; i++)
        defence_remove(defence_name((enum defence)i));
    defence_removed(text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, defence_name((enum defence)(DEFENCE_COUNT - 1))));
    ck_assert_uint_lt(strlen(text), DEFENCE_TEXT - 1);
    defence_restore();
}
END_TEST

START_TEST(a_verdict_without_a_defence_says_so_and_never_succeeds)
{
    cli_put_kernel("right.c", "", "0");
    CLI("verify", "softmax", "right.c", TINY, "--disable-defence", "poison,fresh", "--json", "r.json");
    cli_expect(1, "general: without: fresh,poison, it works");
    json_t *result = cli_json("r.json");
    ck_assert_str_eq(json_string_value(json_object_get(result, "without")), "fresh,poison");
    json_decref(result);
    CLI("verify", "softmax", "right.c", TINY, "--disable-defence", "fresh", "-q");
    cli_expect(1, "general without: fresh\n");
    CLI("verify", "softmax", "right.c", TINY, "--json", "r.json");
    cli_expect_without("without:");
    result = cli_json("r.json");
    ck_assert(json_is_null(json_object_get(result, "without")));
    json_decref(result);
}
END_TEST

/* In all calls of a shape except the first five, when no timed or late call is judged. */
START_TEST(who_is_idle_when_timed_is_general_without_fingerprints_only)
{
    cli_put_kernel("idle.c",
                   "static int calls[1 << 20];\n"
                   "    if (++calls[(rows * 4099 + cols) % (1 << 20)] > 7) return 0;\n",
                   "0");
    CLI("verify", "softmax", "idle.c", TIMED, "--disable-defence", "judged,late");
    cli_expect(1, "in a timed call");
    cli_expect_without("general: ");
    CLI("verify", "softmax", "idle.c", TIMED, "--disable-defence", "judged,late,fingerprints");
    cli_expect(1, "general: ");
}
END_TEST

/* The bits of an address, which another process has elsewhere. */
START_TEST(who_varies_from_process_to_process_is_general_and_a_note_says_so)
{
    cli_put_kernel("varies.c", "",
                   "exp(x[c] - top) / sum * 6e-8 * ((uintptr_t)&sum >> (4 + (r * cols + c) % 20) & 1)");
    CLI("verify", "softmax", "varies.c", TIMED);
    cli_expect(0, "equal calls differ between processes");
    CLI("verify", "softmax", "right.c", TIMED);
    cli_expect_without("equal calls");
}
END_TEST

START_TEST(an_unknown_defence_is_an_error)
{
    CLI("verify", "softmax", "right.c", "--disable-defence", "fresh,moat");
    cli_expect_error(2, "'moat'", "expected some of fresh, moved,",
                     "---> for example --disable-defence fresh,moved");
}
END_TEST

static TCase *defence_case(void)
{
    TCase *tcase = tcase_create("defences");
    tcase_add_test(tcase, every_defence_has_a_name_and_a_meaning);
    tcase_add_test(tcase, defences_go_by_their_names_and_come_back);
    tcase_add_test(tcase, a_name_that_is_none_takes_nothing_away);
    tcase_add_test(tcase, all_names_fit_in_one_text);
    return tcase;
}

static TCase *saying_case(void)
{
    TCase *tcase = tcase_create("without");
    tcase_add_checked_fixture(tcase, cli_setup, cli_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_verdict_without_a_defence_says_so_and_never_succeeds);
    tcase_add_test(tcase, who_is_idle_when_timed_is_general_without_fingerprints_only);
    tcase_add_test(tcase, who_varies_from_process_to_process_is_general_and_a_note_says_so);
    tcase_add_test(tcase, an_unknown_defence_is_an_error);
    return tcase;
}

static TCase *candidate_case(void)
{
    TCase *tcase = tcase_create("candidates");
    tcase_add_loop_test(tcase, a_candidate_of_the_zoo_gets_what_it_deserves, 0, lines);
    tcase_add_test(tcase, some_candidate_was_verified);
    return tcase;
}

Suite *zoo_suite(void)
{
    Suite *suite = suite_create("zoo");
    visit("host", share_size() > 1 ? ZOO_SHARE : 1);
    suite_add_tcase(suite, candidate_case());
    suite_add_tcase(suite, defence_case());
    suite_add_tcase(suite, saying_case());
    return suite;
}

Suite *zoo_cuda_suite(void)
{
    Suite *suite = suite_create("zoo-cuda");
    visit("cuda", 1);
    suite_add_tcase(suite, candidate_case());
    return suite;
}

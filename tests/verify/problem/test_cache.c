/* Compiled problems are stored by content: an unchanged one is not compiled again, and a changed one is. */
#include "own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "skip.h"
#include "suites.h"

enum { UNITS = 3 }; /* problem.c, the enclosure, the witness */

static void describe(int compiled)
{
    CLI("describe", "./softmax");
    cli_expect(0, "row-wise softmax");
    const int count = own_compiled();
    ck_assert_msg(count == compiled, "%d files were compiled instead of %d", count, compiled);
}

START_TEST(what_has_not_changed_is_not_compiled_again)
{
    own_wrap_cc("");
    describe(UNITS);
    describe(0);
    ck_assert_str_eq(cli.err, "");
    own_sh("touch softmax/problem.c softmax/reference.h");
    describe(0); /* content counts, not times */
    own_sh("cp -r softmax other; rm -r softmax; cp -r other softmax");
    describe(0);
    own_sh("mkdir there; mv softmax there");
    CLI("describe", "there/softmax"); /* relative includes may mean other files there */
    cli_expect(0, "row-wise softmax");
    ck_assert_int_eq(own_compiled(), UNITS);
}
END_TEST

static const char *const changes[] = {
    "echo >>softmax/problem.c",
    "echo >>softmax/reference.h",
    "echo >>common.h", /* included by problem.c */
    "cp softmax/reference.h softmax/reference_y.h; rm softmax/reference_y.h; echo >>deep.h",
    "sed -i 's/echo compiler/echo another; echo compiler/' bin/cc", /* another version */
};

START_TEST(what_has_changed_is_compiled_again)
{
    own_sh("echo '#include \"deep.h\"' >common.h; : >deep.h; sed -i '1i#include \"../common.h\"' "
           "softmax/problem.c");
    own_wrap_cc("case \"$*\" in *--version) echo compiler 1; exit;; esac");
    describe(UNITS);
    describe(0);
    own_sh("%s", changes[_i]);
    describe(UNITS);
    describe(0);
}
END_TEST

START_TEST(a_judgement_that_comes_or_goes_is_seen)
{
    own_wrap_cc("");
    describe(UNITS);
    own_sh("cp softmax/reference.h softmax/reference_q.h");
    CLI("describe", "./softmax");
    cli_expect_error(2, "reference_q.h judges no output", "'q' is none", "remove it");
    ck_assert_int_eq(own_compiled(), UNITS + 2);
    own_sh("rm softmax/reference_q.h");
    describe(UNITS);
}
END_TEST

static const char *const damages[] = {
    "truncate -s -1 $E",
    "truncate -s 5000 $E",
    "truncate -s 0 $E",
    "printf X | dd of=$E bs=1 seek=9000 conv=notrunc status=none",
    "echo more >>$E",
    "rm $E; mkfifo $E",
    "rm $E; echo '#' >elsewhere; ln -s $PWD/elsewhere $E",
};

START_TEST(a_damaged_entry_is_built_anew)
{
    own_wrap_cc("");
    describe(UNITS);
    own_sh("E=$(ls cache/unseen/*.so); test -f $E && { %s; }", damages[_i]);
    if (strstr(damages[_i], "mkfifo")) /* no process writes to it: opening it may not wait */
        own_sh("timeout 20 %s describe ./softmax >out.txt", cli_tool());
    else
        CLI("describe", "./softmax");
    ck_assert(cli_printed("row-wise softmax"));
    ck_assert_int_eq(own_compiled(), UNITS);
    describe(0);
}
END_TEST

START_TEST(another_users_entry_is_not_loaded)
{
    if (geteuid() != 0)
        SKIP_TEST("only root gives files away");
    own_wrap_cc("");
    describe(UNITS);
    own_sh("chown 12345 cache/unseen/*.so");
    describe(UNITS);
    describe(0);
}
END_TEST

/* The compiler may have read the old or the new text. */
START_TEST(a_source_that_changes_meanwhile_is_not_kept)
{
    own_wrap_cc("case \"$*\" in *' -c '*) sleep 0.05; echo >>reference.tmp; cat reference.tmp "
                ">>softmax/reference.h;; esac");
    describe(UNITS);
    ck_assert_str_eq(cli.err, "");
    own_sh("! ls cache/unseen/*.so 2>/dev/null");
    own_wrap_cc("");
    describe(UNITS);
    describe(0);
}
END_TEST

struct nowhere {
    const char *cache, *home, *why;
};

static const struct nowhere nowheres[] = {
    {"/proc/nosuch", "/", "/proc/nosuch/unseen: No such file"},
    {"/dev/null", "/", "/dev/null/unseen: Not a directory"},
    {NULL, "/dev/null", "/dev/null/.cache/unseen: Not a directory"},
    {"", "", "neither XDG_CACHE_HOME nor HOME names a directory"},
    {"relative", "", "neither XDG_CACHE_HOME nor HOME names a directory"},
};

START_TEST(without_a_cache_it_works_and_says_so)
{
    const struct nowhere *const n = &nowheres[_i];
    own_wrap_cc("");
    n->cache ? setenv("XDG_CACHE_HOME", n->cache, 1) : unsetenv("XDG_CACHE_HOME");
    setenv("HOME", n->home, 1);
    for (int i = 0; i < 2; i++) {
        describe(UNITS);
        ck_assert_msg(strstr(cli.err, "unseen: note: the compiled problem softmax is not kept") != NULL, "%s",
                      cli.err);
        ck_assert_msg(strstr(cli.err, n->why) != NULL, "%s", cli.err);
        ck_assert_msg(strstr(cli.err, "\n---> set XDG_CACHE_HOME") != NULL, "%s", cli.err);
    }
    own_sh("! ls -d unseen-?????? 2>/dev/null");
}
END_TEST

/* As on a full disk: the object, but not the entry, which is larger. */
START_TEST(a_cache_without_room_is_told_and_stays_whole)
{
    own_wrap_cc("");
    own_sh("mkdir -p cache/unseen; cp /dev/null cache/unseen/full; mkdir -p cache/unseen; "
           "%s describe ./softmax >out.txt; rm cc.log; E=$(ls cache/unseen/*.so); rm $E; mkdir $E; touch "
           "$E/x cc.log",
           cli_tool());
    describe(UNITS);
    ck_assert_msg(strstr(cli.err, "is not kept for the next run") != NULL, "%s", cli.err);
    own_sh("! ls cache/unseen/*.tmp 2>/dev/null");
}
END_TEST

START_TEST(many_at_the_same_time_compile_it_once)
{
    enum { MANY = 6 };
    own_wrap_cc("");
    own_sh("for i in 1 2 3 4 5 6; do %s describe ./softmax >out.$i 2>err.$i & done; wait", cli_tool());
    for (int i = 1; i <= MANY; i++)
        own_sh("cmp out.%d out.1 && test ! -s err.%d && grep -q row-wise out.%d", i, i, i);
    ck_assert_int_eq(own_compiled(), UNITS);
    /* the entry and its lock */
    own_sh("test $(ls cache/unseen | wc -l) = 2; ! ls cache/unseen/*.tmp 2>/dev/null");
}
END_TEST

TCase *own_cache_case(void)
{
    TCase *tests = tcase_create("cache");
    tcase_add_checked_fixture(tests, own_setup, own_teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_has_not_changed_is_not_compiled_again);
    tcase_add_loop_test(tests, what_has_changed_is_compiled_again, 0, sizeof changes / sizeof *changes);
    tcase_add_test(tests, a_judgement_that_comes_or_goes_is_seen);
    tcase_add_loop_test(tests, a_damaged_entry_is_built_anew, 0, sizeof damages / sizeof *damages);
    tcase_add_test(tests, another_users_entry_is_not_loaded);
    tcase_add_test(tests, a_source_that_changes_meanwhile_is_not_kept);
    tcase_add_loop_test(tests, without_a_cache_it_works_and_says_so, 0, sizeof nowheres / sizeof *nowheres);
    tcase_add_test(tests, a_cache_without_room_is_told_and_stays_whole);
    tcase_add_test(tests, many_at_the_same_time_compile_it_once);
    return tests;
}

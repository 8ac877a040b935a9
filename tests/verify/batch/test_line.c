/* The file of a batch's lines: what a kill or a full disk leaves, and going on with it. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch_fixture.h"
#include "suites.h"

enum { ITEMS = 3 };

static struct batch_list list;
static struct batch_file file;
static json_t *line[ITEMS];
static char error[2048];

static void enter(void)
{
    batch_enter();
    list = batch_some(ITEMS);
    file.descriptor = -1;
}

static void forget(void)
{
    batch_file_close(&file);
    for (int i = 0; i < ITEMS; i++) {
        json_decref(line[i]);
        line[i] = NULL;
    }
}

static void leave(void)
{
    forget();
    batch_list_clear(&list);
    batch_leave();
}

static void write_line(int index, int status)
{
    json_t *const one = batch_ended(&list.item[index], status, 1);
    ck_assert_msg(batch_file_write(&file, one, error, sizeof error) == 0, "%s", error);
    json_decref(one);
}

static int open_file(const char *path, bool resume)
{
    return batch_file_open(&file, path, resume, &list, line, error, sizeof error);
}

/* Two lines, of k0 and k2. */
static void begin(void)
{
    ck_assert_int_eq(open_file("out", false), 0);
    write_line(0, 0);
    write_line(2, 1);
    forget();
}

static off_t size_of(const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_size;
}

START_TEST(lines_are_read_back)
{
    begin();
    ck_assert_msg(open_file("out", true) == 0, "%s", error);
    ck_assert_str_eq(batch_line_verdict(line[0]), "general");
    ck_assert_ptr_null(line[1]);
    ck_assert_str_eq(batch_line_verdict(line[2]), "broken");
}
END_TEST

START_TEST(a_torn_last_line_is_dropped)
{
    begin();
    const off_t whole = size_of("out");
    ck_assert_int_eq(truncate("out", whole - 1 - _i * 50), 0);
    ck_assert_msg(open_file("out", true) == 0, "%s", error);
    ck_assert_ptr_nonnull(line[0]);
    ck_assert_ptr_null(line[2]);
    write_line(2, 1);
    forget();
    ck_assert_int_eq(size_of("out"), whole);
    ck_assert_int_eq(open_file("out", true), 0);
    ck_assert_ptr_nonnull(line[2]);
}
END_TEST

START_TEST(another_file_is_not_cut_off)
{
    batch_put("kernel.c", "int kernel;");
    ck_assert_int_eq(open_file("kernel.c", true), -1);
    ck_assert_msg(strstr(error, "kernel.c:1: found the text int kernel;"), "%s", error);
    ck_assert_int_eq(size_of("kernel.c"), 11);
}
END_TEST

START_TEST(the_last_line_of_an_id_counts)
{
    ck_assert_int_eq(open_file("out", false), 0);
    write_line(1, -1);
    write_line(1, 0);
    forget();
    ck_assert_int_eq(open_file("out", true), 0);
    ck_assert(!batch_line_is_lost(line[1]));
    ck_assert_str_eq(batch_line_verdict(line[1]), "general");
}
END_TEST

START_TEST(a_lost_verdict_is_inconclusive_and_a_refused_one_has_none)
{
    line[0] = batch_ended(&list.item[0], -1, 2);
    line[1] = batch_ended(&list.item[1], 3, 2);
    line[2] = batch_ended(&list.item[2], 2, 1);
    ck_assert_str_eq(batch_line_verdict(line[0]), "inconclusive");
    ck_assert(batch_line_is_lost(line[0]) && batch_line_is_lost(line[1]));
    ck_assert_ptr_null(batch_line_verdict(line[2]));
    ck_assert(!batch_line_is_lost(line[2]));
    ck_assert_str_eq(json_string_value(json_object_get(line[0], "reason")), "no reason");
}
END_TEST

START_TEST(results_are_not_written_over)
{
    begin();
    const off_t size = size_of("out");
    ck_assert_int_eq(open_file("out", false), -1);
    ck_assert_msg(strstr(error, "out holds results already") && strstr(error, "---> --resume"), "%s", error);
    ck_assert_int_eq(size_of("out"), size);
}
END_TEST

START_TEST(one_file_has_one_batch)
{
    struct batch_file other;
    begin();
    ck_assert_int_eq(open_file("out", true), 0);
    ck_assert_int_eq(batch_file_open(&other, "out", true, &list, line, error, sizeof error), -1);
    ck_assert_msg(strstr(error, "in use by another batch") != NULL, "%s", error);
    batch_file_close(&other);
}
END_TEST

static const struct {
    const char *change, *found;
} others[] = {
    {"id", "out:1: found the id k0; expected an id of the list"},
    {"problem", "out:1: found the problem softmax; expected topk"},
    {"file", "out:1: found the file k0; expected other"},
    {"words", "out:1: found the options [\"--seed\", \"5\"]; expected [\"--seed\", \"6\"]"},
    {"text", "out:1: found the text"},
};

START_TEST(another_list_or_other_options_are_named)
{
    struct batch_item *const item = &list.item[0];
    const char *const change = others[_i].change;
    begin();
    char **const field = strcmp(change, "id") == 0     ? &item->id
                         : strcmp(change, "file") == 0 ? &item->file
                                                       : &item->problem;
    if (strcmp(change, "words") == 0) {
        json_array_set_new(item->words, 1, json_string("6"));
    } else if (strcmp(change, "text") == 0) {
        ck_assert_int_eq(system("sed -i '1s/.*/text/' out"), 0);
    } else {
        free(*field);
        *field = strdup(strcmp(change, "problem") == 0 ? "topk" : "other");
    }
    ck_assert_int_eq(open_file("out", true), -1);
    ck_assert_msg(strstr(error, others[_i].found) && strstr(error, "---> "), "%s", error);
}
END_TEST

START_TEST(a_candidate_that_changed_is_named)
{
    ck_assert_int_eq(open_file("out", false), 0);
    json_t *const one = batch_ended(&list.item[0], 0, 1);
    /* printf k0 | sha256sum */
    json_object_set_new(one, "sha256",
                        json_string("d1a5ac9a015fac2ef7b341673635512a1511f41fe37d111b267f039eec5d4f58"));
    ck_assert_int_eq(batch_file_write(&file, one, error, sizeof error), 0);
    json_decref(one);
    forget();
    ck_assert_msg(open_file("out", true) == 0, "%s", error);
    forget();
    batch_put("k0", "other");
    ck_assert_int_eq(open_file("out", true), -1);
    ck_assert_msg(strstr(error, "out:1: found the SHA-256 d1a5ac9a"), "%s", error);
}
END_TEST

START_TEST(a_full_disk_is_told_and_leaves_whole_lines)
{
    json_t *const one = batch_ended(&list.item[0], 0, 1);
    ck_assert_msg(open_file("/dev/full", false) == 0, "%s", error);
    ck_assert_int_eq(batch_file_write(&file, one, error, sizeof error), -1);
    ck_assert_msg(strstr(error, "No space left on device") && strstr(error, "---> free some space"), "%s",
                  error);
    json_decref(one);
    batch_file_close(&file);
    ck_assert_int_eq(open_file("none/out", false), -2);
    ck_assert_msg(strstr(error, "cannot write none/out"), "%s", error);
}
END_TEST

/* A part of a line that was written before the limit is cut off. */
START_TEST(a_line_that_does_not_fit_is_cut_off)
{
    json_t *const one = batch_ended(&list.item[1], 0, 1);
    begin();
    const off_t before = size_of("out");
    ck_assert_int_eq(open_file("out", true), 0);
    batch_limit_files(before + 20);
    ck_assert_int_eq(batch_file_write(&file, one, error, sizeof error), -1);
    ck_assert_int_eq(size_of("out"), before);
    json_decref(one);
}
END_TEST

TCase *batch_line_case(void)
{
    TCase *tests = tcase_create("batch-line");
    tcase_add_checked_fixture(tests, enter, leave);
    tcase_add_test(tests, lines_are_read_back);
    tcase_add_loop_test(tests, a_torn_last_line_is_dropped, 0, 3);
    tcase_add_test(tests, another_file_is_not_cut_off);
    tcase_add_test(tests, the_last_line_of_an_id_counts);
    tcase_add_test(tests, a_lost_verdict_is_inconclusive_and_a_refused_one_has_none);
    tcase_add_test(tests, results_are_not_written_over);
    tcase_add_test(tests, one_file_has_one_batch);
    tcase_add_loop_test(tests, another_list_or_other_options_are_named, 0, sizeof others / sizeof *others);
    tcase_add_test(tests, a_candidate_that_changed_is_named);
    tcase_add_test(tests, a_full_disk_is_told_and_leaves_whole_lines);
    tcase_add_test(tests, a_line_that_does_not_fit_is_cut_off);
    return tests;
}

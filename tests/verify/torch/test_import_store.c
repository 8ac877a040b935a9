/* Kept imports. A shell script stands in for the interpreter. Its imports differ from run to run, so that a
 * kept one is known by its content. */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oracle_task.h"
#include "suites.h"
#include "verify/build/object_store.h"
#include "verify/build/scratch.h"
#include "verify/torch/importing.h"

/* Answers the probe, and else imports: -I START task.importer SOURCE FOLDER NAME SECONDS. */
static const char stand_in[] =
    "#!/bin/sh\n"
    "if [ \"$2\" = -B ]; then\n"
    "    printf 'executable %%s\\nversion 3.11.2\\ntorch 2.0\\ncuda none\\n%s\\nshow %%s\\nend\\n' $0 "
    "${0%%/*}\n"
    "    exit\n"
    "fi\n"
    "cd $5\n"
    "for file in $6.task $6.space $6.seen $6.host.seen README.md source.py; do\n"
    "    { echo $file; head -c 12 /dev/urandom; cat $4; } > $file\n"
    "done\n";

static char interpreter[200], source[200];

static void set_up(const char *packages)
{
    char text[1200];
    snprintf(text, sizeof text, stand_in, packages);
    task_put("python", text);
    ck_assert_int_eq(chmod(interpreter, 0755), 0);
}

/* Imports and returns the content of the folder. */
static char *import(char folder[PATH_MAX])
{
    static const char *const files[] = {"kept.task",      "kept.space", "kept.seen",
                                        "kept.host.seen", "README.md",  "source.py"};
    static char content[4000];
    char text[1200] = "", path[PATH_MAX + 40];
    size_t used = 0, size;
    const enum folder_status status = importing_run(
        &(struct importing){.source = source, .python = interpreter}, folder, PATH_MAX, text, sizeof text);
    ck_assert_msg(status == FOLDER_OK, "%s", text);
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        char *const data = scratch_read_own(path, &size);
        ck_assert_msg(data && size > strlen(files[i]) && used + size < sizeof content, "%s", path);
        memcpy(content + used, data, size);
        used += size;
        free(data);
    }
    memset(content + used, 0, sizeof content - used);
    return memcpy(malloc(sizeof content), content, sizeof content);
}

/* Makes the process forget the folder, as a new process would. */
static void lose(const char *folder)
{
    char path[PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/source.py", folder);
    ck_assert_int_eq(unlink(path), 0);
}

static const struct {
    const char *text, *packages;
    bool disabled, kept;
} seconds[] = {
    {"x = 1\n", "packages 7", false, true},  {"x = 2\n", "packages 7", false, false},
    {"x = 1\n", "packages 8", false, false}, {"x = 1\n", "no packages", false, false},
    {"x = 1\n", "packages 7", true, false},
};

START_TEST(a_second_import_is_the_kept_one)
{
    char first[PATH_MAX], second[PATH_MAX];
    task_make();
    snprintf(interpreter, sizeof interpreter, "%s/python", task_folder);
    snprintf(source, sizeof source, "%s/kept.py", task_folder);
    set_up("packages 7");
    task_put("kept.py", "x = 1\n");
    char *const before = import(first);
    set_up(seconds[_i].packages);
    task_put("kept.py", seconds[_i].text);
    if (seconds[_i].disabled)
        object_store_enable(false);
    if (seconds[_i].kept) { /* in this process it has the same folder, and so is the same problem */
        free(import(second));
        ck_assert_str_eq(first, second);
    }
    lose(first);
    char *const after = import(second);
    ck_assert_str_ne(first, second);
    ck_assert_int_eq(memcmp(before, after, 4000) == 0, seconds[_i].kept);
    free(before);
    free(after);
    scratch_remove_all();
    task_remove();
}
END_TEST

TCase *kept_imports_case(void)
{
    TCase *kept = tcase_create("kept");
    tcase_add_loop_test(kept, a_second_import_is_the_kept_one, 0, sizeof seconds / sizeof *seconds);
    return kept;
}

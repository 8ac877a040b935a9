/* The corpus of real bugs (tests/corpora/bugs/): its tables are true, its conditions are conditions, its candidates compile. */
#include <check.h>
#include <dirent.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/condition.h"
#include "share.h"
#include "suites.h"

enum { MOST = 256, SAMPLE = 6, LINE = 2048 };

/* A line of BUGS.tsv. */
struct bug {
    char name[128], problem[64], link[256], kind[64], when[LINE], held_out[8];
};

/* The candidates for the host, and those for CUDA, re-created from the same threads. */
static const struct corpus {
    const char *table, *suffix;
} corpora[] = {{"tests/corpora/bugs/BUGS.tsv", "c"}, {"tests/corpora/bugs/CUDA.tsv", "cu"}};
enum { HOST, CUDA, CORPORA };

static const char twin_end[] = ".good.c"; /* the end of an honest twin's name */

static struct bug bugs[MOST];
static int bug_count;
static const struct corpus *corpus;

static void read_table(int of)
{
    char line[2 * LINE];
    corpus = &corpora[of];
    FILE *file = fopen(corpus->table, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    ck_assert_str_eq(line, "name\tproblem\tlink\tkind\twhen\theld_out\n");
    bug_count = 0;
    while (fgets(line, sizeof line, file)) {
        struct bug *bug = &bugs[bug_count++];
        char *rest = line, *const field[] = {bug->name, bug->problem, bug->link,
                                             bug->kind, bug->when,    bug->held_out};
        const size_t size[] = {sizeof bug->name, sizeof bug->problem, sizeof bug->link,
                               sizeof bug->kind, sizeof bug->when,    sizeof bug->held_out};
        ck_assert_int_lt(bug_count, MOST);
        for (size_t f = 0; f < sizeof field / sizeof *field; f++) {
            const char *end = strsep(&rest, "\t\n");
            ck_assert_msg(end && strlen(end) < size[f], "%s:%d ---> sh tests/corpora/bugs/table.sh",
                          corpus->table, bug_count + 1);
            strcpy(field[f], end);
        }
    }
    fclose(file);
}

/* The value of `tag` in a candidate's first lines, "// link: https://.."; empty without it. */
static void read_tag(const char *name, const char *tag, char *value)
{
    char path[256], line[LINE], start[32];
    snprintf(path, sizeof path, "tests/corpora/bugs/%s.%s", name, corpus->suffix);
    snprintf(start, sizeof start, "// %s: ", tag);
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "%s is in the table and is no file ---> sh tests/corpora/bugs/table.sh",
                  path);
    value[0] = '\0';
    while (fgets(line, sizeof line, file) && strncmp(line, "//", 2) == 0)
        if (strncmp(line, start, strlen(start)) == 0) {
            line[strcspn(line, "\n")] = '\0';
            strcpy(value, line + strlen(start));
            break;
        }
    fclose(file);
}

START_TEST(the_table_says_what_the_files_say)
{
    static const char *const told[] = {"title", "condition", "wrong"};
    char value[LINE];
    read_table(_i);
    for (int i = 0; i < bug_count; i++) {
        const struct bug *bug = &bugs[i];
        const char *const tags[][2] = {{"problem", bug->problem},
                                       {_i == HOST ? "link" : "thread", bug->link},
                                       {"kind", bug->kind},
                                       {"when", bug->when}};
        for (int t = 0; t < 4; t++) {
            read_tag(bug->name, tags[t][0], value);
            ck_assert_msg(strcmp(value, tags[t][1]) == 0,
                          "%s: %s is '%s' in the file, '%s' in the table ---> sh tests/corpora/bugs/table.sh",
                          bug->name, tags[t][0], value, tags[t][1]);
        }
        for (int t = 0; t < 3; t++) {
            read_tag(bug->name, told[t], value);
            ck_assert_msg(value[0] != '\0', "tests/corpora/bugs/%s.%s has no line '// %s: ..'", bug->name,
                          corpus->suffix, told[t]);
        }
        ck_assert_msg(problem_find(bug->problem) != NULL, "%s: no problem is called '%s'", bug->name,
                      bug->problem);
    }
    ck_assert_int_ge(bug_count, _i == HOST ? 80 : 50);
}
END_TEST

START_TEST(every_candidate_is_in_the_table)
{
    DIR *folder = opendir("tests/corpora/bugs");
    int candidates = 0;
    read_table(_i);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        const char *dot = strrchr(entry->d_name, '.');
        int found = 0;
        if (!dot || strcmp(dot + 1, corpus->suffix) != 0 || strcmp(entry->d_name, "agree.c") == 0 ||
            strcmp(entry->d_name, "list.c") == 0 || strstr(entry->d_name, twin_end))
            continue;
        for (int i = 0; i < bug_count; i++)
            found |= strlen(bugs[i].name) == (size_t)(dot - entry->d_name) &&
                     strncmp(bugs[i].name, entry->d_name, (size_t)(dot - entry->d_name)) == 0;
        ck_assert_msg(found, "tests/corpora/bugs/%s is not in %s ---> sh tests/corpora/bugs/table.sh",
                      entry->d_name, corpus->table);
        candidates++;
    }
    closedir(folder);
    ck_assert_int_eq(candidates, bug_count);
}
END_TEST

/* A CUDA candidate has the same title and thread as the host's of its name. Its condition may differ, as
 * limits that are real there do. */
START_TEST(a_cuda_candidate_is_of_the_same_thread)
{
    static struct bug cuda[MOST];
    read_table(CUDA);
    const int count = bug_count;
    memcpy(cuda, bugs, sizeof cuda);
    read_table(HOST);
    for (int c = 0; c < count; c++) {
        bool found = false;
        for (int i = 0; i < bug_count; i++)
            found =
                found ||
                (strcmp(cuda[c].name, bugs[i].name) == 0 && strcmp(cuda[c].problem, bugs[i].problem) == 0 &&
                 strcmp(cuda[c].link, bugs[i].link) == 0 && strcmp(cuda[c].kind, bugs[i].kind) == 0);
        ck_assert_msg(found,
                      "tests/corpora/bugs/%s.cu: no .c of that name is of its problem, thread and kind",
                      cuda[c].name);
    }
}
END_TEST

START_TEST(every_bug_has_a_thread_of_its_own)
{
    read_table(HOST);
    for (int i = 0; i < bug_count; i++) {
        char owner[64], name[64], where[16], rest[8];
        int number;
        const int read = sscanf(bugs[i].link, "https://github.com/%63[^/]/%63[^/]/%15[^/]/%d%7s", owner, name,
                                where, &number, rest);
        ck_assert_msg(read == 4 && (strcmp(where, "issues") == 0 || strcmp(where, "pull") == 0),
                      "%s: '%s' is no thread of an issue or a pull request", bugs[i].name, bugs[i].link);
        for (int j = 0; j < i; j++)
            ck_assert_msg(strcmp(bugs[i].link, bugs[j].link) != 0, "%s and %s have the same link",
                          bugs[i].name, bugs[j].name);
    }
}
END_TEST

START_TEST(every_condition_is_one)
{
    char side[LINE], why[512];
    read_table(_i);
    for (int i = 0; i < bug_count; i++) {
        struct condition *condition =
            condition_parse(problem_find(bugs[i].problem), bugs[i].when, why, sizeof why);
        ck_assert_msg(condition != NULL, "%s: '%s': %s", bugs[i].name, bugs[i].when, why);
        condition_free(condition);
        read_tag(bugs[i].name, "side", side);
        ck_assert_msg(!side[0] || strcmp(side, "necessary") == 0 || strcmp(side, "sufficient") == 0,
                      "%s: side is '%s'; necessary, sufficient or no such line was expected", bugs[i].name,
                      side);
    }
}
END_TEST

START_TEST(a_hash_holds_out_a_fifth)
{
    char collection[LINE];
    read_table(_i);
    for (int i = 0; i < bug_count; i++) {
        struct sha256_ctx hash;
        uint8_t digest[SHA256_DIGEST_SIZE];
        sha256_init(&hash);
        sha256_update(&hash, strlen(bugs[i].name), (const uint8_t *)bugs[i].name);
        sha256_digest(&hash, sizeof digest, digest);
        read_tag(bugs[i].name, "collection", collection);
        const char by_hash = digest[0] % 5 == 0 ? '1' : '0';
        ck_assert_msg(bugs[i].held_out[0] == (strcmp(collection, "second") == 0   ? '2'
                                              : strcmp(collection, "third") == 0  ? '3'
                                              : strcmp(collection, "fourth") == 0 ? '4'
                                                                                  : by_hash),
                      "%s: held_out is '%s' ---> sh tests/corpora/bugs/table.sh", bugs[i].name,
                      bugs[i].held_out);
    }
}
END_TEST

static bool has_twin(const struct bug *bug)
{
    return bug->held_out[0] >= '2';
}

/* A fault of a later collection and its twin are one file, with and without FIXED. */
START_TEST(every_fault_of_a_later_collection_has_a_twin)
{
    char path[256], text[LINE], include[256];
    int twins = 0, files = 0;
    read_table(HOST);
    for (int i = 0; i < bug_count; i++) {
        if (!has_twin(&bugs[i]))
            continue;
        snprintf(path, sizeof path, "tests/corpora/bugs/%.127s%s", bugs[i].name, twin_end);
        snprintf(include, sizeof include, "#define FIXED\n#include \"%.127s.c\"\n", bugs[i].name);
        FILE *file = fopen(path, "re");
        ck_assert_msg(file != NULL, "%s: no such file ---> write it, with FIXED defined", path);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        ck_assert_msg(strstr(text, include) != NULL, "%s: expected the lines\n%s", path, include);
        snprintf(path, sizeof path, "grep -Eq '^#if(n?def) FIXED' tests/corpora/bugs/%.127s.c", bugs[i].name);
        ck_assert_msg(system(path) == 0, "tests/corpora/bugs/%s.c asks nowhere for FIXED", bugs[i].name);
        twins++;
    }
    DIR *folder = opendir("tests/corpora/bugs");
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        files += strstr(entry->d_name, twin_end) != NULL;
    closedir(folder);
    ck_assert_int_ge(twins, 25);
    ck_assert_int_eq(files, twins);
}
END_TEST

static void compile_file(const char *name, const char *end)
{
    char command[512];
    snprintf(command, sizeof command,
             "cc -std=gnu11 -fopenmp -fsyntax-only -Wall -Wextra -Wno-unused -Wno-clobbered -Werror "
             "tests/corpora/bugs/%s%s",
             name, end);
    ck_assert_msg(system(command) == 0, "%s", command);
}

static void compile(int i)
{
    compile_file(bugs[i].name, ".c");
    if (has_twin(&bugs[i]))
        compile_file(bugs[i].name, twin_end);
}

START_TEST(a_sample_compiles)
{
    read_table(HOST);
    for (int i = 0; i < SAMPLE; i++)
        compile((int)((long)i * bug_count / SAMPLE));
}
END_TEST

/* A GPU runs them all (tests/corpora/bugs/run.sh --device cuda); the host compiles them. */
START_TEST(a_cuda_candidate_compiles)
{
    char command[512];
    if (system("command -v nvcc >/dev/null || test -x /usr/local/cuda/bin/nvcc") != 0)
        SKIP_TEST("no nvcc");
    read_table(CUDA);
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/local/cuda/bin nvcc -std=c++17 -arch=sm_90a -cubin -o /dev/null "
             "tests/corpora/bugs/%s.cu",
             bugs[share_rotation_of(bug_count)].name);
    ck_assert_msg(system(command) == 0, "%s", command);
}
END_TEST

START_TEST(all_compile)
{
    read_table(HOST);
    for (int i = _i; i < bug_count; i += 8)
        compile(i);
}
END_TEST

Suite *bugs_suite(void)
{
    Suite *suite = suite_create("bugs");
    TCase *table = tcase_create("table");
    tcase_set_timeout(table, 60);
    tcase_add_loop_test(table, the_table_says_what_the_files_say, 0, CORPORA);
    tcase_add_loop_test(table, every_candidate_is_in_the_table, 0, CORPORA);
    tcase_add_test(table, a_cuda_candidate_is_of_the_same_thread);
    tcase_add_test(table, every_bug_has_a_thread_of_its_own);
    tcase_add_loop_test(table, every_condition_is_one, 0, CORPORA);
    tcase_add_loop_test(table, a_hash_holds_out_a_fifth, 0, CORPORA);
    tcase_add_test(table, every_fault_of_a_later_collection_has_a_twin);
    tcase_add_test(table, a_sample_compiles);
    tcase_add_test(table, a_cuda_candidate_compiles);
    suite_add_tcase(suite, table);
    return suite;
}

Suite *bugs_compile_suite(void)
{
    Suite *suite = suite_create("bugs-compile");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, all_compile, 0, 8);
    suite_add_tcase(suite, all);
    return suite;
}

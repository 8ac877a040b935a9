/* Documents match the tree: links lead somewhere, commands and options exist, and all of them are
 * documented. */
#include <check.h>
#include <ctype.h>
#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "suites.h"
#include "verify/build/build.h"
#include "verify/worker/child.h"
#include "verify/session/run.h"

enum { README_LINES = 121, PATH = 1400, WORD = 64 };

static glob_t documents;

static char *read_document(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen(path, "re");
    ck_assert_msg(in != NULL, "%s cannot be read", path);
    if (getdelim(&text, &size, '\0', in) < 0)
        ck_abort_msg("%s is empty", path);
    fclose(in);
    return text;
}

/* --- links --- */

/* A heading as the address of a link: letters in lower case, blanks as '-', punctuation left out. */
static void make_anchor(const char *heading, size_t length, char *anchor, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < size; i++) {
        const unsigned char c = (unsigned char)heading[i];
        if (isalnum(c) || c == '-' || c == '_')
            anchor[used++] = (char)tolower(c);
        else if (c == ' ')
            anchor[used++] = '-';
    }
    anchor[used] = '\0';
}

static bool has_anchor(const char *text, const char *wanted)
{
    char anchor[WORD * 4];
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const size_t marks = strspn(line, "#");
        if (marks == 0 || line[marks] != ' ')
            continue;
        make_anchor(line + marks + 1, strcspn(line + marks + 1, "\n"), anchor, sizeof anchor);
        if (strcmp(anchor, wanted) == 0)
            return true;
    }
    return false;
}

/* `target` as written in the document at `path`: FILE, FILE#HEADING or #HEADING. */
static void check_link(const char *path, const char *target)
{
    char folder[PATH], file[PATH * 2];
    const size_t length = strcspn(target, "#");
    snprintf(folder, sizeof folder, "%s", path);
    if (length > 0)
        snprintf(file, sizeof file, "%s/%.*s", dirname(folder), (int)length, target);
    else
        snprintf(file, sizeof file, "%s", path);
    ck_assert_msg(access(file, R_OK) == 0, "%s: the link '%s' leads nowhere", path, target);
    if (target[length] == '\0')
        return;
    char *text = read_document(file);
    ck_assert_msg(has_anchor(text, target + length + 1), "%s: the link '%s' names no heading", path, target);
    free(text);
}

START_TEST(every_link_leads_somewhere)
{
    const char *path = documents.gl_pathv[_i];
    char *text = read_document(path), target[PATH];
    for (const char *p = text; (p = strstr(p, "](")) != NULL;) {
        p += 2;
        snprintf(target, sizeof target, "%.*s", (int)strcspn(p, ")\n"), p);
        if (strstr(target, "://") == NULL)
            check_link(path, target);
    }
    free(text);
}
END_TEST

/* --- code: spans between backticks, and indented or fenced lines --- */

typedef void code_handler(const char *path, const char *code);

static const char *line_end(const char *p)
{
    return p + strcspn(p, "\n");
}

static void handle_code(const char *path, const char *from, const char *to, code_handler *handle)
{
    char *code = strndup(from, (size_t)(to - from));
    ck_assert(code != NULL);
    for (char *c = code; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    handle(path, code);
    free(code);
}

/* The spans of a paragraph line; one may end on a later line. Returns where to go on. */
static const char *each_span(const char *path, const char *p, code_handler *handle)
{
    while (*p && *p != '\n') {
        if (*p++ != '`')
            continue;
        const char *end = strchr(p, '`');
        ck_assert_msg(end != NULL, "%s: a code span has no end: %.40s", path, p);
        handle_code(path, p, end, handle);
        p = end + 1;
    }
    return p;
}

static void each_code(const char *path, code_handler *handle)
{
    char *text = read_document(path);
    bool fenced = false;
    for (const char *p = text; *p; p += *p == '\n') {
        const bool fence = strncmp(p, "```", 3) == 0;
        if (fence || fenced || strncmp(p, "    ", 4) == 0) {
            if (!fence)
                handle_code(path, p, line_end(p), handle);
            fenced = fenced != fence;
            p = line_end(p);
        } else {
            p = each_span(path, p, handle);
        }
    }
    free(text);
}

/* --- what there is --- */

static const char *const *known_commands(void)
{
    static const char *name[32];
    int n = 0;
    if (name[0])
        return name;
    CLI("--help");
    ck_assert_int_eq(cli.status, 0);
    for (const char *p = cli.out; (p = strstr(p, "\n  unseen ")) != NULL && n < 31;) {
        p += strlen("\n  unseen ");
        name[n++] = strndup(p, strspn(p, "abcdefghijklmnopqrstuvwxyz"));
    }
    ck_assert_int_gt(n, 5);
    name[n] = NULL;
    return name;
}

/* Is the option, "--json", in a text of help? */
static bool has_option(const char *help, const char *option)
{
    const size_t length = strlen(option);
    for (const char *p = help; (p = strstr(p, option)) != NULL; p += length)
        if (!isalpha((unsigned char)p[length]) && p[length] != '-')
            return true;
    return false;
}

/* The next option at or after *p, "--json" without its value; false: none. */
static bool next_option(const char **p, char option[WORD])
{
    while ((*p = strstr(*p, "--")) != NULL) {
        const size_t length = 2 + strspn(*p + 2, "abcdefghijklmnopqrstuvwxyz-");
        snprintf(option, WORD, "%.*s", (int)length, *p);
        *p += length;
        if (length > 2 && option[2] != '-')
            return true;
    }
    return false;
}

/* --- commands in a document --- */

static void check_command(const char *path, const char *code)
{
    char command[WORD], option[WORD], *line = strndup(code, strcspn(code, "#"));
    const char *p = line + strlen("unseen ");
    snprintf(command, sizeof command, "%.*s", (int)strspn(p, "abcdefghijklmnopqrstuvwxyz"), p);
    if (command[0]) {
        CLI(command, "--help");
        ck_assert_msg(cli.status == 0, "%s: '%s' names no command of the tool", path, code);
        while (next_option(&p, option))
            ck_assert_msg(has_option(cli.out, option), "%s: '%s': %s has no %s", path, code, command, option);
    }
    free(line);
}

static void check_option(const char *path, const char *code)
{
    char option[WORD];
    const char *p = code;
    if (!next_option(&p, option))
        return;
    for (const char *const *name = known_commands(); *name; name++) {
        CLI(*name, "--help");
        if (has_option(cli.out, option))
            return;
    }
    ck_abort_msg("%s: no command has an option %s", path, option);
}

static void check_target(const char *path, const char *code)
{
    char rule[WORD];
    char *makefile = read_document(cli_repository("Makefile"));
    const char *name = code + strlen("make ");
    const size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz-");
    snprintf(rule, sizeof rule, "\n%.*s:", (int)length, name);
    if (length > 0 && name[length] != '/') /* a file that it makes */
        ck_assert_msg(strstr(makefile, rule) != NULL, "%s: '%s': the Makefile has no such target", path,
                      code);
    free(makefile);
}

static void check_typed(const char *path, const char *code)
{
    code += strspn(code, " \t");
    code += strncmp(code, "$ ", 2) == 0 ? 2 : 0;
    code += strncmp(code, "build/", 6) == 0 ? 6 : 0;
    if (strncmp(code, "unseen ", 7) == 0)
        check_command(path, code);
    else if (strncmp(code, "make ", 5) == 0)
        check_target(path, code);
    else if (strncmp(code, "--", 2) == 0)
        check_option(path, code);
}

START_TEST(what_a_document_tells_to_type_exists)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s", cli_repository(documents.gl_pathv[_i]));
    each_code(path, check_typed);
}
END_TEST

/* --- required documents --- */

START_TEST(every_command_and_option_is_documented)
{
    char *text = read_document(cli_repository("doc/commands.md")), wanted[WORD * 2], option[WORD];
    for (const char *const *name = known_commands(); *name; name++) {
        snprintf(wanted, sizeof wanted, "`unseen %s", *name);
        ck_assert_msg(strstr(text, wanted) != NULL, "doc/commands.md says nothing of 'unseen %s'", *name);
        CLI(*name, "--help");
        for (const char *p = strstr(cli.out, "\n\n"); p && next_option(&p, option);)
            ck_assert_msg(has_option(text, option), "doc/commands.md says nothing of %s of 'unseen %s'",
                          option, *name);
    }
    free(text);
}
END_TEST

/* Does a command's --help list the option? Its list has all names in column 6: "      --json=FILE", "  -q,
 * --quiet". */
static bool takes_option(const char *help, const char *option)
{
    enum { COLUMN = 6 };
    for (const char *p = help; (p = strstr(p, option)) != NULL; p++)
        if (p - help > COLUMN && p[-COLUMN - 1] == '\n' && !isalpha((unsigned char)p[strlen(option)]) &&
            p[strlen(option)] != '-')
            return true;
    return false;
}

/* The section's rows that begin with the option: does their second cell name the command? */
static bool is_in_row(const char *section, const char *option, const char *command)
{
    for (const char *row = strstr(section, "\n| `-"); row; row = strstr(row + 1, "\n| `-")) {
        const char *const of = strstr(row + 3, " | "), *const end = of ? strstr(of + 3, " | ") : NULL;
        ck_assert_msg(end != NULL, "doc/commands.md: a row has no three cells: %.60s", row);
        char *first = strndup(row, (size_t)(of - row)), *second = strndup(of, (size_t)(end - of));
        const bool found = has_option(first, option) && has_option(second, command);
        free(first);
        free(second);
        if (found)
            return true;
    }
    return false;
}

/* Below "## Options" the second column names exactly the commands that take an option. */
START_TEST(the_table_of_options_names_the_commands_that_take_them)
{
    char *const text = read_document(cli_repository("doc/commands.md")), option[WORD];
    char *const section = strstr(text, "\n## Options\n"), *const end = strstr(text, "\n## Exit status\n");
    int rows = 0;
    ck_assert(section && end && section < end);
    *end = '\0';
    for (const char *const *name = known_commands(); *name; name++) {
        CLI(*name, "--help");
        for (const char *row = strstr(section, "\n| `-"); row; row = strstr(row + 1, "\n| `-"), rows++) {
            char *const first = strndup(row, (size_t)(strstr(row + 3, " | ") - row));
            for (const char *p = first; next_option(&p, option);)
                ck_assert_msg(is_in_row(section, option, *name) == takes_option(cli.out, option),
                              "doc/commands.md and --help differ: does 'unseen %s' take %s?", *name, option);
            free(first);
        }
    }
    ck_assert_int_gt(rows, 500);
    free(text);
}
END_TEST

/* START_TEST(name) in any of the tests' files. */
static bool is_test(const char *name, size_t length)
{
    static const char *const places[] = {"tests/test_*.c", "tests/*/test_*.c", "tests/*/*/test_*.c"};
    char wanted[160];
    glob_t files;
    bool found = false;
    snprintf(wanted, sizeof wanted, "START_TEST(%.*s)", (int)length, name);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        ck_assert_int_eq(glob(places[i], i > 0 ? GLOB_APPEND : 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc && !found; i++) {
        char *text = read_document(files.gl_pathv[i]);
        found = strstr(text, wanted) != NULL;
        free(text);
    }
    globfree(&files);
    return found;
}

/* Every row of the table of promises names tests, and all of these exist. */
START_TEST(every_promise_has_its_test)
{
    char *text = read_document("doc/threat-model.md");
    const char *row = strstr(text, "\n| promise | test |\n");
    int rows = 0;
    ck_assert(row != NULL);
    for (row = strchr(row + 2, '\n') + 1; strncmp(row, "| ", 2) == 0 || strncmp(row, "|-", 2) == 0;
         row = strchr(row, '\n') + 1) {
        const char *end = strchr(row, '\n'), *name = row;
        int named = 0;
        while (row[1] == ' ' && (name = strchr(name, '`')) != NULL && name < end) {
            const size_t length = strcspn(++name, "`");
            if (memchr(name, '_', length)) {
                ck_assert_msg(is_test(name, length), "doc/threat-model.md: there is no test %.*s",
                              (int)length, name);
                named++;
            }
            name += length + 1;
        }
        ck_assert_msg(row[1] == '-' || named > 0, "doc/threat-model.md: no test in: %.*s", (int)(end - row),
                      row);
        rows += row[1] == ' ';
    }
    ck_assert_int_gt(rows, 10);
    free(text);
}
END_TEST

START_TEST(the_readme_is_one_page)
{
    char *text = read_document("README.md");
    int lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    ck_assert_int_lt(lines, README_LINES);
    free(text);
}
END_TEST

/* --- doc/scores.md: the owner of each end --- */

static int rows_of(const char *text, const char *kind)
{
    char mark[WORD];
    int rows = 0;
    snprintf(mark, sizeof mark, "\n| %s: `", kind);
    for (const char *row = strstr(text, mark); row; row = strstr(row + 1, mark))
        rows++;
    return rows;
}

static void expect_owner(const char *text, const char *kind, const char *name, enum owner owner)
{
    char row[WORD * 2];
    snprintf(row, sizeof row, "\n| %s: `%s` | %s | ", kind, name, owner_name(owner));
    ck_assert_msg(strstr(text, row) != NULL, "doc/scores.md has no line %s", row + 1);
}

START_TEST(every_end_has_an_owner_in_the_document)
{
    char *const text = read_document("doc/scores.md");
    for (int i = 0; i < BUILD_STATUSES; i++)
        expect_owner(text, "build", build_status_name((enum build_status)i),
                     build_status_owner((enum build_status)i));
    for (int i = 0; i < RUN_STATUSES; i++)
        expect_owner(text, "run", run_status_name((enum run_status)i), run_status_owner((enum run_status)i));
    for (int i = 0; i < CHILD_STATUSES; i++)
        expect_owner(text, "process", child_status_name((enum child_status)i),
                     child_status_owner((enum child_status)i));
    for (int i = 0; i < CAUSE_COUNT; i++)
        expect_owner(text, "cause", cause_name((enum cause)i), cause_owner((enum cause)i));
    ck_assert_int_eq(rows_of(text, "build"), BUILD_STATUSES);
    ck_assert_int_eq(rows_of(text, "run"), RUN_STATUSES);
    ck_assert_int_eq(rows_of(text, "process"), CHILD_STATUSES);
    ck_assert_int_eq(rows_of(text, "cause"), CAUSE_COUNT);
    free(text);
}
END_TEST

/* --- names of a reference --- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Does the text have the word, without a letter beside it? */
static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *c = text; (c = strstr(c, word)) != NULL; c++)
        if ((c == text || !is_name(c[-1])) && !is_name(c[length]))
            return true;
    return false;
}

static int expect_names(const char *page, const char *header, const char *path)
{
    static const char *const beginnings[] = {"REF_", "num_", "acc_", "error_of_"};
    int names = 0;
    for (const char *c = header; *c; c++) {
        char word[WORD];
        size_t length = 0;
        while (is_name(c[length]))
            length++;
        if (length == 0 || length >= WORD)
            continue;
        snprintf(word, sizeof word, "%.*s", (int)length, c);
        for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
            if (strncmp(word, beginnings[i], strlen(beginnings[i])) == 0 && word[strlen(beginnings[i])]) {
                ck_assert_msg(has_word(page, word, length), "%s is in %s, and not in the page", word, path);
                names++;
            }
        c += length - 1;
    }
    return names;
}

START_TEST(every_name_that_a_reference_may_use_is_explained)
{
    char *const page = read_document("doc/reference-functions.md");
    glob_t headers;
    int names = 0;
    ck_assert_int_eq(glob("reference/*.h", 0, NULL, &headers), 0);
    for (size_t i = 0; i < headers.gl_pathc; i++) {
        char *const header = read_document(headers.gl_pathv[i]);
        names += expect_names(page, header, headers.gl_pathv[i]);
        free(header);
    }
    ck_assert_int_gt(names, 100);
    globfree(&headers);
    free(page);
}
END_TEST

Suite *docs_suite(void)
{
    static const char *const places[] = {"*.md",       "doc/*.md",     "doc/*/*.md",    "problems/*/*.md",
                                         "tests/*.md", "tests/*/*.md", "tests/*/*/*.md"};
    Suite *suite = suite_create("docs");
    TCase *read = tcase_create("read"), *typed = tcase_create("typed");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        glob(places[i], i > 0 ? GLOB_APPEND : 0, NULL, &documents);
    const int count = (int)documents.gl_pathc;
    tcase_add_test(read, every_end_has_an_owner_in_the_document);
    tcase_add_test(read, the_readme_is_one_page);
    tcase_add_test(read, every_name_that_a_reference_may_use_is_explained);
    tcase_add_test(read, every_promise_has_its_test);
    tcase_add_loop_test(read, every_link_leads_somewhere, 0, count);
    tcase_add_checked_fixture(typed, cli_setup, cli_teardown);
    tcase_set_timeout(typed, 60);
    tcase_add_test(typed, every_command_and_option_is_documented);
    tcase_add_test(typed, the_table_of_options_names_the_commands_that_take_them);
    tcase_add_loop_test(typed, what_a_document_tells_to_type_exists, 0, count);
    suite_add_tcase(suite, read);
    suite_add_tcase(suite, typed);
    return suite;
}

/* The tutorial, followed to the letter. Every file of the page is written, every command run, and the tool's
 * output compared with the page. */
#include "own.h"
#include "share.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINE = 2000 };

static int files, commands, lines;

/* --- output on the page, compared with the real one --- */

static size_t number_length(const char *text)
{
    size_t length = 0;
    if (isdigit((unsigned char)text[0]))
        while (isdigit((unsigned char)text[length]) ||
               (text[length] == '.' && isdigit((unsigned char)text[length + 1])))
            length++;
    return length;
}

/* The line without blanks at its end. A count or a time (a number of more than one digit) may differ. */
static bool says(const char *printed, const char *shown)
{
    while (*printed && *shown && *shown != '\n') {
        const size_t a = number_length(printed), b = number_length(shown);
        if ((a > 1 || b > 1) && a > 0 && b > 0) {
            printed += a;
            shown += b;
        } else if (*printed++ != *shown++)
            return false;
    }
    return *printed == '\n' && (*shown == '\n' || *shown == '\0');
}

/* The line of `printed` with that text, or NULL: the first, or after `...` any. */
static const char *find_line(const char *printed, const char *shown, bool any)
{
    for (; *printed; printed = strchr(printed, '\n') + 1) {
        if (says(printed, shown))
            return printed;
        if (!any || !strchr(printed, '\n'))
            break;
    }
    return NULL;
}

static char *read_all(FILE *in)
{
    char *text = NULL;
    size_t size = 0;
    if (getdelim(&text, &size, '\0', in) < 0) {
        free(text);
        text = strdup("");
    }
    ck_assert_ptr_nonnull(text);
    return text;
}

/* A command, and the lines below it up to the next. */
static void follow_command(char *command, char *shown)
{
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    char *const printed = read_all(pipe);
    const int status = pclose(pipe);
    const char *at = printed;
    bool any = false;
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "%s: status %d\n%s", command, status,
                  printed);
    for (char *line = strtok(shown, "\n"); line; line = strtok(NULL, "\n")) {
        if (strcmp(line, "...") == 0) {
            any = true;
            continue;
        }
        at = find_line(at, line, any);
        ck_assert_msg(at != NULL, "%s: '%s' was expected in\n%.3000s", command, line, printed);
        at = strchr(at, '\n') + 1;
        any = false;
        lines++;
    }
    free(printed);
    commands++;
}

static void follow_console(char *block)
{
    ck_assert_msg(strncmp(block, "$ ", 2) == 0, "a console block begins with '$ ': %s", block);
    for (char *command = block; command;) {
        char *next = strstr(command, "\n$ ");
        if (next)
            *next++ = '\0';
        char *const shown = strchr(command, '\n');
        if (shown)
            *shown = '\0';
        follow_command(command + 2, shown ? shown + 1 : command + strlen(command));
        command = next;
    }
}

/* --- the page --- */

static void write_block(const char *name, const char *text)
{
    char path[LINE];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(name, " "), name);
    FILE *out = fopen(path, strstr(name, "(continued)") ? "ae" : "we");
    ck_assert_msg(out != NULL, "%s cannot be written", path);
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
    files++;
}

static void follow_block(const char *heading, char *text, bool gpu)
{
    char language[32] = "", rest[LINE] = "";
    ck_assert_int_ge(sscanf(heading, "%31s %1999[^\n]", language, rest), 1);
    if (strcmp(language, "console") != 0)
        write_block(rest, text);
    else if (gpu == (strcmp(rest, "cuda") == 0))
        follow_console(text);
}

void own_follow_tutorial(bool gpu)
{
    FILE *in = fopen(cli_repository("doc/problem-tutorial.md"), "re");
    ck_assert_ptr_nonnull(in);
    char *const page = read_all(in), *const path = strdup(getenv("PATH")), with[6000];
    fclose(in);
    own_sh("mkdir bin && ln -s %s bin/unseen && mkdir rms_norm", cli_tool());
    snprintf(with, sizeof with, "%s/bin:%s", getenv("TMPDIR"), path);
    setenv("PATH", with, 1);
    for (const char *at = page; (at = strstr(at, "\n```"));) {
        const char *const text = strchr(at + 4, '\n') + 1, *const end = strstr(text - 1, "\n```");
        ck_assert_msg(end != NULL, "a block has no end: %.40s", at);
        char *const heading = strndup(at + 4, (size_t)(text - 1 - at - 4));
        char *const block = strndup(text, (size_t)(end + 1 - text));
        follow_block(heading, block, gpu);
        free(heading);
        free(block);
        at = end + 4;
    }
    setenv("PATH", path, 1);
    free(path);
    free(page);
    ck_assert_int_eq(files, 7);
}

START_TEST(the_tutorial_can_be_followed_to_the_letter)
{
    SHARE_TEST(0, 5);
    own_follow_tutorial(false);
    ck_assert_int_ge(commands, 14);
    ck_assert_int_ge(lines, 16);
}
END_TEST

TCase *own_tutorial_case(void)
{
    TCase *tests = tcase_create("tutorial");
    tcase_add_checked_fixture(tests, own_setup, own_teardown);
    tcase_set_timeout(tests, 400);
    tcase_add_test(tests, the_tutorial_can_be_followed_to_the_letter);
    return tests;
}

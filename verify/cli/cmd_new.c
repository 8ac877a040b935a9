/* unseen new: creates a problem's folder to start from */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "prepare.h"
#include "options.h"
#include "problems/suggest.h"
#include "reports/record/program.h"
#include "reports/record/text.h"
#include "verify/problem/scaffold.h"

enum { NAME_MOST = 48 };

/* The name becomes a function's name in C and in C++. */
static bool is_usable(const char *name)
{
    static const char *const taken[] = {
        "auto",     "bool",    "break",  "case",     "char",   "class",  "const",    "continue", "default",
        "delete",   "do",      "double", "else",     "enum",   "extern", "float",    "for",      "goto",
        "if",       "inline",  "int",    "long",     "main",   "new",    "private",  "public",   "register",
        "restrict", "return",  "short",  "signed",   "sizeof", "static", "struct",   "switch",   "template",
        "this",     "typedef", "union",  "unsigned", "using",  "void",   "volatile", "while"};
    if (!isalpha((unsigned char)*name) || strlen(name) > NAME_MOST)
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return false;
    return true;
}

static void print_next(const char *directory, const char *name)
{
    char folder[1400];
    snprintf(folder, sizeof folder, "%s/%s", directory, name);
    printf("wrote %s; it verifies as it is:\n  ", folder);
    program_print(stdout);
    printf("verify ");
    text_shell(stdout, folder);
    printf(" ");
    strncat(folder, "/baseline.c", sizeof folder - strlen(folder) - 1);
    text_shell(stdout, folder);
    printf(" --device host --effort quick\n");
}

/* The six forms of a reference (reference/context.h), with the simplest problem of each. */
static const struct {
    const char *form, *problem;
} examples[] = {{"contraction", "gemm_fp8"}, {"rows", "softmax"},        {"discrete", "topk"},
                {"recurrence", "kda"},       {"elements", "rope_cache"}, {"folds", "cross_entropy"}};

/* NULL after an error. */
static const char *example_of(const char *form)
{
    struct suggestion near = {.word = form};
    char meant[80];
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        if (strcmp(form, examples[i].form) == 0)
            return examples[i].problem;
        suggest_offer(&near, examples[i].form);
    }
    options_error("--form '%s'%s; expected contraction, rows, discrete, recurrence, elements or folds\n"
                  "---> doc/reference-functions.md says which form computes what",
                  form, suggest_text(&near, meant, sizeof meant));
    return NULL;
}

/* The name of the problem to copy. NULL after an error. */
static const char *choose_like(const struct options *options)
{
    if (options->like && options->form)
        options_error("--like and --form were found; expected one of them\n---> leave one out");
    else if (options->form)
        return example_of(options->form);
    else if (options->like)
        return options->like;
    else
        options_error(
            "found no --like; expected the problem to begin with, or a --form\n---> for example --like "
            "softmax; unseen list says what there is");
    return NULL;
}

int command_new(const struct options *options)
{
    const char *const name = options->argument[0], *const directory = options->out ? options->out : ".";
    const struct problem *like;
    char text[1600];
    if (!is_usable(name)) {
        options_error("'%s' cannot be a problem's name; a C function's was expected: letters, digits and "
                      "'_', at most %d, "
                      "no word of the language\n---> choose another",
                      name, NAME_MOST);
        return EXIT_USAGE;
    }
    const char *const word = choose_like(options);
    if (!word)
        return EXIT_USAGE;
    signal(SIGXFSZ, SIG_IGN); /* writing beyond a file size limit becomes an error with a message */
    const int status = prepare_defined_problem("new --like", word, &like);
    if (status != 0)
        return status;
    const enum folder_status written = scaffold_write(like, name, directory, text, sizeof text);
    if (written != FOLDER_OK) {
        options_error("%s", text);
        return written == FOLDER_INPUT ? EXIT_USAGE : EXIT_ENVIRONMENT;
    }
    print_next(directory, name);
    return EXIT_GENERAL;
}

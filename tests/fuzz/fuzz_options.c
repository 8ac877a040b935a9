/* The words of a command line. */
#include <argp.h>
#include <getopt.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static jmp_buf usage;
static FILE *errors;

static __attribute__((noreturn)) void leave(int status)
{
    FUZZ_CHECK(status == 2);
    longjmp(usage, 1);
}

#define options_run fuzz_options_run
#define options_error fuzz_options_error
#define options_problem fuzz_options_problem
#define options_output fuzz_options_output
#define options_usage fuzz_options_usage
#define options_whole fuzz_options_whole
#define options_seconds fuzz_options_seconds
#define options_size fuzz_options_size
#define options_effort fuzz_options_effort
#define options_color fuzz_options_color
#define options_tolerance fuzz_options_tolerance
#define options_forbid fuzz_options_forbid
#define options_take_away fuzz_options_take_away
#define exit leave
#undef stderr
#define stderr errors
#include "verify/cli/options_values.c"

#include "verify/cli/options.c"
#include "verify/cli/errors.c"
#undef exit
#undef stderr

static int look_at(const struct options *o)
{
    FUZZ_CHECK(o->timeout > 0 && o->timeout <= 86400 && o->jobs >= 1 && o->jobs <= 64);
    FUZZ_CHECK(o->runs >= 1 && o->runs <= 10000 && o->unseen >= -1 && o->unseen <= 1000000);
    FUZZ_CHECK(o->seed >> 53 == 0 && o->arguments >= 0 && o->arguments <= ARGUMENTS_MAX);
    for (int i = 0; i < o->arguments; i++)
        FUZZ_CHECK(o->argument[i] != NULL);
    return 0;
}

static const struct command commands[] = {
    {"list", "", 0, 0, "", "nothing", look_at},
    {"draw", "PROBLEM", 1, 1, "yusdpeR", "another --seen", look_at},
    {"verify", "PROBLEM CANDIDATE", 2, 2, "dSpuesbgQADjcnLxftJTvqRiw", "nearly all", look_at},
    {"shrink", "PROBLEM CANDIDATE CONFIGURATION", 3, 3, "dptTrvqiwmhCloLm", "the rest", look_at},
};

/* argp itself answers these, and leaves. */
static bool asks_for_help(const char *word)
{
    static const char *const known[] = {"--help", "--usage", "--version"};
    const size_t length = strcspn(word, "=");
    for (int i = 0; i < 3; i++)
        if (length > 2 && strncmp(word, known[i], length) == 0)
            return true;
    return word[0] == '-' && word[1] != '-' && strpbrk(word, "hV?");
}

/* Words separated by NUL; the first byte chooses the command. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { WORDS = 24 };
    char *argv[WORDS + 2] = {"unseen"};
    int argc = 1;
    if (size == 0)
        return 0;
    char *text = fuzz_text(data + 1, size - 1);
    for (char *word = text; word < text + size - 1 && argc <= WORDS; word += strlen(word) + 1) {
        if (asks_for_help(word))
            break;
        argv[argc++] = word;
    }
    if (!errors)
        errors = fopen("/dev/null", "we");
    FUZZ_CHECK(errors != NULL);
    if (setjmp(usage) == 0)
        FUZZ_CHECK(options_run(&commands[data[0] % 4], argc, argv) == 0);
    free(text);
    return 0;
}

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
#define options_apply fuzz_options_apply
#define option_take fuzz_option_take
#define exit leave
#undef stderr
#define stderr errors
#include "verify/cli/option_values.c"
#include "verify/cli/options_apply.c"

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

/* A usage error leaves by a jump, and argp's allocations stay behind: 540 bytes each time, 14 GB in an
 * hour. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FREES
#endif
#endif

#ifdef FREES
#include <sanitizer/allocator_interface.h>

enum { KEPT = 1024 };
static const volatile void *kept[KEPT];
static int kept_count = -1; /* nothing is kept */

static void note_malloc(const volatile void *block, size_t size)
{
    (void)size;
    if (kept_count >= 0 && kept_count < KEPT)
        kept[kept_count++] = block;
}

static void note_free(const volatile void *block)
{
    for (int i = 0; i < kept_count; i++)
        if (kept[i] == block)
            kept[i] = NULL;
}

static void keep(void)
{
    static bool installed;
    if (!installed)
        FUZZ_CHECK(__sanitizer_install_malloc_and_free_hooks(note_malloc, note_free) > 0);
    installed = true;
    kept_count = 0;
}

/* After a complete run everything is freed, or belongs to a longer-lived owner. */
static void drop(bool jumped)
{
    const int count = kept_count;
    kept_count = -1;
    for (int i = 0; i < count && jumped; i++)
        free((void *)(uintptr_t)kept[i]);
}
#else
static void keep(void)
{
}

static void drop(bool jumped)
{
    (void)jumped;
}
#endif

static const struct command commands[] = {
    {"list", "", 0, 0, "no options", look_at},
    {"draw", "PROBLEM", 1, 1, "another --seen", look_at},
    {"verify", "PROBLEM CANDIDATE", 2, 2, "nearly all options", look_at},
    {"export", "PROBLEM", 1, 1, "sizes and another --out", look_at},
    {"shrink", "PROBLEM CANDIDATE CONFIGURATION", 3, 3, "counts and --after", look_at},
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
    FUZZ_CHECK(errors != NULL && setvbuf(errors, NULL, _IONBF, 0) == 0);
    keep();
    if (setjmp(usage) == 0) {
        FUZZ_CHECK(options_run(&commands[data[0] % 4], argc, argv, NULL) == 0);
        drop(false);
    } else {
        drop(true);
    }
    free(text);
    return 0;
}

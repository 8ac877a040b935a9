/* The interpreter's view of the machine, and the text that the process under test sends. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child_internal.h"
#include "verify/sandbox/sandbox.h"

/* The process under test wrote the text, so it must not be able to control a terminal. */
void child_copy_words(const struct reply *reply, char *text, size_t text_size)
{
    char words[CHANNEL_TEXT];
    memcpy(words, reply->text, sizeof words);
    words[sizeof words - 1] = 0;
    for (char *c = words; *c; c++)
        /* also beyond ASCII: U+009B begins a control sequence like ESC [ */
        if (*c != '\n' && (*c < ' ' || *c > '~'))
            *c = '?';
    snprintf(text, text_size, "%s", words);
}

/* Triton compiles a launcher with cc; load_inline uses c++, nvcc and ninja. */
static const char *const programs[] = {"cc", "gcc", "c++", "g++", "as", "ld", "nvcc", "ptxas", "ninja", NULL};

void spawn_python_show(struct sandbox *sandbox, const struct python *python)
{
    char scripts[PYTHON_PATH];
    snprintf(scripts, sizeof scripts, "%s", python->script);
    *strrchr(scripts, '/') = '\0';
    for (int i = 0; i < python->program.folders; i++)
        sandbox_show(sandbox, python->program.folder[i]);
    for (int i = 0; programs[i]; i++)
        sandbox_show_program(sandbox, programs[i]);
    sandbox_show(sandbox, scripts);
    sandbox_show(sandbox, python->folder);
    if (*python->adapter)
        sandbox_show(sandbox, python->adapter);
    if (*python->task) {
        char folder[PYTHON_PATH];
        snprintf(folder, sizeof folder, "%s", python->task);
        *strrchr(folder, '/') = '\0';
        sandbox_show(sandbox, folder);
    }
    sandbox_lend(sandbox, python->cache);
}

__attribute__((format(printf, 3, 4))) static void add(char **environment, int *count, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&environment[*count], format, arguments) >= 0)
        ++*count;
    va_end(arguments);
}

/* Puts the interpreter's own programs first (ninja), and caches into the private folder. */
int spawn_python_environment(char **environment, const struct python *python, int threads)
{
    char bin[PROGRAM_PATH];
    const char *const path = getenv("PATH"), *const cuda = getenv("CUDA_HOME"), *const cache = python->cache;
    int n = 0;
    snprintf(bin, sizeof bin, "%s", python->program.path);
    *strrchr(bin, '/') = '\0';
    add(environment, &n, "PATH=%s:%s", bin, path ? path : "/usr/bin:/bin");
    add(environment, &n, "HOME=%s", cache);
    add(environment, &n, "USER=unseen");
    add(environment, &n, "UNSEEN_SOLUTION=%s", python->folder);
    if (*python->task)
        add(environment, &n, "UNSEEN_TASK=%s", python->task);
    add(environment, &n, "TMPDIR=%s/tmp", cache);
    add(environment, &n, "XDG_CACHE_HOME=%s/xdg", cache);
    add(environment, &n, "TRITON_CACHE_DIR=%s/triton", cache);
    add(environment, &n, "TORCH_EXTENSIONS_DIR=%s/extensions", cache);
    add(environment, &n, "TORCHINDUCTOR_CACHE_DIR=%s/inductor", cache);
    add(environment, &n, "CUDA_CACHE_PATH=%s/cuda", cache);
    if (cuda)
        add(environment, &n, "CUDA_HOME=%s", cuda);
    if (threads > 0)
        add(environment, &n, "MAX_JOBS=%d", threads);
    return n;
}

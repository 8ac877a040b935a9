/* The preprocessed text is the key's core, and not a list of headers with their hashes. It holds every header
 * that was found, and so a new one that hides another. It also decides __has_include, CPATH and links. It
 * costs 0.03 s for C and 0.5 s for CUDA, which has a text for the host and one for the device.
 *
 * Three inputs are in no preprocessed text. A precompiled header is found by -fpch-preprocess. The assembler
 * itself lists files of .incbin and .include. Time macros are found by -Wdate-time: such an object is of use
 * once only. */
#include "object_key.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object_store.h"
#include "scratch.h"

/* Raise RECIPE when equal inputs begin to give another object. */
enum { RECIPE = 1, PASSES = 2, NAMES = 16384, PREPROCESS_SECONDS = 60 };

/* Variables that compilers, linkers and the loader obey. */
static const char *const obeyed[] = {
    "PATH",          "CPATH",           "C_INCLUDE_PATH",    "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
    "COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH", "LD_RUN_PATH",        "LD_LIBRARY_PATH",
    "LD_PRELOAD",    "LDEMULATION",     "GNUTARGET",         "CUDA_HOME",          "GCC_COMPARE_DEBUG"};

/* These may select another host compiler, whose version is then unknown here. */
static const char *const hidden[] = {"NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};

static bool is_cuda(const struct build *build)
{
    return strcmp(build->language, "cuda") == 0;
}

/* A file of one pass: its text (.i) or what the compiler says (.log). */
static void name_pass(const struct build *build, int pass, const char *suffix, char path[600])
{
    snprintf(path, 600, "%.560s/pass%d%s", build->directory, pass, suffix);
}

static void name_pipe(const struct build *build, char path[600])
{
    snprintf(path, 600, "%.560s/assembler.d", build->directory);
}

static bool file_has(const char *path, const char *words)
{
    size_t size = 0;
    char *const text = scratch_read_own(path, &size);
    const bool found = !text || memmem(text, size, words, strlen(words)) != NULL;
    free(text);
    return found;
}

/* --- the texts --- */

/* Adds the options of one pass. nvcc -E has the text of the device; without the macros that stand for the
 * device it has the text of the host. */
static void add_pass(struct compiler_command *command, const struct build *build, int pass)
{
    char text[600];
    name_pass(build, pass, ".i", text);
    compiler_add_words(command, is_cuda(build) ? "-Xcompiler -Wdate-time" : "-Wdate-time -fpch-preprocess");
    if (pass == 1)
        compiler_add_words(command,
                           "-U__CUDA_ARCH__ -U__CUDA_ARCH_SPECIFIC__ -U__CUDA_ARCH_FAMILY_SPECIFIC__ "
                           "-UCUDA_DOUBLE_MATH_FUNCTIONS");
    compiler_add(command, "-E");
    compiler_add(command, "-o");
    compiler_add(command, "%s", text);
}

/* Writes the text of one pass and sets its hash. False: there is none, or it is of use once only. */
static bool preprocess(const struct compiler_command *command, const struct build *build,
                       const struct build_options *options, int pass, char hex[65])
{
    char text[600], log[600], ignored[2048];
    struct compiler_command with = {.count = 0};
    const struct compiling compiling = {options->path, build->directory, log,
                                        fmin(options->timeout, PREPROCESS_SECONDS), .untrusted = true};
    for (int i = 0; i < command->count; i++)
        if (strcmp(command->argv[i], "-o") == 0)
            i++;
        else
            compiler_add(&with, "%s", command->argv[i]);
    add_pass(&with, build, pass);
    if (pass == 1)
        compiler_add(&with, "-U__CUDA_ARCH_FEAT_SM%s_ALL", options->arch);
    name_pass(build, pass, ".i", text);
    name_pass(build, pass, ".log", log);
    return compiler_fits(&with) && compiler_run(&with, &compiling, ignored, sizeof ignored) == BUILD_OK &&
           !file_has(log, "-Wdate-time") && !file_has(text, "#pragma GCC pch_preprocess") &&
           scratch_take(text, NULL, hex) == 0;
}

/* Equal texts: this nvcc has no pass for the device in -E, so that the device's text is unknown. */
static bool write_texts(FILE *out, const struct compiler_command *command, const struct build *build,
                        const struct build_options *options)
{
    char hex[PASSES][65] = {"", ""};
    bool known[PASSES] = {false};
    const int passes = is_cuda(build) ? PASSES : 1;
#pragma omp parallel for num_threads(passes)
    for (int pass = 0; pass < passes; pass++)
        known[pass] = preprocess(command, build, options, pass, hex[pass]);
    fprintf(out, "texts %s %s\n", hex[0], hex[1]);
    return known[0] && (passes == 1 || (known[1] && strcmp(hex[0], hex[1]) != 0));
}

/* --- tools and machine --- */

/* Writes the text of `PROGRAM --version`. */
static bool write_version(FILE *out, const char *program, const char *expected, const struct build *build,
                          double timeout)
{
    char ignored[2048];
    size_t size = 0;
    struct compiler_command command = {.count = 0};
    const struct compiling compiling = {program, build->directory, build->log, timeout, false};
    compiler_add_file(&command, program);
    compiler_add(&command, "--version");
    if (!compiler_fits(&command) || compiler_run(&command, &compiling, ignored, sizeof ignored) != BUILD_OK)
        return false;
    char *const text = scratch_read_own(build->log, &size);
    const bool known = text && strstr(text, expected);
    if (known)
        fprintf(out, "%s %s\n", program, text);
    free(text);
    return known;
}

/* Only GNU's tools are known to list the files of the assembler, and to tell of precompiled headers. */
static bool write_tools(FILE *out, const char *compiler, const struct build *build, double timeout)
{
    static const char gnu[] = "Free Software Foundation";
    bool known = write_version(out, compiler, is_cuda(build) ? "NVIDIA" : gnu, build, timeout) &&
                 write_version(out, "as", gnu, build, timeout) &&
                 write_version(out, "ld", gnu, build, timeout);
    for (size_t i = 0; known && is_cuda(build) && i < sizeof hidden / sizeof *hidden; i++)
        known = getenv(hidden[i]) == NULL;
    return known && (!is_cuda(build) || write_version(out, "gcc", gnu, build, timeout));
}

/* -march=native depends on the first processor's type, features and caches. */
static bool write_machine(FILE *out)
{
    char *line = NULL;
    size_t room = 0;
    FILE *const in = fopen("/proc/cpuinfo", "re");
    while (in && getline(&line, &room, in) > 1)
        if (!strstr(line, "MHz") && !strcasestr(line, "bogomips"))
            fputs(line, out);
    free(line);
    if (in)
        fclose(in);
    fprintf(out, "libc %s\n", gnu_get_libc_version());
    return in != NULL;
}

static void write_settings(FILE *out, const struct compiler_command *command, const struct build *build)
{
    char here[4096];
    fprintf(out, "recipe %d\nsource %s\n", RECIPE, build->sha256);
    for (int i = 0; i < command->count; i++)
        if (strcmp(command->argv[i], build->object) != 0)
            fprintf(out, "word %s\n", command->argv[i]);
    for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed; i++) {
        const char *const value = getenv(obeyed[i]);
        fprintf(out, "%s %s\n", obeyed[i], value ? value : "");
    }
    fprintf(out, "in %s\n", getcwd(here, sizeof here) ? here : "");
}

/* --- the assembler's files --- */

/* A pipe, since nvcc runs the assembler more than once, and each time it would write the file anew. */
static bool watch_assembler(struct object_key *key, struct compiler_command *command,
                            const struct build *build)
{
    char path[600];
    name_pipe(build, path);
    if (strpbrk(path, " \t,\\'\"") || mkfifo(path, 0600) != 0)
        return false;
    key->assembler = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (is_cuda(build)) {
        compiler_add(command, "-Xcompiler");
        compiler_add(command, "-Wa\\,--MD\\,%s", path);
    } else {
        compiler_add(command, "-Wa,--MD,%s", path);
    }
    return key->assembler >= 0 && compiler_fits(command);
}

/* Names with the compiler's folder are its temporary files. Names without a folder are of the directive
 * .file, unless there is such a file here; the key has the source as it is. */
static bool is_expected(const char *name, const struct build *build, const struct build_options *options)
{
    const size_t length = strlen(build->directory);
    if (strncmp(name, build->directory, length) == 0 && name[length] == '/')
        return true;
    return !strchr(name, '/') && (access(name, F_OK) != 0 || strcmp(name, options->path) == 0);
}

/* Reads make rules, "target: file file \". */
static bool assembler_is_plain(const struct object_key *key, const struct build *build,
                               const struct build_options *options)
{
    static const char blanks[] = " \t\r\n";
    char text[NAMES], *rest = text;
    size_t used = 0;
    int files = 0;
    for (ssize_t got = 1; got > 0 && used<sizeof text - 1; used += got> 0 ? (size_t)got : 0)
        got = read(key->assembler, text + used, sizeof text - 1 - used);
    text[used] = '\0';
    if (used == sizeof text - 1)
        return false;
    for (char *word = strtok_r(text, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest)) {
        if (strcmp(word, "\\") == 0 || word[strlen(word) - 1] == ':')
            continue;
        if (!is_expected(word, build, options))
            return false;
        files++;
    }
    return files > 0;
}

/* --- changes --- */

/* Did the file change after the key was begun? The file system's clock is behind by up to 10 ms. */
static bool is_settled(const char *path, const struct timespec *began)
{
    static const double margin = 0.02;
    struct stat status;
    return stat(path, &status) == 0 && (double)(began->tv_sec - status.st_ctim.tv_sec) +
                                               1e-9 * (double)(began->tv_nsec - status.st_ctim.tv_nsec) >
                                           margin;
}

/* Looks at all files that line markers of the text name: # 1 "kernel.c" 2 */
static bool text_is_settled(const char *path, const struct timespec *began)
{
    char *line = NULL, last[4096] = "";
    size_t room = 0;
    bool settled = true;
    FILE *const in = fopen(path, "re");
    while (in && settled && getline(&line, &room, in) > 0) {
        char *const name = strncmp(line, "# ", 2) == 0 ? strchr(line, '"') : NULL;
        char *const end = name ? strrchr(name + 1, '"') : NULL;
        if (!end || name[1] == '<')
            continue;
        *end = '\0';
        if (strcmp(name + 1, last) == 0)
            continue;
        settled = end - name < (long)sizeof last && is_settled(name + 1, began);
        snprintf(last, sizeof last, "%.4000s", name + 1);
    }
    free(line);
    if (in)
        fclose(in);
    return in != NULL && settled;
}

/* --- the key --- */

static bool write_key(FILE *out, const struct compiler_command *command, const struct build *build,
                      const struct build_options *options)
{
    write_settings(out, command, build);
    return write_machine(out) &&
           write_tools(out, command->argv[0], build, fmin(options->timeout, PREPROCESS_SECONDS)) &&
           write_texts(out, command, build, options);
}

void object_key_open(struct object_key *key, struct compiler_command *command, const struct build *build,
                     const struct build_options *options)
{
    char *text = NULL;
    size_t size = 0;
    *key = (struct object_key){.assembler = -1};
    if (!object_store_is_on())
        return;
    clock_gettime(CLOCK_REALTIME, &key->began);
    FILE *const out = open_memstream(&text, &size);
    const bool known = out && write_key(out, command, build, options);
    const bool whole = out && fclose(out) == 0 && known;
    const struct compiler_command plain = *command;
    if (whole && watch_assembler(key, command, build))
        scratch_hash(text, size, key->hex);
    else
        *command = plain;
    free(text);
}

bool object_key_holds(const struct object_key *key, const struct build *build,
                      const struct build_options *options)
{
    char text[600];
    bool settled = key->hex[0] != '\0' && assembler_is_plain(key, build, options);
    for (int pass = 0; settled && pass < (is_cuda(build) ? PASSES : 1); pass++) {
        name_pass(build, pass, ".i", text);
        settled = text_is_settled(text, &key->began);
    }
    return settled;
}

void object_key_close(struct object_key *key, struct build *build)
{
    char path[600];
    name_pass(build, 1, ".i", path);
    unlink(path);
    name_pass(build, 0, ".i", path);
    if (access(path, R_OK) == 0)
        snprintf(build->text, sizeof build->text, "%.511s", path);
    name_pipe(build, path);
    unlink(path);
    if (key->assembler >= 0)
        close(key->assembler);
    key->assembler = -1;
}

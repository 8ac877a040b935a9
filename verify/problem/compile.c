#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module_internal.h"
#include "paths.h"
#include "verify/build/compiler.h"
#include "verify/build/scratch.h"
#include "verify/util/version.h"

enum { COMPILE_SECONDS = 600, VERSION_BYTES = 2000 };

/* The Makefile passes its own flags for problems: UNSEEN_MODULE_FLAGS, UNSEEN_MODULE_NVFLAGS. */
static const char host_flags[] = UNSEEN_MODULE_FLAGS " -fPIC";
static const char cuda_flags[] = UNSEEN_MODULE_NVFLAGS " -fmad=false -Xcompiler -fPIC";

/* The module's definitions precede the tool's of the same name: a copy of softmax is judged by its own
 * mathematics. */
static const char host_link[] = "-shared -fopenmp -Wl,-Bsymbolic";
static const char cuda_link[] = "-shared -Xlinker -Bsymbolic";

enum build_status making_prepare(struct making *making, char *error, size_t error_size)
{
    if (paths_root(making->root, sizeof making->root) != 0) {
        snprintf(error, error_size,
                 "found no problems/problem.h beside the tool or in ../share/unseen; a problem is compiled "
                 "with it\n"
                 "---> run the tool in its source tree, or install it with `make install`");
        return BUILD_ENVIRONMENT;
    }
    snprintf(making->log, sizeof making->log, "%s/build.log", making->directory);
    if (!making->arch) {
        snprintf(making->compiler, sizeof making->compiler, "cc");
    } else if (!compiler_find_nvcc(making->compiler, sizeof making->compiler)) {
        snprintf(
            error, error_size,
            "found no nvcc on PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin; on a GPU the problem %s is "
            "judged "
            "by code compiled with it\n---> install the CUDA Toolkit, set CUDA_HOME to where it is, or give "
            "--device host",
            making->source->name);
        return BUILD_ENVIRONMENT;
    }
    return BUILD_OK;
}

static enum build_status run(const struct making *making, const struct compiler_command *command,
                             const char *what, char *error, size_t error_size)
{
    const struct compiling compiling = {what, making->directory, making->log, COMPILE_SECONDS};
    if (compiler_fits(command))
        return compiler_run(command, &compiling, error, error_size);
    snprintf(error, error_size,
             "%s: its path is too long for a command line\n---> move the folder to a shorter path", what);
    return BUILD_INPUT;
}

/* --- dependencies of the object besides its sources --- */

enum build_status making_key(struct making *making, char *key, size_t size, char *error, size_t error_size)
{
    char version[VERSION_BYTES + 1];
    struct compiler_command command = {.count = 0};
    compiler_add_file(&command, making->compiler);
    compiler_add(&command, "--version");
    const enum build_status status = run(making, &command, making->compiler, error, error_size);
    if (status != BUILD_OK)
        return BUILD_ENVIRONMENT;
    FILE *log = fopen(making->log, "re");
    const size_t got = log ? fread(version, 1, VERSION_BYTES, log) : 0;
    if (log)
        fclose(log);
    version[got] = '\0';
    for (char *c = version; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    snprintf(key, size, "unseen %s %s | %s | %s | %s | %s | %s%s |", UNSEEN_VERSION, unseen_git, version,
             making->arch ? cuda_flags : host_flags, making->root, making->source->folder,
             making->arch ? "sm_" : "host", making->arch ? making->arch : "");
    for (int i = 0; i < making->source->output_count; i++) {
        const size_t used = strlen(key);
        snprintf(key + used, size - used, " reference%s%s.h", *making->source->outputs[i] ? "_" : "",
                 making->source->outputs[i]);
    }
    return BUILD_OK;
}

/* --- compiling --- */

static void add_source(struct making *making, const char *path)
{
    const size_t length = strlen(making->directory);
    if (strncmp(path, making->directory, length) == 0 || making->source_count == MODULE_SOURCES)
        return;
    for (int i = 0; i < making->source_count; i++)
        if (strcmp(making->sources[i], path) == 0)
            return;
    if ((making->sources[making->source_count] = strdup(path)) != NULL)
        making->source_count++;
}

/* Reads the compiler's inputs from the make rule it wrote: "target: source source \". */
static void read_sources(struct making *making, const char *path)
{
    char word[2 * MODULE_PATH];
    size_t used = 0;
    bool target = true;
    FILE *in = fopen(path, "re");
    for (int c = in ? fgetc(in) : EOF; c != EOF; c = fgetc(in)) {
        bool end = c == ' ' || c == '\n';
        if (c == '\\' || c == '$') {
            const int next = fgetc(in);
            end = next == '\n';
            c = next;
        }
        if (!end && used < sizeof word - 1)
            word[used++] = (char)c;
        if (!end || used == 0)
            continue;
        word[used] = '\0';
        used = 0;
        if (!target)
            add_source(making, word);
        target = target && word[strlen(word) - 1] != ':';
    }
    if (in)
        fclose(in);
}

/* Compiles one file of ours or of the folder to NUMBER.o. */
static enum build_status compile(struct making *making, int number, const char *optimize, const char *file,
                                 const char *output, char *error, size_t error_size)
{
    const struct module_source *source = making->source;
    char rule[600], what[MODULE_PATH + 2 * MODULE_NAME];
    struct compiler_command command = {.count = 0};
    snprintf(rule, sizeof rule, "%s/%d.d", making->directory, number);
    snprintf(what, sizeof what, "%s", file);
    compiler_add_file(&command, making->compiler);
    compiler_add_words(&command, making->arch ? cuda_flags : host_flags);
    if (making->arch)
        compiler_add(&command, "-gencode=arch=compute_%s,code=sm_%s", making->arch, making->arch);
    compiler_add_words(&command, optimize);
    compiler_add(&command, "-I%s", making->root);
    if (output) {
        snprintf(what, sizeof what, "%s/reference%s%s.h", source->folder, *output ? "_" : "", output);
        compiler_add(&command, "-DREF_PROBLEM=%s", source->name);
        if (*output)
            compiler_add(&command, "-DREF_OUTPUT=%s", output);
        compiler_add(&command, "-DREF_HEADER=\"%s\"", what);
    }
    /* The toolkit's version stands for its headers. */
    compiler_add_words(&command, making->arch ? "-MMD -MF" : "-MD -MF");
    compiler_add(&command, "%s", rule);
    compiler_add(&command, "-c");
    compiler_add(&command, "-o");
    compiler_add(&command, "%s/%d.o", making->directory, number);
    compiler_add(&command, "%s", file);
    const enum build_status status = run(making, &command, what, error, error_size);
    if (status == BUILD_OK)
        read_sources(making, rule);
    return status;
}

static enum build_status link_objects(struct making *making, int count, char *error, size_t error_size)
{
    struct compiler_command command = {.count = 0};
    compiler_add_file(&command, making->compiler);
    compiler_add_words(&command, making->arch ? cuda_link : host_link);
    if (making->arch)
        compiler_add(&command, "-gencode=arch=compute_%s,code=sm_%s", making->arch, making->arch);
    compiler_add(&command, "-o");
    compiler_add(&command, "%s/module.so", making->directory);
    for (int i = 0; i < count; i++)
        compiler_add(&command, "%s/%d.o", making->directory, i);
    compiler_add(&command, "-lm");
    return run(making, &command, making->source->folder, error, error_size);
}

/* Compiles problem.c, and for every reference.h its enclosure and its witness; for a GPU only its
 * enclosure. */
enum build_status making_run(struct making *making, char *error, size_t error_size)
{
    const struct module_source *source = making->source;
    char file[MODULE_PATH + 64];
    int count = 0;
    enum build_status status = BUILD_OK;
    if (!making->arch) {
        snprintf(file, sizeof file, "%s/problem.c", source->folder);
        status = compile(making, count++, "-O2", file, NULL, error, error_size);
    }
    for (int i = 0; i < source->output_count && status == BUILD_OK; i++) {
        snprintf(file, sizeof file, "%s/reference/%s", making->root,
                 making->arch ? "enclosure_cuda.cu" : "enclosure_host.c");
        status = compile(making, count++, "-O3", file, source->outputs[i], error, error_size);
        snprintf(file, sizeof file, "%s/reference/witness.c", making->root);
        if (status == BUILD_OK && !making->arch)
            status = compile(making, count++, "-O2", file, source->outputs[i], error, error_size);
    }
    if (status == BUILD_OK)
        status = link_objects(making, count, error, error_size);
    return status;
}

void making_clear(struct making *making)
{
    for (int i = 0; i < making->source_count; i++)
        free(making->sources[i]);
    making->source_count = 0;
}

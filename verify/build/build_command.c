#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_internal.h"
#include "verify/sandbox/sandbox.h"

enum { LINK_LINES = 10, LINE_BYTES = 512 };

static const char *const linkable[] = {"cublas", "cublasLt", "curand", "cusparse", "cudadevrt"};

/* Appends all shown folders to the end of the include path, so that no file of ours hides one of the
 * candidate's. They are for "candidate.h" from the tool's problems, and "problems/candidate.h" from their
 * parent folder. */
static void add_sources(struct compiler_command *command, const char *option)
{
    const char *folder;
    for (int i = 0; (folder = sandbox_source(i)) != NULL; i++) {
        const char *const name = strrchr(folder, '/');
        compiler_add(command, "%s", option);
        compiler_add(command, "%s", folder);
        if (name && name > folder && strcmp(name, "/problems") == 0) {
            compiler_add(command, "%s", option);
            compiler_add(command, "%.*s", (int)(name - folder), folder);
        }
    }
}

/* Without optimization each comparison of the text is one of the code, and its two outcomes stay apart.
 * The compiler merges, moves and vectorizes them otherwise. Pragmas of OpenMP are ignored: they would add
 * comparisons that no text has, and one thread gives the same coverage each time. Its functions are there
 * and see one thread. DWARF is of version 4, since binutils up to 2.40 confuses the files of version 5. */
#define COVERAGE_FLAGS                                                                                       \
    "-O0 -gdwarf-4 -fsanitize-coverage=trace-pc,trace-cmp -march=native -fPIC -shared -D_OPENMP=201511"

static void make_host(struct compiler_command *command, const struct build *build,
                      const struct build_options *options)
{
    const bool is_c = strcmp(build->language, "c") == 0;
    compiler_add_words(command, is_c ? "cc -std=gnu11" : "g++ -std=gnu++17");
    compiler_add_words(command,
                       options->coverage ? COVERAGE_FLAGS : "-O2 -march=native -fPIC -shared -fopenmp");
    compiler_add_file(command, options->path);
    compiler_add(command, "-o");
    compiler_add(command, "%s", build->object);
    add_sources(command, "-idirafter");
    compiler_add_words(command, options->coverage ? "-lgomp -lm" : "-lm");
}

static bool is_linkable(const char *name)
{
    for (size_t i = 0; i < sizeof linkable / sizeof *linkable; i++)
        if (strcmp(name, linkable[i]) == 0)
            return true;
    return false;
}

/* Replaces control characters: the candidate's author wrote the name, and it must not control a terminal. */
static void make_plain(char *name)
{
    for (; *name; name++)
        if (*name < ' ' || *name > '~')
            *name = '?';
}

/* Adds the names after "// link:" in the first ten lines as -l arguments. */
static enum build_status add_libraries(struct compiler_command *command, const char *path, int *libraries,
                                       char *error, size_t error_size)
{
    char line[LINE_BYTES];
    enum build_status status = BUILD_OK;
    FILE *file = fopen(path, "re");
    *libraries = 0;
    for (int i = 1; file && status == BUILD_OK && i <= LINK_LINES && fgets(line, sizeof line, file); i++) {
        char *rest = line, *comment = line + strspn(line, " \t");
        if (strncmp(comment, "//", 2) != 0)
            continue;
        comment += 2 + strspn(comment + 2, " \t");
        if (strncmp(comment, "link:", 5) != 0)
            continue;
        for (char *name = strtok_r(comment + 5, " \t\r\n,", &rest); name;
             name = strtok_r(NULL, " \t\r\n,", &rest)) {
            if (!is_linkable(name)) {
                make_plain(name);
                snprintf(error, error_size,
                         "%s:%d: the link line names '%.60s'; a candidate may link "
                         "cublas, cublasLt, curand, cusparse, cudadevrt\n---> remove it, or write "
                         "that part in the file itself",
                         path, i, name);
                status = BUILD_FAILED;
                break;
            }
            /* The device runtime serves launches from kernels, which need relocatable code. */
            if (strcmp(name, "cudadevrt") == 0)
                compiler_add(command, "-rdc=true");
            compiler_add(command, "-l%s", name);
            ++*libraries;
        }
    }
    if (file)
        fclose(file);
    return status;
}

/* Adds the toolkit's library folder, so that the object finds its libraries without LD_LIBRARY_PATH. */
static void add_library_path(struct compiler_command *command, const char *nvcc)
{
    static const char *const names[] = {"lib64", "lib"};
    char joined[600], *real = realpath(nvcc, NULL);
    char *bin = real ? strstr(real, "/bin/nvcc") : NULL;
    if (bin) {
        *bin = 0;
        for (int i = 0; i < 2; i++) {
            snprintf(joined, sizeof joined, "%s/%s", real, names[i]);
            if (access(joined, X_OK))
                continue;
            compiler_add(command, "-L%s", joined);
            compiler_add_words(command, "-Xlinker -rpath -Xlinker");
            compiler_add(command, "%s", joined);
            break;
        }
    }
    free(real);
}

static enum build_status make_cuda(struct compiler_command *command, const struct build *build,
                                   const struct build_options *options, char *error, size_t error_size)
{
    char nvcc[512];
    int libraries;
    if (!compiler_find_nvcc(nvcc, sizeof nvcc)) {
        snprintf(error, error_size,
                 "found no nvcc on PATH, in $CUDA_HOME/bin or in "
                 "/usr/local/cuda/bin; a .cu candidate is compiled with it\n---> install the CUDA "
                 "Toolkit, or set CUDA_HOME to where it is");
        return BUILD_ENVIRONMENT;
    }
    if (!options->arch || !*options->arch) {
        snprintf(error, error_size,
                 "found no compute capability to compile %s for\n---> use a "
                 "machine with a GPU, or --device host with a .c candidate",
                 options->path);
        return BUILD_ENVIRONMENT;
    }
    compiler_add(command, "%s", nvcc);
    compiler_add_words(command, "-O3 -std=c++17");
    compiler_add(command, "-gencode=arch=compute_%s,code=sm_%s", options->arch, options->arch);
    compiler_add_words(command, "-Xcompiler -fPIC -shared");
    compiler_add_file(command, options->path);
    compiler_add(command, "-o");
    compiler_add(command, "%s", build->object);
    add_sources(command, "-isystem"); /* nvcc lacks -idirafter */
    enum build_status status = add_libraries(command, options->path, &libraries, error, error_size);
    if (status == BUILD_OK && libraries > 0)
        add_library_path(command, nvcc);
    return status;
}

enum build_status command_make(struct compiler_command *command, const struct build *build,
                               const struct build_options *options, char *error, size_t error_size)
{
    enum build_status status = BUILD_OK;
    *command = (struct compiler_command){.count = 0};
    if (strcmp(build->language, "cuda") == 0)
        status = make_cuda(command, build, options, error, error_size);
    else
        make_host(command, build, options);
    if (status == BUILD_OK && !compiler_fits(command)) {
        snprintf(error, error_size,
                 "the command line for %s is too long; at most %d arguments of "
                 "%d bytes together are possible\n---> shorten the path or the link line",
                 options->path, COMMAND_ARGUMENTS, COMMAND_TEXT);
        status = BUILD_INPUT;
    }
    return status;
}

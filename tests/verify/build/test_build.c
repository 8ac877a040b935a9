/* Building candidates: each way in which it can fail has its own status, a sentence and a hint. */
#include <check.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/build/build.h"
#include "verify/sandbox/sandbox.h"
#include "skip.h"
#include "suites.h"
#include "work_folder.h"

static char error[4096];
static struct build built;

static void leave_folder(void)
{
    build_clear(&built);
    work_folder_leave();
}

static enum build_status build(const char *path, enum backend backend)
{
    struct build_options options = {.path = path, .backend = backend, .arch = "90a", .timeout = 60};
    return build_candidate(&built, &options, error, sizeof error);
}

#define ck_assert_says(words) ck_assert_msg(strstr(error, words) != NULL, "%s", error)

/* Counts the folder's entries with that beginning. */
static bool left_behind(void)
{
    char command[128];
    snprintf(command, sizeof command, "ls -d %s/unseen-?????? >/dev/null 2>&1", work_folder);
    return system(command) == 0;
}

START_TEST(a_c_file_becomes_an_object_with_its_hash)
{
    work_folder_write("-odd name.c", "int answer(void) { return 42; }\n");
    ck_assert_msg(build("-odd name.c", BACKEND_HOST) == BUILD_OK, "%s", error);
    ck_assert_str_eq(built.language, "c");
    /* printf 'int answer(void) { return 42; }\n' | sha256sum */
    ck_assert_str_eq(built.sha256, "d2ee72eea6fb9b6a2ce93777ac97e9f1d7183f9233923f434ff0d9f61a4aa9d5");
    ck_assert_int_eq(built.object[0], '/');
    ck_assert_double_gt(built.seconds, 0);
    void *object = dlopen(built.object, RTLD_NOW), *found = object ? dlsym(object, "answer") : NULL;
    int (*answer)(void);
    ck_assert_ptr_nonnull(found);
    memcpy(&answer, &found, sizeof answer);
    ck_assert_int_eq(answer(), 42);
    ck_assert(left_behind());
    build_clear(&built);
    ck_assert(!left_behind());
    build_clear(&built);
}
END_TEST

START_TEST(a_shared_object_is_copied)
{
    ck_assert_int_eq(
        system("echo 'int f(void) { return 0; }' >first.c && cc -shared -fPIC -o given.so first.c && "
               "cp given.so first.so"),
        0);
    ck_assert_int_eq(build("given.so", BACKEND_CUDA), BUILD_OK);
    ck_assert_str_eq(built.language, "so");
    work_folder_write("given.so", "second\n");
    char command[600];
    snprintf(command, sizeof command, "cmp first.so %s", built.object);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

struct refusal {
    const char *path;
    enum backend backend;
    const char *words;
    bool of_candidate; /* its own text is wrong: it gets the value of a failure */
};

static const struct refusal refusals[] = {
    {"-", BACKEND_HOST, "compiled, hashed and rerun"},
    {"", BACKEND_HOST, "found no candidate"},
    {"absent.c", BACKEND_HOST, "there is no file absent.c"},
    {"kernel.c", BACKEND_CUDA, "kernel.c is a host candidate"},
    {"kernel.cu", BACKEND_HOST, "kernel.cu is a CUDA candidate"},
    {"kernel.txt", BACKEND_HOST, "suffixes"},
    {".", BACKEND_HOST, "is a directory"},
    {"/dev/null", BACKEND_HOST, "not a regular file"},
    {"wrong.cu", BACKEND_CUDA,
     "wrong.cu:2: the link line names 'cudnn'; a candidate may link "
     "cublas,",
     true},
};

START_TEST(bad_input_is_told_with_a_hint)
{
    work_folder_write("kernel.c", "");
    work_folder_write("kernel.cu", "");
    work_folder_write("kernel.txt", "");
    work_folder_write("wrong.cu", "// a kernel\n// link: cublas cudnn\n");
    ck_assert_msg(build(refusals[_i].path, refusals[_i].backend) ==
                      (refusals[_i].of_candidate ? BUILD_FAILED : BUILD_INPUT),
                  "%s", error);
    ck_assert_says(refusals[_i].words);
    ck_assert_says("\n---> ");
    ck_assert(!left_behind());
}
END_TEST

START_TEST(an_unreadable_file_is_told)
{
    work_folder_write("kernel.c", "");
    chmod("kernel.c", 0);
    enum build_status status = build("kernel.c", BACKEND_HOST);
    if (geteuid() == 0)
        SKIP_TEST("root reads every file");
    ck_assert_int_eq(status, BUILD_INPUT);
    ck_assert_says("cannot read kernel.c");
}
END_TEST

START_TEST(compiler_errors_are_shown_and_the_log_is_kept)
{
    work_folder_write("kernel.c", "#warning be careful\nint f(void) { return absent; }\n");
    ck_assert_int_eq(build("kernel.c", BACKEND_HOST), BUILD_FAILED);
    ck_assert_says("kernel.c does not compile: cc ended with status 1");
    ck_assert_says("absent");
    ck_assert_msg(strstr(error, "be careful") == NULL, "%s", error);
    ck_assert_says("\n---> the compiler's full output is in unseen-build.log");
    ck_assert_str_eq(built.log, "unseen-build.log");
    ck_assert_int_eq(access("unseen-build.log", R_OK), 0);
    ck_assert_int_ne(system("grep -q bwrap unseen-build.log"), 0);
    ck_assert(!left_behind());
}
END_TEST

/* Bytes of an ELF header: 64 bits, little endian, ET_DYN, and the machine. */
static void write_header(const char *path, unsigned char class, unsigned char type, unsigned char machine,
                         size_t bytes)
{
    const unsigned char header[64] = {
        0x7f, 'E', 'L', 'F', class, 1, 1, [16] = type, [18] = machine, [20] = 1};
    FILE *const file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(header, 1, bytes, file), bytes);
    ck_assert_int_eq(fclose(file), 0);
}

static const struct {
    unsigned char class, type, machine;
    size_t bytes;
    const char *words;
} objects[] = {
    {2, 3, 183, 64, "given.so cannot be loaded: it was built for aarch64, this is x86-64"},
    {1, 3, 3, 64, "given.so cannot be loaded: it was built for x86 (32 bits), this is x86-64"},
    {2, 1, 62, 64, "given.so cannot be loaded: it is an object that was not linked (.o)"},
    {2, 2, 62, 64, "given.so cannot be loaded: it is a program"},
    {2, 3, 62, 12, "given.so cannot be loaded: it ends after 12 bytes, inside its ELF header"},
    {2, 3, 62, 0, "given.so cannot be loaded: it does not begin as an ELF file does"},
};

START_TEST(an_object_that_cannot_be_loaded_is_told_in_our_words)
{
    write_header("given.so", objects[_i].class, objects[_i].type, objects[_i].machine, objects[_i].bytes);
    ck_assert_int_eq(build("given.so", BACKEND_HOST), BUILD_FAILED);
    ck_assert_says(objects[_i].words);
    ck_assert_says("\n---> build it with -shared -fPIC here");
}
END_TEST

static const char *const cxx_names[] = {"kernel.cpp", "kernel.cc", "kernel.cxx"};

START_TEST(a_cxx_file_becomes_an_object)
{
    work_folder_write(
        cxx_names[_i],
        "#include <vector>\nextern \"C\" int f() { return (int)std::vector<int>(3).size(); }\n");
    ck_assert_msg(build(cxx_names[_i], BACKEND_HOST) == BUILD_OK, "%s", error);
    ck_assert_str_eq(built.language, "c++");
    ck_assert_int_eq(build(cxx_names[_i], BACKEND_CUDA), BUILD_INPUT);
    ck_assert_says("is a host candidate");
}
END_TEST

/* As in doc/candidate.md, beside a name of the candidate's own that must not be hidden. */
START_TEST(headers_of_sources_are_found_behind_the_candidates)
{
    ck_assert_int_eq(mkdir("other", 0755), 0);
    ck_assert_int_eq(mkdir("other/problems", 0755), 0);
    work_folder_write("other/problems/candidate.h", "enum { OURS = 1 };\n");
    work_folder_write("other/problems/mine.h", "#error hidden\n");
    work_folder_write("mine.h", "enum { MINE = 2 };\n");
    ck_assert(sandbox_add_source("other/problems"));
    work_folder_write("kernel.c",
                      "#include \"candidate.h\"\n#include \"problems/candidate.h\"\n#include \"mine.h\"\n"
                      "int f(void) { return MINE; }\n");
    work_folder_write("other/problems/candidate.h", "#pragma once\nenum { OURS = 1 };\n");
    ck_assert_msg(build("kernel.c", BACKEND_HOST) == BUILD_OK, "%s", error);
    work_folder_write("kernel.c", "#include \"absent.h\"\n");
    ck_assert_int_eq(build("kernel.c", BACKEND_HOST), BUILD_FAILED);
    ck_assert_says("puts another folder on the include path");
}
END_TEST

START_TEST(many_errors_are_cut_to_twelve_lines)
{
    FILE *file = fopen("kernel.c", "w");
    for (int i = 0; i < 100; i++)
        fprintf(file, "int f%d(void) { return absent%d; }\n", i, i);
    fclose(file);
    ck_assert_int_eq(build("kernel.c", BACKEND_HOST), BUILD_FAILED);
    int lines = 0;
    for (const char *c = error; *c; c++)
        lines += *c == '\n';
    ck_assert_int_le(lines, 13);
    ck_assert_says("unseen-build.log");
}
END_TEST

START_TEST(a_compiler_that_never_ends_is_stopped)
{
    ck_assert_int_eq(mkdir("bin", 0755), 0);
    work_folder_write("bin/cc", "#!/bin/sh\nsleep 100\n");
    chmod("bin/cc", 0755);
    work_folder_write("kernel.c", "");
    setenv("PATH", "bin:/usr/bin:/bin", 1);
    struct build_options options = {.path = "kernel.c", .timeout = 0.3};
    ck_assert_int_eq(build_candidate(&built, &options, error, sizeof error), BUILD_FAILED);
    ck_assert_says("had not ended after 0.3 s");
}
END_TEST

START_TEST(a_missing_compiler_is_the_environments_fault)
{
    work_folder_write("kernel.c", "");
    work_folder_write("kernel.cu", "");
    setenv("PATH", "/nonexistent", 1);
    ck_assert_int_eq(build("kernel.c", BACKEND_HOST), BUILD_ENVIRONMENT);
    ck_assert_says("cannot run cc");
    ck_assert(!left_behind());
}
END_TEST

START_TEST(a_full_disk_is_the_environments_fault)
{
    ck_assert_int_eq(mkdir("bin", 0755), 0);
    work_folder_write("bin/cc", "#!/bin/sh\necho 'fatal error: a.s: No space left on device'\nexit 1\n");
    chmod("bin/cc", 0755);
    work_folder_write("kernel.c", "");
    setenv("PATH", "bin:/usr/bin:/bin", 1);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, RLIM_INFINITY}), 0);
    ck_assert_int_eq(build("kernel.c", BACKEND_HOST), BUILD_ENVIRONMENT);
    ck_assert_says("No space left on device");
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}), 0);
    ck_assert_int_eq(build("kernel.c", BACKEND_HOST), BUILD_FAILED); /* the disk has room: the compiler only
                                                                      * says that it has none */
}
END_TEST

START_TEST(a_temporary_directory_that_is_not_there_is_told)
{
    work_folder_write("kernel.c", "");
    setenv("TMPDIR", "/nonexistent", 1);
    ck_assert_int_eq(build("kernel.c", BACKEND_HOST), BUILD_ENVIRONMENT);
    ck_assert_says("/nonexistent");
    ck_assert_says("TMPDIR");
}
END_TEST

/* A stand-in for nvcc that shows its arguments. */
/* A file that a source names is not read: the log would show it, and some files have no end. */
START_TEST(compiling_sees_nothing_of_the_users)
{
    static const char *const hidden[] = {"/etc/shadow", "/dev/zero", "../outside.h"};
    char text[200];
    if (!sandbox_works())
        SKIP_TEST("bubblewrap does not work here");
    ck_assert_int_eq(mkdir("inside", 0755), 0);
    work_folder_write("outside.h", "static int seen;\n");
    work_folder_write("inside/beside.h", "static int seen;\n");
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "#include \"beside.h\"\n#include \"%s\"\nint f(void) { return 0; }\n",
                 hidden[i]);
        work_folder_write("inside/kernel.c", text);
        ck_assert_int_eq(build("inside/kernel.c", BACKEND_HOST), BUILD_FAILED);
        ck_assert_says("inside/kernel.c:2:10: fatal error: ");
        ck_assert_says("No such file or directory");
        ck_assert_says("--include-dir DIR");
    }
    work_folder_write("inside/kernel.c", "__asm__(\".incbin \\\"/etc/shadow\\\"\");\n");
    ck_assert_int_eq(build("inside/kernel.c", BACKEND_HOST), BUILD_FAILED);
    work_folder_write("inside/kernel.c", "#include \"../outside.h\"\nint f(void) { return seen; }\n");
    ck_assert(sandbox_add_source("."));
    ck_assert_msg(build("inside/kernel.c", BACKEND_HOST) == BUILD_OK, "%s", error);
}
END_TEST

START_TEST(where_a_sandbox_is_required_nothing_is_compiled_without_one)
{
    work_folder_write("kernel.c", "int f(void) { return 0; }\n");
    setenv("UNSEEN_NO_SANDBOX", "1", 1);
    sandbox_require(true);
    ck_assert_int_eq(build("kernel.c", BACKEND_HOST), BUILD_ENVIRONMENT);
    ck_assert_says("is not compiled without a sandbox: UNSEEN_NO_SANDBOX=1\n---> install bubblewrap");
}
END_TEST

START_TEST(the_cuda_command_line_is_the_contracts)
{
    ck_assert_int_eq(mkdir("toolkit", 0755), 0);
    ck_assert_int_eq(mkdir("toolkit/bin", 0755), 0);
    ck_assert_int_eq(mkdir("toolkit/lib64", 0755), 0);
    work_folder_write("toolkit/bin/nvcc", "#!/bin/sh\necho \"error $*\"\nexit 1\n");
    chmod("toolkit/bin/nvcc", 0755);
    char path[256], libraries[256];
    snprintf(path, sizeof path, "%s/toolkit/bin:/usr/bin:/bin", work_folder);
    setenv("PATH", path, 1);
    work_folder_write("kernel.cu", "// link: cublas, cublasLt\n");
    ck_assert_int_eq(build("kernel.cu", BACKEND_CUDA), BUILD_FAILED);
    ck_assert_says("-O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -Xcompiler -fPIC -shared "
                   "kernel.cu -o /");
    snprintf(libraries, sizeof libraries,
             "-lcublas -lcublasLt -L%s/toolkit/lib64 -Xlinker -rpath "
             "-Xlinker %s/toolkit/lib64",
             work_folder, work_folder);
    ck_assert_says(libraries);
    work_folder_write("kernel.cu", "// link:cudadevrt\n");
    ck_assert_int_eq(build("kernel.cu", BACKEND_CUDA), BUILD_FAILED);
    ck_assert_says("-rdc=true -lcudadevrt");
}
END_TEST

Suite *build_suite(void)
{
    Suite *suite = suite_create("build");
    TCase *tests = tcase_create("candidates");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, work_folder_enter, leave_folder);
    tcase_add_test(tests, a_c_file_becomes_an_object_with_its_hash);
    tcase_add_test(tests, a_shared_object_is_copied);
    tcase_add_loop_test(tests, bad_input_is_told_with_a_hint, 0, sizeof refusals / sizeof *refusals);
    tcase_add_test(tests, an_unreadable_file_is_told);
    tcase_add_test(tests, compiler_errors_are_shown_and_the_log_is_kept);
    tcase_add_test(tests, many_errors_are_cut_to_twelve_lines);
    tcase_add_loop_test(tests, an_object_that_cannot_be_loaded_is_told_in_our_words, 0,
                        sizeof objects / sizeof *objects);
    tcase_add_loop_test(tests, a_cxx_file_becomes_an_object, 0, sizeof cxx_names / sizeof *cxx_names);
    tcase_add_test(tests, headers_of_sources_are_found_behind_the_candidates);
    tcase_add_test(tests, a_compiler_that_never_ends_is_stopped);
    tcase_add_test(tests, a_missing_compiler_is_the_environments_fault);
    tcase_add_test(tests, compiling_sees_nothing_of_the_users);
    tcase_add_test(tests, where_a_sandbox_is_required_nothing_is_compiled_without_one);
    tcase_add_test(tests, a_full_disk_is_the_environments_fault);
    tcase_add_test(tests, a_temporary_directory_that_is_not_there_is_told);
    tcase_add_test(tests, the_cuda_command_line_is_the_contracts);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, planted_case());
    suite_add_tcase(suite, objects_case());
    return suite;
}

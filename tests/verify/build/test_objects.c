/* Kept objects: the second build of the same inputs runs no compiler, and any other input does. */
#include <check.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "skip.h"
#include "suites.h"
#include "work_folder.h"
#include "verify/build/build.h"
#include "verify/build/compiler.h"
#include "verify/build/object_store.h"
#include "verify/sandbox/sandbox.h"

#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char error[4096];
static struct build built;

static void leave_folder(void)
{
    build_clear(&built);
    work_folder_leave();
}

/* Builds the file a while after its last change, since a change just before the compiler is in doubt. */
static void build(const char *path)
{
    const struct build_options options = {.path = path,
                                          .backend = strstr(path, ".cu") ? BACKEND_CUDA : BACKEND_HOST,
                                          .arch = "90a",
                                          .timeout = 120};
    build_clear(&built);
    usleep(50000);
    ck_assert_msg(build_candidate(&built, &options, error, sizeof error) == BUILD_OK, "%s", error);
}

static int answer(void)
{
    void *const object = dlopen(built.object, RTLD_NOW | RTLD_LOCAL),
                *found = object ? dlsym(object, "answer") : NULL;
    int (*call)(void);
    ck_assert_ptr_nonnull(found);
    memcpy(&call, &found, sizeof call);
    const int value = call();
    dlclose(object);
    return value;
}

static int kept_objects(void)
{
    int count = -1;
    FILE *const out = popen("find unseen/objects -type f 2>/dev/null | wc -l", "re");
    ck_assert_int_eq(fscanf(out, "%d", &count), 1);
    pclose(out);
    return count;
}

/* --- equal inputs --- */

START_TEST(the_second_build_takes_the_object_of_the_first)
{
    char command[700];
    work_folder_write("kernel.c", "int answer(void) { return 42; }\n");
    build("kernel.c");
    ck_assert(!built.kept);
    snprintf(command, sizeof command, "cp %s first.so", built.object);
    ck_assert_int_eq(system(command), 0);
    build("kernel.c");
    ck_assert(built.kept);
    ck_assert_int_eq(answer(), 42);
    snprintf(command, sizeof command, "cmp first.so %s", built.object);
    ck_assert_int_eq(system(command), 0);
    object_store_enable(false);
    build("kernel.c");
    ck_assert(!built.kept);
    ck_assert_int_eq(kept_objects(), 1);
}
END_TEST

START_TEST(what_does_not_compile_is_not_kept)
{
    const struct build_options options = {.path = "kernel.c", .timeout = 60};
    work_folder_write("kernel.c", "int answer(void) { return nothing; }\n");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(build_candidate(&built, &options, error, sizeof error), BUILD_FAILED);
        ck_assert_msg(strstr(error, "nothing") != NULL, "%s", error);
    }
    ck_assert_int_eq(kept_objects(), 0);
}
END_TEST

/* --- other inputs --- */

static const struct {
    const char *name, *kernel, *change;
} changes[] = {
    {"the source", "#define N 1\n",
     "echo '#define N 2' >kernel.c; echo 'int answer(void) { return N; }' >>kernel.c"},
    {"a comment of the source", "#define N 1\n", "echo '// other' >>kernel.c"},
    {"a header", "#include \"n.h\"\n", "echo '#define N 2' >n.h"},
    {"the target of a link", "#include \"link.h\"\n", "ln -sf two.h link.h"},
    {"a new header that hides another", "#include <n.h>\n", "echo '#define N 2' >first/n.h"},
    {"the mere presence of a header",
     "#if __has_include(\"new.h\")\n#define N 2\n#else\n#define N 1\n#endif\n", "touch new.h"},
};
enum { CHANGES = sizeof changes / sizeof *changes };

START_TEST(another_input_makes_another_object)
{
    char kernel[400];
    ck_assert_int_eq(mkdir("first", 0755) + mkdir("second", 0755), 0);
    ck_assert(sandbox_add_source("first") && sandbox_add_source("second"));
    work_folder_write("n.h", "#define N 1\n");
    work_folder_write("second/n.h", "#define N 1\n");
    work_folder_write("one.h", "#define N 1\n");
    work_folder_write("two.h", "#define N 2\n");
    ck_assert_int_eq(symlink("one.h", "link.h"), 0);
    snprintf(kernel, sizeof kernel, "%sint answer(void) { return N; }\n", changes[_i].kernel);
    work_folder_write("kernel.c", kernel);
    for (int i = 0; i < 2; i++) {
        build("kernel.c");
        ck_assert_msg(built.kept == (i == 1), "%s", changes[_i].name);
        ck_assert_int_eq(answer(), 1);
    }
    ck_assert_int_eq(system(changes[_i].change), 0);
    build("kernel.c");
    ck_assert_msg(!built.kept, "%s", changes[_i].name);
    ck_assert_int_eq(answer(), strstr(changes[_i].name, "comment") ? 1 : 2);
}
END_TEST

START_TEST(variables_and_folders_of_the_compiler_belong_to_the_key)
{
    work_folder_write("kernel.c", "int answer(void) { return 1; }\n");
    unsetenv("LIBRARY_PATH");
    build("kernel.c");
    setenv("LIBRARY_PATH", "/nonexistent", 1);
    build("kernel.c");
    ck_assert(!built.kept);
    unsetenv("LIBRARY_PATH");
    build("kernel.c");
    ck_assert(built.kept);
    ck_assert(sandbox_add_source("."));
    build("kernel.c");
    ck_assert(!built.kept);
}
END_TEST

/* --- what is never kept --- */

static const char *const unkept[] = {
    "const char *answer(void) { return __TIME__; }\n",
    "const char *answer(void) { return __DATE__ __TIMESTAMP__; }\n",
    "__asm__(\".pushsection .rodata\\n.incbin \\\"data\\\"\\n.popsection\");\n",
    "__asm__(\".macro m a, b\\n.pushsection .rodata\\n.\\\\a\\\\b \\\"data\\\"\\n.popsection\\n.endm\\nm "
    "inc, bin\");\n",
    "__asm__(\".include \\\"data.s\\\"\");\n",
    "#include \"before.h\"\nint answer(void) { return N; }\n",
};

START_TEST(an_input_outside_of_the_text_keeps_the_object_out)
{
    work_folder_write("data", "data\n");
    work_folder_write("data.s", "# data\n");
    work_folder_write("before.h", "#define N 1\n");
    ck_assert_int_eq(
        system("cc -std=gnu11 -O2 -march=native -fPIC -shared -fopenmp -x c-header before.h -o before.h.gch"),
        0);
    work_folder_write("kernel.c", unkept[_i]);
    build("kernel.c");
    build("kernel.c");
    ck_assert(!built.kept);
    ck_assert_int_eq(kept_objects(), 0);
}
END_TEST

/* A stand-in for cc changes the header between the preprocessor and the compiler. */
START_TEST(a_header_that_changes_meanwhile_keeps_the_object_out)
{
    ck_assert_int_eq(mkdir("bin", 0755), 0);
    work_folder_write(
        "bin/cc",
        "#!/bin/sh\ncase \" $* \" in *\" -E \"*|\" --version \") ;; *) echo '#define N 2' >n.h ;; esac\n"
        "exec /usr/bin/cc \"$@\"\n");
    chmod("bin/cc", 0755);
    work_folder_write("n.h", "#define N 1\n");
    work_folder_write("kernel.c", "#include \"n.h\"\nint answer(void) { return N; }\n");
    setenv("UNSEEN_NO_SANDBOX", "1", 1);
    setenv("PATH", "bin:/usr/bin:/bin", 1);
    build("kernel.c");
    ck_assert_int_eq(answer(), 2);
    ck_assert_int_eq(kept_objects(), 0);
}
END_TEST

/* --- the store --- */

static const char *const damages[] = {
    "truncate -s -1 $F",
    "truncate -s 10 $F",
    "printf x | dd of=$F bs=1 seek=900 conv=notrunc status=none",
    "mv $F elsewhere; ln -s $PWD/elsewhere $F",
};

START_TEST(a_damaged_object_is_not_used)
{
    char command[300];
    work_folder_write("kernel.c", "int answer(void) { return 42; }\n");
    build("kernel.c");
    snprintf(command, sizeof command, "F=$(find unseen/objects -type f); %s", damages[_i]);
    ck_assert_int_eq(system(command), 0);
    build("kernel.c");
    ck_assert(!built.kept);
    ck_assert_int_eq(answer(), 42);
    build("kernel.c");
    ck_assert(built.kept);
}
END_TEST

static void fill(const char *path, char byte, size_t size)
{
    FILE *const out = fopen(path, "we");
    for (size_t i = 0; i < size; i++)
        fputc(byte, out);
    ck_assert_int_eq(fclose(out), 0);
}

/* Keeps and takes one key; all bytes of what is taken must be equal, and so of one writer. */
static void write_and_read(char byte)
{
    char from[16], to[16], text[5000];
    snprintf(from, sizeof from, "from-%c", byte);
    snprintf(to, sizeof to, "to-%c", byte);
    fill(from, byte, 1000 + 400 * (size_t)(byte - 'a'));
    for (int i = 0; i < 30; i++) {
        object_store_keep(KEY, from);
        if (!object_store_take(KEY, to))
            _exit(1);
        FILE *const in = fopen(to, "re");
        const size_t size = fread(text, 1, sizeof text, in);
        fclose(in);
        unlink(to);
        if (size != 1000 + 400 * (size_t)(text[0] - 'a') || strspn(text, (char[]){text[0], 0}) < size)
            _exit(2);
    }
    _exit(0);
}

START_TEST(many_writers_leave_whole_objects)
{
    enum { WRITERS = 6 };
    int status;
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0)
            write_and_read((char)('a' + i));
    for (int i = 0; i < WRITERS; i++) {
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(kept_objects(), 1);
}
END_TEST

START_TEST(an_object_of_another_key_is_not_used)
{
    char command[400];
    fill("from", 'x', 100);
    object_store_keep(KEY, "from");
    ck_assert(object_store_take(KEY, "to"));
    snprintf(command, sizeof command,
             "mkdir -p unseen/objects/f && cp unseen/objects/0/%s unseen/objects/f/f%.63s", KEY, KEY);
    ck_assert_int_eq(system(command), 0);
    char other[65];
    snprintf(other, sizeof other, "f%.63s", KEY);
    ck_assert(!object_store_take(other, "other"));
    ck_assert_int_ne(access("other", F_OK), 0);
}
END_TEST

START_TEST(the_least_recently_used_object_leaves_first)
{
    char name[20];
    ck_assert_int_eq(mkdir("store", 0700), 0);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "store/%d", i);
        fill(name, 'x', 1000);
        const struct timespec used[2] = {{1000 + (i * 7) % 5, 0}, {1000 + (i * 7) % 5, 0}};
        ck_assert_int_eq(utimensat(AT_FDCWD, name, used, 0), 0);
    }
    object_store_trim("store", 5000);
    ck_assert_int_eq(system("[ $(ls store | wc -l) = 5 ]"), 0);
    object_store_trim("store", 2500); /* used in the order 0 3 1 4 2 */
    ck_assert_int_eq(system("[ \"$(echo $(ls store))\" = '2 4' ]"), 0);
}
END_TEST

START_TEST(taking_an_object_is_a_use)
{
    struct stat status;
    fill("from", 'x', 100);
    object_store_keep(KEY, "from");
    const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, "unseen/objects/0/" KEY, long_ago, 0), 0);
    ck_assert(object_store_take(KEY, "to"));
    ck_assert_int_eq(stat("unseen/objects/0/" KEY, &status), 0);
    ck_assert_int_gt(status.st_mtim.tv_sec, 1000);
}
END_TEST

/* --- CUDA --- */

START_TEST(both_passes_of_nvcc_belong_to_the_key)
{
    char nvcc[600];
    if (!compiler_find_nvcc(nvcc, sizeof nvcc))
        SKIP_TEST("there is no nvcc");
    work_folder_write("host.h", "#define N 1\n");
    work_folder_write("device.h", "#define M 1\n");
    work_folder_write("kernel.cu",
                      "#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n#include \"device.h\"\n#else\n#define M 0\n#endif\n"
                      "#ifndef __CUDA_ARCH__\n#include \"host.h\"\n#else\n#define N 0\n#endif\n"
                      "__global__ void k(int *p) { *p = M; }\n"
                      "extern \"C\" int answer(void) { return N; }\n");
    for (int i = 0; i < 2; i++) {
        build("kernel.cu");
        ck_assert_int_eq(built.kept, i == 1);
    }
    work_folder_write("host.h", "#define N 2\n");
    build("kernel.cu");
    ck_assert(!built.kept);
    ck_assert_int_eq(answer(), 2);
    work_folder_write("device.h", "#define M 2\n");
    build("kernel.cu");
    ck_assert(!built.kept);
}
END_TEST

START_TEST(a_file_of_nvccs_assembler_keeps_the_object_out)
{
    char nvcc[600];
    if (!compiler_find_nvcc(nvcc, sizeof nvcc))
        SKIP_TEST("there is no nvcc");
    work_folder_write("data", "data\n");
    work_folder_write("kernel.cu",
                      "__asm__(\".pushsection .rodata\\n.incbin \\\"data\\\"\\n.popsection\");\n");
    build("kernel.cu");
    ck_assert_int_eq(kept_objects(), 0);
}
END_TEST

TCase *objects_case(void)
{
    TCase *tests = tcase_create("objects");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, work_folder_enter, leave_folder);
    tcase_add_test(tests, the_second_build_takes_the_object_of_the_first);
    tcase_add_test(tests, what_does_not_compile_is_not_kept);
    tcase_add_loop_test(tests, another_input_makes_another_object, 0, CHANGES);
    tcase_add_test(tests, variables_and_folders_of_the_compiler_belong_to_the_key);
    tcase_add_loop_test(tests, an_input_outside_of_the_text_keeps_the_object_out, 0,
                        sizeof unkept / sizeof *unkept);
    tcase_add_test(tests, a_header_that_changes_meanwhile_keeps_the_object_out);
    tcase_add_loop_test(tests, a_damaged_object_is_not_used, 0, sizeof damages / sizeof *damages);
    tcase_add_test(tests, many_writers_leave_whole_objects);
    tcase_add_test(tests, an_object_of_another_key_is_not_used);
    tcase_add_test(tests, the_least_recently_used_object_leaves_first);
    tcase_add_test(tests, taking_an_object_is_a_use);
    tcase_add_test(tests, both_passes_of_nvcc_belong_to_the_key);
    tcase_add_test(tests, a_file_of_nvccs_assembler_keeps_the_object_out);
    return tests;
}

/* The isolated runner: every call finds the process as the first one did, and the candidate's own state
 * stays. */
#include "child_fixture.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct build states;

/* Bit i of a call's return value: the i-th of these was not put back. */
static const char *const parts[] = {"rounding and denormals",
                                    "the x87",
                                    "signals and timers",
                                    "environment",
                                    "folder and umask",
                                    "locale",
                                    "descriptors",
                                    "affinity and policy",
                                    "limits",
                                    "errno",
                                    "floating-point traps",
                                    "signal mask",
                                    "end with the parent's"};
enum { PARTS = sizeof parts / sizeof *parts };

static const char head[] =
    "#define _GNU_SOURCE\n"
    "#include <errno.h>\n#include <fcntl.h>\n#include <fenv.h>\n#include <locale.h>\n#include <omp.h>\n"
    "#include <sched.h>\n#include <signal.h>\n#include <stdint.h>\n#include <stdio.h>\n#include "
    "<stdlib.h>\n#include <string.h>\n"
    "#include <sys/prctl.h>\n#include <sys/resource.h>\n#include <sys/stat.h>\n#include <sys/time.h>\n"
    "#include <unistd.h>\n#include <wchar.h>\n"
    "#ifdef __x86_64__\n#include <xmmintrin.h>\n"
    "static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }\n"
    "static int flushes(void) { return (_mm_getcsr() & 0x8040) != 0; }\n"
    "static void spoil_x87(void) { unsigned short w = 0x27f; __asm__ volatile(\"fldcw %0\\n fld1\\n fld1\" : "
    ": "
    "\"m\"(w)); }\n"
    "static int x87(void) { unsigned short e[14]; __asm__ volatile(\"fnstenv %0\\n fldcw %0\" : \"+m\"(e));\n"
    "    return e[0] != 0x37f || e[4] != 0xffff; }\n"
    "#else\nstatic void flush(void) { }\nstatic int flushes(void) { return 0; }\n"
    "static void spoil_x87(void) { }\nstatic int x87(void) { return 0; }\n#endif\n"
    "#define KERNEL(name) int name(const float *x, float *y, int64_t n, void *stream)\n"
    "static struct stat out, err; static struct rlimit files; static cpu_set_t cpus;\n"
    "static void on(int s) { (void)s; _exit(9); }\n"
    "static int leads_to(int fd, const struct stat *to) { struct stat s; return fstat(fd, &s) == 0 && "
    "s.st_ino == to->st_ino; }\n";

static const char spoils[] =
    "static void spoil(void) { cpu_set_t one; CPU_ZERO(&one);\n"
    "    struct sigaction a = {.sa_handler = on}; struct itimerval t = {{0, 20000}, {0, 20000}};\n"
    "    sigset_t s; sigfillset(&s); struct rlimit few = {16, files.rlim_max};\n"
    "    struct sched_param p = {0};\n"
    "    for (int i = 0; i < CPU_SETSIZE; i++) if (CPU_ISSET(i, &cpus)) { CPU_SET(i, &one); break; }\n"
    "    sigaction(SIGALRM, &a, NULL); sigaction(SIGFPE, &a, NULL); sigprocmask(SIG_SETMASK, &s, NULL);\n"
    "    setitimer(ITIMER_REAL, &t, NULL); raise(SIGALRM);\n"
    "    setenv(\"OMP_NUM_THREADS\", \"99\", 1); setenv(\"SPOILED\", \"1\", 1);\n"
    "    if (chdir(\"/proc\")) abort(); umask(0); setlocale(LC_ALL, \"C.UTF-8\");\n"
    "    dup2(open(\"/dev/null\", O_WRONLY), 1); close(2);\n"
    "    sched_setaffinity(0, sizeof one, &one); sched_setscheduler(0, SCHED_BATCH, &p);\n"
    "    prctl(PR_SET_PDEATHSIG, 0); setrlimit(RLIMIT_NOFILE, &few);\n"
    "    fesetround(FE_UPWARD); feenableexcept(FE_DIVBYZERO); flush(); spoil_x87(); errno = 7; }\n"
    "static int found(void) { int wrong = 0, death = 0, e = errno; struct sigaction a, f; sigset_t m;\n"
    "    struct itimerval t; char at[64]; struct rlimit now; cpu_set_t set; struct stat s = {0}; (void)s;\n"
    "    wrong |= (fegetround() != FE_TONEAREST || flushes()) << 0; wrong |= x87() << 1;\n"
    "    sigaction(SIGALRM, NULL, &a); sigaction(SIGFPE, NULL, &f); getitimer(ITIMER_REAL, &t);\n"
    "    wrong |= (a.sa_handler == on || f.sa_handler == on || t.it_interval.tv_usec) << 2;\n"
    "    wrong |= (getenv(\"SPOILED\") || strcmp(getenv(\"OMP_NUM_THREADS\"), \"2\")) << 3;\n"
    "    mode_t u = umask(077); umask(u); wrong |= (!getcwd(at, sizeof at) || strcmp(at, \"/\") || u == 0) "
    "<< "
    "4;\n"
    "    wrong |= (strcmp(setlocale(LC_ALL, NULL), \"C\") != 0) << 5;\n"
    "    wrong |= (!leads_to(1, &out) || !leads_to(2, &err)) << 6;\n"
    "    sched_getaffinity(0, sizeof set, &set);\n"
    "    wrong |= (!CPU_EQUAL(&set, &cpus) || sched_getscheduler(0) != SCHED_OTHER) << 7;\n"
    "    getrlimit(RLIMIT_NOFILE, &now); wrong |= (now.rlim_cur != files.rlim_cur) << 8; wrong |= (e != 0) "
    "<< "
    "9;\n"
    "    wrong |= (fegetexcept() != 0) << 10; sigprocmask(SIG_SETMASK, NULL, &m);\n"
    "    wrong |= sigismember(&m, SIGTERM) << 11; prctl(PR_GET_PDEATHSIG, &death);\n"
    "    return wrong | (death != SIGKILL) << 12; }\n"
    "__attribute__((constructor)) static void at_load(void) { fstat(1, &out); fstat(2, &err);\n"
    "    getrlimit(RLIMIT_NOFILE, &files); sched_getaffinity(0, sizeof cpus, &cpus); spoil(); }\n"
    "KERNEL(spoils) { (void)x, (void)y, (void)n, (void)stream; int wrong = found(); spoil(); return wrong; "
    "}\n"
    "KERNEL(relies) { volatile float tiny = 1e-39f, third = 3; (void)stream;\n"
    "    for (int64_t i = 0; i < n; i++) y[i] = x[i] * tiny; y[0] = 1 / third;\n"
    "    fesetround(FE_UPWARD); flush(); return 0; }\n"
    "static uint32_t mark(uint32_t i) { return (i + 1) * 2654435761u ^ 0x5ec2e7a1u; }\n"
    "static int holds(const char *p, const char *end) { for (; p + 64 <= end; p += 4) {\n"
    "    int i = 0; while (i < 16 && *(const volatile uint32_t *)(p + 4 * i) == mark((uint32_t)i)) i++;\n"
    "    if (i == 16) return 1; } return 0; }\n"
    "KERNEL(searches) { enum { BYTES = 32 << 20 }; char line[512]; int found = 0; (void)stream;\n"
    "    char *fresh = malloc(BYTES); found = holds(fresh, fresh + BYTES);\n"
    "    FILE *maps = fopen(\"/proc/self/maps\", \"r\");\n"
    "    while (fgets(line, sizeof line, maps)) { unsigned long a, b; char r;\n"
    "        if (sscanf(line, \"%lx-%lx %c\", &a, &b, &r) == 3 && r == 'r' && !strstr(line, \"[v\") &&\n"
    "            b - a < 1ul << 30)\n"
    "            found += holds((const char *)a, (const char *)b); }\n"
    "    fclose(maps); return found + (!x || !y || n < 0); }\n"
    "KERNEL(keeps) { static float *mine; static int fd = -1, calls; (void)x, (void)y, (void)n, "
    "(void)stream;\n"
    "    struct rlimit stack; sigset_t set; struct sigaction a = {.sa_handler = on}, now;\n"
    "    if (calls++ == 0) { mine = malloc(64); mine[3] = 5; fd = open(\"/dev/zero\", O_RDONLY);\n"
    "        omp_set_num_threads(3); sigaction(SIGUSR1, &a, NULL); getrlimit(RLIMIT_STACK, &stack);\n"
    "        stack.rlim_cur = 4 << 20; setrlimit(RLIMIT_STACK, &stack); sigemptyset(&set); }\n"
    "    sigaction(SIGUSR1, NULL, &now);\n"
    "    return (mine[3] != 5) + 2 * (fcntl(fd, F_GETFD) < 0) + 4 * (omp_get_max_threads() != 3) +\n"
    "        8 * (now.sa_handler != on); }\n";

static void compile(void)
{
    char path[128], both[sizeof head + sizeof spoils];
    snprintf(both, sizeof both, "%s%s", head, spoils);
    fixture_compile(&states, "states.c", both);
    snprintf(path, sizeof path, "%s/states.c", it.folder);
    unlink(path);
}

static void forget(void)
{
    build_clear(&states);
}

static void start(const char *symbol)
{
    ck_assert_msg(fixture_start_object(states.object, symbol, NULL) == CHILD_OK, "%s", it.text);
    ck_assert_msg(child_map(it.child, 0, 0, &it.x, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
    ck_assert_msg(child_map(it.child, 0, 1, &it.y, it.text, sizeof it.text) == CHILD_OK, "%s", it.text);
}

static void expect_nothing(int wrong)
{
    for (int i = 0; i < PARTS; i++)
        ck_assert_msg(!(wrong >> i & 1), "%s: not put back (all: 0x%x)", parts[i], (unsigned)wrong);
    ck_assert_int_eq(wrong, 0);
}

/* After a constructor, and after a call; with the sandbox and without. */
START_TEST(every_call_finds_the_process_as_the_first_did)
{
    int returned = -1;
    setenv("UNSEEN_NO_SANDBOX", _i ? "1" : "0", 1);
    start("spoils");
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(fixture_call(PLACE_LOW, 20, &returned) == CHILD_OK, "%s", it.text);
        expect_nothing(returned);
    }
}
END_TEST

/* The second call computes with denormals and rounds to nearest. The judge's own arithmetic is another
 * process's. */
START_TEST(who_relies_on_modes_of_an_earlier_call_gains_nothing)
{
    int returned = -1;
    float *in = (float *)((char *)it.x.base + region_offset(&it.x, PLACE_LOW));
    const float *out = (const float *)((char *)it.y.base + region_offset(&it.y, PLACE_LOW));
    volatile float tiny = 1e-39f, third = 3;
    for (int i = 0; i < FIXTURE_COUNT; i++)
        in[i] = 1;
    start("relies");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fixture_call(PLACE_LOW, 20, &returned), CHILD_OK);
        ck_assert(out[FIXTURE_COUNT - 1] == tiny);
        ck_assert(out[0] == 1 / third);
        ck_assert_int_eq(fegetround(), FE_TONEAREST);
    }
}
END_TEST

START_TEST(what_a_kernel_keeps_for_itself_is_left_alone)
{
    int returned = -1;
    start("keeps");
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(fixture_call(PLACE_LOW, 20, &returned) == CHILD_OK, "%s", it.text);
        ck_assert_int_eq(returned, 0);
    }
}
END_TEST

static void write_marks(void *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes / 4; i++)
        ((uint32_t *)memory)[i] = ((uint32_t)(i % 16) + 1) * 2654435761u ^ 0x5ec2e7a1u;
}

/* Memory that the judge holds or gave back belongs to another process. The search finds a tensor's content,
 * so it is worth something. */
START_TEST(a_search_of_all_memory_finds_nothing_of_the_judges)
{
    enum { BYTES = 4 << 20 };
    struct region gone;
    int returned = -1;
    uint32_t *judges = malloc(BYTES);
    ck_assert_ptr_nonnull(judges);
    write_marks(judges, BYTES);
    ck_assert_int_eq(region_create(&gone, BACKEND_HOST, BYTES, REGION_ALIGN, it.text, sizeof it.text), 0);
    write_marks(gone.base, BYTES);
    start("searches");
    region_destroy(&gone);
    ck_assert_msg(fixture_call(PLACE_LOW, 20, &returned) == CHILD_OK, "%s", it.text);
    ck_assert_int_eq(returned, 0);
    write_marks(it.x.base, 64);
    ck_assert_msg(fixture_call(PLACE_LOW, 20, &returned) == CHILD_OK, "%s", it.text);
    ck_assert_int_eq(returned, 1);
    free(judges);
}
END_TEST

TCase *child_state_case(void)
{
    TCase *tests = tcase_create("state");
    fixture_add(tests);
    tcase_add_unchecked_fixture(tests, compile, forget);
    tcase_add_loop_test(tests, every_call_finds_the_process_as_the_first_did, 0, 2);
    tcase_add_test(tests, who_relies_on_modes_of_an_earlier_call_gains_nothing);
    tcase_add_test(tests, a_search_of_all_memory_finds_nothing_of_the_judges);
    tcase_add_test(tests, what_a_kernel_keeps_for_itself_is_left_alone);
    return tests;
}

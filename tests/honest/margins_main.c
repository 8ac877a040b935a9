/* unseen-margins: how far honest programs stay inside the allowed error, which mutants exceed it.
 *
 *     build/unseen-margins softmax                       # 64 settings, every mutant
 *     build/unseen-margins gemm_fp8 --capability 90      # on the host, with an emulated Hopper matrix unit
 *     build/unseen-margins kda --search 1000             # the worst honest case, by hill climbing
 *     build/unseen-margins all --device cuda --settings 64 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/device/memory.h"
#include "verify/sandbox/sandbox.h"
#include "margins.h"

struct arguments {
    const char *problem, *device, *output;
    int capability, search, print;
    double loosened;
    struct margin_plan plan;
};

enum {
    DEVICE = 256,
    CAPABILITY,
    SETTINGS,
    CONFIGS,
    LARGE,
    SEED,
    HUNT,
    SEARCH,
    PRINT,
    FIRST,
    LAST,
    LOOSENED,
    OUTPUT
};

static const struct argp_option option[] = {
    {"device", DEVICE, "host|cuda", 0, "where the programs run (host)", 0},
    {"output", OUTPUT, "TENSOR", 0, "which output is judged (the first)", 0},
    {"capability", CAPABILITY, "N", 0, "whose declared arithmetic applies (the device's): 0 host, 80, 90", 0},
    {"settings", SETTINGS, "N", 0, "honest settings (64; 0: mutants only)", 0},
    {"configs", CONFIGS, "N", 0, "configurations for each setting (40)", 0},
    {"large", LARGE, "N", 0, "of these up to the machine's caps (2)", 0},
    {"hunt", HUNT, "N", 0, "drawn configurations a mutant may see (300; 0: no mutants)", 0},
    {"first", FIRST, "N", 0, "mutants from the N-th on, counted from 0", 0},
    {"last", LAST, "N", 0, ".. and before the N-th", 0},
    {"search", SEARCH, "RUNS", 0, "hill climbing for the worst honest case instead", 0},
    {"loosened", LOOSENED, "F", 0,
     "the allowed error times F: 0.5 should reject honest programs, 4 accept mutants", 0},
    {"print", PRINT, "N", 0, "print the first N settings and run nothing", 0},
    {"seed", SEED, "S", 0, "of settings and configurations (1)", 0},
    {"brief", 'b', NULL, 0, "mutants: only whether they are rejected", 0},
    {"verbose", 'v', NULL, 0, "every run and every mutant", 0},
    {0}};

static error_t take(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case DEVICE: a->device = text; break;
    case OUTPUT: a->output = text; break;
    case CAPABILITY: a->capability = atoi(text); break;
    case SETTINGS: a->plan.settings = atoi(text); break;
    case CONFIGS: a->plan.configs = atoi(text); break;
    case LARGE: a->plan.large = atoi(text); break;
    case HUNT: a->plan.hunt = atoi(text); break;
    case FIRST: a->plan.first = atoi(text); break;
    case LAST: a->plan.last = atoi(text); break;
    case SEARCH: a->search = atoi(text); break;
    case LOOSENED: a->loosened = atof(text); break;
    case PRINT: a->print = atoi(text); break;
    case SEED: a->plan.seed = strtoull(text, NULL, 10); break;
    case 'b': a->plan.brief = a->plan.must_only = true; break;
    case 'v': a->plan.verbose = true; break;
    case ARGP_KEY_ARG:
        if (a->problem)
            argp_error(state, "one problem, or 'all'");
        a->problem = text;
        break;
    case ARGP_KEY_END:
        if (!a->problem)
            argp_error(state, "a problem, or 'all'");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void print_settings(const struct arguments *a, const struct program *p, int capability)
{
    for (int i = 0; i < a->print; i++) {
        char text[SETTING_TEXT];
        const struct setting setting = setting_draw(p, capability, a->plan.seed, i);
        setting_format(p, &setting, text);
        printf("%s\n", text);
    }
}

/* Missed mutants and rejected honest elements fail; so do programs that could not run. */
static bool is_right(const struct margins *m, const struct bed *bed, const struct program *p)
{
    bool right = true;
    for (int c = 0; c < MARGIN_CLASSES; c++)
        right &= m->class[c].wrong == 0;
    for (int i = 0; i < p->mutant_count && i < MARGIN_MUTANTS; i++)
        right &= m->mutant[i].runs == 0 || m->mutant[i].rejected || mutant_admitted(p, i, bed->capability);
    return right;
}

static int run_problem(const struct arguments *a, const struct problem *problem, const struct device *device)
{
    const int output = a->output ? problem_tensor_index(problem, a->output) : problem_first_output(problem);
    struct bed bed = {.problem = problem,
                      .output = output,
                      .reference = output < 0 ? NULL : reference_find(problem, output),
                      .memory = memory_of(device->backend),
                      .device = device,
                      .capability = a->capability >= 0 ? a->capability : device->capability,
                      .loosened = a->loosened,
                      .report = calloc(1, sizeof *bed.report)};
    struct margins *m = calloc(1, sizeof *m);
    struct program p;
    char error[4096] = "out of memory";
    if (!bed.reference) {
        fprintf(stderr, "unseen-margins: nothing judges a tensor '%s' of %s\n", a->output, problem->name);
        free(bed.report);
        free(m);
        return 2;
    }
    int status = m && bed.report ? program_open(&p, problem, device, error, sizeof error) : -1;
    if (status != 0) {
        fprintf(stderr, "unseen-margins: %s\n", error);
    } else if (a->print) {
        print_settings(a, &p, bed.capability);
    } else {
        if (a->search)
            status = margins_search(m, &bed, &p, a->plan.seed, a->search);
        else if (a->plan.settings)
            status = margins_honest(m, &bed, &p, &a->plan);
        if (status == 0 && !a->search && a->plan.hunt)
            status = margins_mutants(m, &bed, &p, &a->plan);
        margins_print(m, &bed, &p);
        status = status == 0 && is_right(m, &bed, &p) ? 0 : 1;
    }
    if (status == 0 || m)
        program_close(&p);
    free(bed.report);
    free(m);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        option,
        take,
        "PROBLEM|all",
        "How far honest programs stay inside the allowed error, and which mutants "
        "exceed it.",
        NULL,
        NULL,
        NULL};
    struct arguments a = {.device = "host",
                          .capability = -1,
                          .plan = {.seed = 1, .settings = 64, .configs = 40, .large = 2, .hunt = 300}};
    struct device device;
    char error[512];
    int status = 0, ran = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sandbox_add_source("."); /* programs with switches include files beside them */
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    if (device_open(&device, a.device, error, sizeof error) != 0) {
        fprintf(stderr, "unseen-margins: %s\n", error);
        return 3;
    }
    for (const struct problem *const *p = problem_registry; *p; p++)
        if ((strcmp(a.problem, "all") == 0 && program_exists(*p)) || strcmp(a.problem, (*p)->name) == 0) {
            status |= run_problem(&a, *p, &device);
            ran++;
        }
    if (!ran)
        fprintf(stderr, "unseen-margins: no problem '%s'\n", a.problem);
    return ran ? status : 2;
}

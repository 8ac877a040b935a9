/* Compares a definition with the facts pinned in a file beside it, NAME.pinned: the published data, and the
 * width of its bounds. Kernels reveal a bound that is too narrow; one that is too wide is found only by
 * comparison. Lines:
 *
 *     signature x:f32 y:f32* rows cols            tensors, an output with a star, and arguments
 *     published 1e-05 1e-05                       atol, rtol
 *     work      FLOPS BYTES CONFIGURATION
 *     error     OUTPUT ERROR CONFIGURATION        error allowed to the host's arithmetic before the output is
 *                                                 rounded, mean over four elements
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "prove_internal.h"

enum { LINE = 640 };

/* Relative difference allowed: two compilers' evaluations of one formula differ by less, and a deliberate
 * change is larger. */
static const double near = 1e-3;

/* --- computed facts --- */

static void signature(const struct problem *problem, char *text, size_t size)
{
    static const char *const type[] = {[ARGUMENT_I64] = "",
                                       [ARGUMENT_I32] = ":i32",
                                       [ARGUMENT_BOOL] = ":bool",
                                       [ARGUMENT_F32] = ":f32",
                                       [ARGUMENT_F64] = ":f64"};
    static const char *const role[] = {[TENSOR_INPUT] = "", [TENSOR_OUTPUT] = "*", [TENSOR_INOUT] = "+"};
    size_t used = 0;
    text[0] = '\0';
    for (const struct tensor *t = problem->tensors; t->name && used < size; t++)
        used += (size_t)snprintf(text + used, size - used, "%s%s:%s%s", used ? " " : "", t->name,
                                 dtype_row(t->dtype)->name, role[t->role]);
    for (const struct argument *a = problem->arguments; a->name && used < size; a++)
        used += (size_t)snprintf(text + used, size - used, " %s%s", a->name, type[a->type]);
}

/* Sums over four elements of a poisoned output, so that a row's common offset does not contribute. */
static int sum_allowed(const struct layout *layout, const struct reference *reference,
                       struct judge_request *request, double loosened, double *sum)
{
    struct judge_report *report = malloc(sizeof *report);
    request->loosened = loosened;
    const int error = report ? layout_judge(layout, reference, request, report) : -1;
    *sum = 0;
    for (int s = 0; s < JUDGE_SAMPLES && !error; s++)
        *sum += report->sample[s].allowed;
    free(report);
    return error;
}

/* The error allowed to the arithmetic: the allowed error minus the rounding of the output. If the arithmetic
 * errs almost not at all, only the rounding remains. */
static int error_of(const struct judgement *j, const struct config *config, double *mean)
{
    struct layout layout;
    struct judge_request request;
    double allowed = 0, rounding = 0;
    int error = layout_open(&layout, memory_of(BACKEND_HOST), config, 0);
    const int64_t elements = error ? 0 : instance_tensor_count(&layout.instance.tensor[j->output]);
    if (elements > 0) {
        layout_request(&layout, j->output, 0, &request);
        for (int s = 0; s < JUDGE_SAMPLES; s++)
            request.sample[s] = elements * (2 * s + 1) / (2 * JUDGE_SAMPLES);
        error = sum_allowed(&layout, j->reference, &request, 1, &allowed);
        if (!error)
            error = sum_allowed(&layout, j->reference, &request, 1e-30, &rounding);
    }
    *mean = (allowed - rounding) / JUDGE_SAMPLES;
    layout_close(&layout);
    return error;
}

/* --- reading --- */

struct pin {
    struct proof *p;
    char where[1100]; /* "FILE:LINE" */
};

static void fail_line(const struct pin *pin, const char *text)
{
    prove_fail(pin->p, PROVE_PINNED, NULL, "signature, published, work or error, each with its figures",
               "%s: %s", pin->where, text);
}

static bool parse_config(const struct pin *pin, const char *line, struct config *config)
{
    struct space_error error;
    if (config_parse(config, pin->p->problem, line, pin->where, &error) == 0 &&
        space_contains(&pin->p->space, config, &error))
        return true;
    fail_line(pin, error.text);
    return false;
}

static void check_signature(const struct pin *pin, const char *rest)
{
    char text[LINE], expected[LINE + 16];
    signature(pin->p->problem, text, sizeof text);
    snprintf(expected, sizeof expected, "the signature %s", rest);
    if (strcmp(text, rest) != 0)
        prove_fail(pin->p, PROVE_PINNED, NULL, expected, "%s", text);
}

static void check_published(const struct pin *pin, const char *rest)
{
    const struct problem *problem = pin->p->problem;
    double atol, rtol;
    if (sscanf(rest, "%lf %lf", &atol, &rtol) != 2)
        fail_line(pin, rest);
    else if (problem->published_atol != atol || problem->published_rtol != rtol)
        prove_fail(pin->p, PROVE_PINNED, NULL, "the published tolerances as pinned",
                   "atol %g and rtol %g, pinned %g and %g", problem->published_atol, problem->published_rtol,
                   atol, rtol);
}

static bool check_work(const struct pin *pin, const char *rest)
{
    struct config config;
    struct instance instance;
    double flops, bytes;
    int used = 0;
    if (sscanf(rest, "%lf %lf %n", &flops, &bytes, &used) != 2 || !used) {
        fail_line(pin, rest);
        return true;
    }
    if (!parse_config(pin, rest + used, &config))
        return true;
    if (config_measure(&config, &instance) != 0)
        return prove_broke(pin->p, "measuring a configuration", -1);
    if (instance.flops != flops || instance.bytes != bytes)
        prove_fail(pin->p, PROVE_PINNED, &config, "flops and bytes as pinned",
                   "%.17g and %.17g, pinned %.17g and %.17g", instance.flops, instance.bytes, flops, bytes);
    instance_clear(&instance);
    return true;
}

static const struct judgement *judgement_of(const struct proof *p, const char *output)
{
    for (int j = 0; j < p->judgements; j++)
        if (strcmp(p->problem->tensors[p->judgement[j].output].name, output) == 0)
            return &p->judgement[j];
    return NULL;
}

static bool check_error(const struct pin *pin, const char *rest)
{
    char output[64];
    struct config config;
    double pinned, found;
    int used = 0;
    const bool parsed = sscanf(rest, "%63s %lf %n", output, &pinned, &used) == 2 && used;
    const struct judgement *j = parsed ? judgement_of(pin->p, output) : NULL;
    if (!j) {
        fail_line(pin, rest);
        return true;
    }
    if (!parse_config(pin, rest + used, &config))
        return true;
    const int error = error_of(j, &config, &found);
    if (error)
        return prove_broke(pin->p, "judging", error);
    if (!(fabs(found - pinned) <= near * pinned))
        prove_fail(pin->p, PROVE_PINNED, &config, "the arithmetic's share of the allowed error as pinned",
                   "of %s %.6g, %.4g times the pinned %.6g", output, found, found / pinned, pinned);
    return true;
}

static bool check_line(const struct pin *pin, char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    char *key = line + strspn(line, " \t"), *rest = key + strcspn(key, " \t");
    if (!*key)
        return true;
    if (*rest)
        *rest++ = '\0';
    rest += strspn(rest, " \t");
    for (size_t n = strlen(rest); n > 0 && strchr(" \t", rest[n - 1]); n--)
        rest[n - 1] = '\0';
    prove_ask(pin->p, PROVE_PINNED, 1);
    if (strcmp(key, "signature") == 0)
        check_signature(pin, rest);
    else if (strcmp(key, "published") == 0)
        check_published(pin, rest);
    else if (strcmp(key, "work") == 0)
        return check_work(pin, rest);
    else if (strcmp(key, "error") == 0)
        return check_error(pin, rest);
    else
        fail_line(pin, key);
    return true;
}

static bool read_file(struct proof *p, FILE *file, const char *path)
{
    char line[LINE];
    struct pin pin = {.p = p};
    bool ok = true;
    for (int number = 1; ok && fgets(line, sizeof line, file); number++) {
        snprintf(pin.where, sizeof pin.where, "%s:%d", path, number);
        ok = check_line(&pin, line);
    }
    return ok;
}

/* --- proposed pins --- */

/* The smallest configuration of a class with any sensitivity. */
static const struct prove_telling *least(const struct proof *p, const char *output, int class)
{
    const struct prove_telling *found = NULL;
    for (int i = 0; i < p->report->telling_count; i++) {
        const struct prove_telling *t = &p->report->telling[i];
        if (prove_class_of(&t->config) == class && strcmp(t->output, output) == 0 && t->values >= 4 &&
            (!found || t->flops < found->flops))
            found = t;
    }
    return found;
}

static bool list_errors(struct proof *p, const struct judgement *j, FILE *out)
{
    const char *output = p->problem->tensors[j->output].name;
    char line[RESULT_LINE_SIZE];
    for (int class = 0; class < (p->classes ? p->classes : 1) && !j->reference->discrete; class ++) {
        const struct prove_telling *t = least(p, output, class);
        double mean = 0;
        const int error = t ? error_of(j, &t->config, &mean) : 0;
        if (error)
            return prove_broke(p, "judging", error);
        if (!t || !isfinite(mean))
            continue;
        config_format(&t->config, line, sizeof line);
        fprintf(out, "error     %s %.6g %s\n", output, mean, line);
    }
    return true;
}

static bool list_pins(struct proof *p)
{
    char line[LINE];
    size_t size;
    FILE *out = open_memstream(&p->report->pins, &size);
    bool ok = out || prove_broke(p, "listing what can be pinned", -1);
    if (!ok)
        return false;
    signature(p->problem, line, sizeof line);
    fprintf(out, "signature %s\npublished %g %g\n", line, p->problem->published_atol,
            p->problem->published_rtol);
    for (int i = 0; i < p->report->seen_count; i++) {
        const struct prove_seen *s = &p->report->seen[i];
        config_format(&s->config, line, sizeof line);
        if (strstr(line, " seed="))
            *strstr(line, " seed=") = '\0';
        if (!s->host)
            fprintf(out, "work      %.17g %.17g %s\n", s->flops, s->bytes, line);
    }
    for (int j = 0; j < p->judgements && ok; j++)
        ok = list_errors(p, &p->judgement[j], out);
    fclose(out);
    return ok;
}

bool prove_pinned(struct proof *p)
{
    char path[1024];
    const bool there = folder_shape(p->problem, "pinned", path, sizeof path) == 0;
    FILE *file = there ? fopen(path, "re") : NULL;
    prove_progress(p, "pinned", 0, 0);
    prove_threads(p, 0);
    prove_says(p, PROVE_PINNED, there ? "facts in %.100s.pinned" : "facts: there is no %.100s.pinned",
               p->problem->name);
    bool ok = !file || read_file(p, file, path);
    if (ok && there && (!file || ferror(file))) /* an unanswered check must not pass as right */
        ok = prove_break(p, PROVE_ENVIRONMENT,
                         "%s: cannot be read: %s\n---> check the path and its permissions", path,
                         strerror(errno));
    if (file)
        fclose(file);
    return ok && list_pins(p);
}

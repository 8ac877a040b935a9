#include <stdio.h>
#include <string.h>

#include "prove_internal.h"

static const char *promise(enum data_kind data)
{
    static const char *const name[] = {
        [DATA_SIGN_RANDOM] = "random signs", [DATA_ANY] = "nothing", [DATA_EXACT] = "exact sums"};
    return name[data];
}

/* Prints a text of several lines with its margin. */
static void print_text(FILE *out, const char *label, const char *text)
{
    fprintf(out, "          %-9s ", label);
    for (const char *c = text; *c; c++)
        if (*c == '\n')
            fprintf(out, "\n                    ");
        else
            fputc(*c, out);
    fprintf(out, "\n");
}

static void print_check(FILE *out, const struct prove_finding *f, enum prove_check check)
{
    if (!f->what[0] && !f->failures)
        fprintf(out, "  %-7s %-15s for what failed above\n", "not run", prove_check_name(check));
    else
        fprintf(out, "  %-7s %-15s %lld %s\n", f->failures ? "FAILED" : "ok", prove_check_name(check),
                (long long)f->asked, f->what);
    if (!f->failures)
        return;
    print_text(out, "expected", f->expected);
    print_text(out, "found", f->found);
    if (f->line[0])
        print_text(out, "shown by", f->line);
    if (f->failures > 1)
        fprintf(out, "          and %lld more\n", (long long)f->failures - 1);
}

static void print_seen(FILE *out, const struct prove_report *report)
{
    char line[RESULT_LINE_SIZE];
    fprintf(out, "\n  %-12s %-12s seen configuration\n", "flops", "bytes");
    for (int i = 0; i < report->seen_count; i++) {
        const struct prove_seen *s = &report->seen[i];
        config_format(&s->config, line, sizeof line);
        fprintf(out, "  %-12.6g %-12.6g %s%s\n", s->flops, s->bytes, line, s->host ? "  (host)" : "");
    }
}

static void print_classes(FILE *out, const struct prove_report *report)
{
    fprintf(out, "\n  What each input class can tell: the median of allowed error over |value|, and how many "
                 "elements that\n"
                 "  were set to 0 or doubled were accepted.\n");
    fprintf(out, "  %-11s %-10s %-13s %-9s %s\n", "class", "output", "promises", "median", "accepted");
    for (int i = 0; i < report->class_count; i++) {
        const struct prove_class *c = &report->class[i];
        fprintf(out, "  %-11s %-10s %-13s %-9.2g %lld of %lld%s%s", c->class->name, c->output,
                promise(c->class->data), c->median, (long long)c->accepted, (long long)c->changed,
                c->class->discriminating ? ", discriminating" : "",
                c->tells_nothing ? ", tells nothing" : "");
        if (c->blind && !c->tells_nothing)
            fprintf(out, ", tells nothing in %d of %d configurations, such as %s", c->blind, c->configs,
                    c->line);
        fprintf(out, "\n");
    }
}

static void print_kernels(FILE *out, const struct prove_report *report)
{
    fprintf(out, "\n  %-28s %-10s %-8s %-10s %s\n", "kernel", "outcome", "configs", "error", "seconds");
    for (int i = 0; i < report->kernel_count; i++) {
        const struct prove_kernel *k = &report->kernel[i];
        fprintf(out, "  %-28s %-10s %-8d %-10.3g %.1f\n", k->file, k->outcome, k->configs, k->reached,
                k->seconds);
    }
    fprintf(out, "  error: the greatest over what is allowed, the last rounding among both\n");
}

/* "softmax: every check passed, 7.1 s" */
void prove_conclusion(FILE *out, const struct prove_options *options, const struct prove_report *report)
{
    int failed = 0;
    for (int c = 0; c < PROVE_CHECKS; c++)
        failed += report->check[c].failures > 0;
    fprintf(out, "%s: %s", options->problem->name, failed ? "" : "every check passed");
    if (failed)
        fprintf(out, "%d of %d checks FAILED", failed, PROVE_CHECKS);
    fprintf(out, ", %.1f s\n", report->seconds);
}

void prove_print(FILE *out, const struct prove_options *options, const struct prove_report *report,
                 bool verbose)
{
    fprintf(out, "unseen selftest %s on %s, seed %llu: %d configurations\n\n", options->problem->name,
            options->device->name, (unsigned long long)options->seed, report->configs);
    for (int c = 0; c < PROVE_CHECKS; c++)
        print_check(out, &report->check[c], (enum prove_check)c);
    print_seen(out, report);
    print_classes(out, report);
    if (verbose) {
        print_kernels(out, report);
        if (report->pins)
            fprintf(out, "\n  What %s.pinned may hold:\n%s", options->problem->name, report->pins);
    }
    fprintf(out, "\n");
    prove_conclusion(out, options, report);
}

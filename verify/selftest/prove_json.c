#include <jansson.h>
#include <math.h>

#include "prove_internal.h"

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_string(value > 0 ? "inf" : value < 0 ? "-inf" : "nan");
}

static json_t *line_of(const struct config *config)
{
    char line[RESULT_LINE_SIZE];
    config_format(config, line, sizeof line);
    return json_string(line);
}

static json_t *checks(const struct prove_report *r)
{
    json_t *list = json_array();
    for (int c = 0; c < PROVE_CHECKS; c++) {
        const struct prove_finding *f = &r->check[c];
        const bool failed = f->failures > 0;
        json_array_append_new(list, json_pack("{s:s, s:b, s:I, s:s, s:I, s:s*, s:s*, s:s*}", "name",
                                              prove_check_name((enum prove_check)c), "ok", !failed, "asked",
                                              (json_int_t)f->asked, "what", f->what, "failures",
                                              (json_int_t)f->failures, "expected",
                                              failed ? f->expected : NULL, "found", failed ? f->found : NULL,
                                              "config", failed && f->line[0] ? f->line : NULL));
    }
    return list;
}

static json_t *classes(const struct prove_report *r)
{
    static const char *const promise[] = {
        [DATA_SIGN_RANDOM] = "sign_random", [DATA_ANY] = "any", [DATA_EXACT] = "exact"};
    json_t *list = json_array();
    for (int i = 0; i < r->class_count; i++) {
        const struct prove_class *c = &r->class[i];
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:s, s:i, s:i, s:I, s:o, s:I, s:I, s:i, s:b}", "class", c->class->name,
                      "output", c->output, "promise", promise[c->class->data], "discriminating",
                      c->class->discriminating, "configs", c->configs, "values", (json_int_t)c->values,
                      "allowed_over_value", number(c->median), "changed", (json_int_t)c->changed, "accepted",
                      (json_int_t)c->accepted, "blind_configs", c->blind, "tells_nothing", c->tells_nothing));
    }
    return list;
}

static json_t *tellings(const struct prove_report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->telling_count; i++) {
        const struct prove_telling *t = &r->telling[i];
        json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:I, s:I, s:I, s:o, s:o}", "config",
                                              line_of(&t->config), "output", t->output, "allowed_over_value",
                                              number(t->median), "values", (json_int_t)t->values, "changed",
                                              (json_int_t)t->changed, "accepted", (json_int_t)t->accepted,
                                              "flops", number(t->flops), "bytes", number(t->bytes)));
    }
    return list;
}

static json_t *seen(const struct prove_report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->seen_count; i++)
        json_array_append_new(list, json_pack("{s:o, s:b, s:o, s:o}", "config", line_of(&r->seen[i].config),
                                              "host", r->seen[i].host, "flops", number(r->seen[i].flops),
                                              "bytes", number(r->seen[i].bytes)));
    return list;
}

static json_t *kernels(const struct prove_report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->kernel_count; i++) {
        const struct prove_kernel *k = &r->kernel[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:i, s:i, s:o, s:f}", "file", k->file, "outcome",
                                        k->outcome, "configs", k->configs, "skipped", k->skipped,
                                        "error_over_allowed", number(k->reached), "seconds", k->seconds));
    }
    return list;
}

char *prove_json(const struct prove_options *options, const struct prove_report *r, bool partial,
                 const char *version, const char *git)
{
    json_t *root = json_pack(
        "{s:i, s:{s:s, s:s}, s:s, s:{s:s}, s:I, s:b, s:b, s:i, s:f, s:o, s:o, s:o, s:o, s:o}", "schema", 1,
        "tool", "version", version, "git", git, "problem", options->problem->name, "device", "name",
        options->device->name, "seed", (json_int_t)options->seed, "partial", partial, "ok",
        !partial && prove_passes(r), "configs", r->configs, "seconds", r->seconds, "checks", checks(r),
        "classes", classes(r), "telling", tellings(r), "seen", seen(r), "kernels", kernels(r));
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    return text;
}

#include "csv.h"

#include <inttypes.h>
#include <string.h>

#include "reports/record/text.h"

/* RFC 4180, 2.5 to 2.7: quote a field that holds a comma, a quote or a line break; double the quotes. Also
 * quote leading and trailing blanks, since spreadsheets trim them. */
static bool needs_quotes(const char *text)
{
    size_t length = strlen(text);

    return text[strcspn(text, ",\"\r\n")] != '\0' ||
           (length > 0 && (text[0] == ' ' || text[length - 1] == ' '));
}

static void put_text(FILE *out, const char *text)
{
    text = text_or(text, "");
    if (!needs_quotes(text)) {
        fprintf(out, "%s,", text);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputs("\",", out);
}

static void put_number(FILE *out, bool applies, double value)
{
    char buffer[TEXT_NUMBER_SIZE];

    fprintf(out, "%s,", applies ? text_number(buffer, value, 17) : "");
}

static void put_integer(FILE *out, bool applies, int64_t value)
{
    if (applies)
        fprintf(out, "%" PRId64, value);
    fputc(',', out);
}

static void put_worst(FILE *out, const struct worst *worst)
{
    put_text(out, worst->present ? worst->tensor : "");
    put_integer(out, worst->present, worst->index);
    put_number(out, worst->present, worst->got);
    put_number(out, worst->present, worst->want);
    put_number(out, worst->present, worst->allowed);
    put_number(out, worst->present, worst->error);
}

static void put_timing(FILE *out, const struct timing *timing)
{
    bool timed = timing->present;

    put_number(out, timed, timing->median_ms);
    put_number(out, timed, timing->low_ms);
    put_number(out, timed, timing->high_ms);
    put_number(out, timed, timing->min_ms);
    put_number(out, timed, timing->p95_ms);
    put_integer(out, timed, timing->samples);
    put_text(out, timed ? timing->method : "");
    put_text(out, timed ? timing->unmet : "");
    put_number(out, timed, timing->attainable_ms);
    put_text(out, timed ? bound_name(timing->bound) : "");
    put_number(out, timed, timing->fraction);
    put_number(out, timed && timing->baseline_ms > 0, timing->baseline_ms);
}

static const char header[] =
    "set,config,why,outcome,detail,fits,judged,wrong,open,witnessed,flops,bytes,"
    "tensor,index,got,want,allowed,error,"
    "median_ms,low_ms,high_ms,min_ms,p95_ms,samples,method,unmet,attainable_ms,bound,fraction,"
    "baseline_ms,published\n";

static void put_config(FILE *out, const struct config_result *config)
{
    put_text(out, config->unseen ? "unseen" : "seen");
    put_text(out, config->line);
    put_text(out, config->why);
    put_text(out, outcome_name(config->outcome));
    put_text(out, config->detail);
    put_text(out, config->fits);
    put_integer(out, true, config->judged);
    put_integer(out, true, config->wrong);
    put_integer(out, true, config->open);
    put_integer(out, true, config->witnessed);
    put_number(out, true, config->flops);
    put_number(out, true, config->bytes);
    put_worst(out, &config->worst);
    put_timing(out, &config->timing);
    if (config->published_judged)
        fputs(config->published_pass ? "pass" : "wrong", out);
    fputc('\n', out);
}

void csv_print(FILE *out, const struct result *const *results, int count)
{
    (void)count;
    fputs(header, out);
    for (int i = 0; i < results[0]->result_count; i++)
        put_config(out, &results[0]->results[i]);
}

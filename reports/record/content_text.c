#include "content_text.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

const char *content_kind_name(enum result_content_kind kind)
{
    static const char *const name[RESULT_CONTENT_KINDS] = {[RESULT_CONTENT_LEAST] = "least",
                                                           [RESULT_CONTENT_SOME] = "some",
                                                           [RESULT_CONTENT_MANY] = "many",
                                                           [RESULT_CONTENT_STRUCTURE] = "structure"};
    return name[kind];
}

static void share(char *text, size_t size, const struct result_content *c)
{
    snprintf(text, size, "%lld of %lld element%s", (long long)c->elements, (long long)c->of,
             c->of == 1 ? "" : "s");
}

/* "x[0,2] is 1 instead of 3 and x[0,4] is nan instead of 0.5" */
static void list_items(char *text, size_t size, const struct result_content *c)
{
    char failing[TEXT_NUMBER_SIZE], passing[TEXT_NUMBER_SIZE];
    size_t used = 0;

    *text = '\0';
    for (int i = 0; i < c->items && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s is %s instead of %s",
                                 i == 0              ? ""
                                 : i == c->items - 1 ? " and "
                                                     : ", ",
                                 c->item[i].place, text_number(failing, c->item[i].failing, 4),
                                 text_number(passing, c->item[i].passing, 4));
}

static void elements_text(char *text, size_t size, const struct result_content *c)
{
    char of[64], items[512];

    share(of, sizeof of, c);
    list_items(items, sizeof items, c);
    if (c->items == 0)
        snprintf(items, sizeof items, "%s has its failing values", c->places);
    if (c->kind == RESULT_CONTENT_MANY)
        snprintf(text, size, "It takes many failing values at once: a few elements are not enough.");
    else
        snprintf(text, size, "It fails as soon as %s (%s%s).", items, of,
                 c->kind == RESULT_CONTENT_SOME ? "; fewer may be enough"
                 : c->elements > 1              ? "; without any one of them it passes"
                                                : "");
}

bool content_text(char text[SUMMARY_SIZE], const struct diagnosis *d)
{
    const struct result_content *c = &d->content;
    const bool elsewhere = strcmp(c->line, d->minimal.line) != 0;
    char point[400] = "", elements[700];

    if (!d->present || !c->present)
        return false;
    if (elsewhere)
        snprintf(point, sizeof point, " of %.380s", c->line);
    elements_text(elements, sizeof elements, c);
    if (c->kind == RESULT_CONTENT_STRUCTURE)
        snprintf(
            text, SUMMARY_SIZE,
            "The failure%s comes from %s, not from other inputs: with other values there it fails too, but "
            "with everything of %s it passes.",
            point, c->places, c->passing);
    else
        snprintf(text, SUMMARY_SIZE, "The input values%s decide. With the values of %s it passes. %s", point,
                 c->passing, elements);
    return true;
}

bool content_command(FILE *out, const struct result *result)
{
    const struct result_content *c = &result->diagnosis.content;

    if (!c->present || c->values[0] == '\0')
        return false;
    summary_command_values(out, result, c->line, c->values);
    return true;
}

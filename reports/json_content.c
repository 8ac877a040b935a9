#include "json_internal.h"

#include "content_text.h"

static json_t *items_json(const struct result_content *c)
{
    json_t *array = json_array();

    for (int i = 0; i < c->items; i++) {
        json_t *item =
            json_pack("{s:o, s:o, s:o}", "place", json_of_text(c->item[i].place), "failing",
                      json_of_number(c->item[i].failing), "passing", json_of_number(c->item[i].passing));

        if (item == NULL || json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

json_t *json_of_content(const struct diagnosis *d)
{
    const struct result_content *c = &d->content;

    if (!c->present)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:i}", "kind", content_kind_name(c->kind),
                     "config", json_of_text(c->line), "passing", json_of_text(c->passing), "places",
                     json_of_text(c->places), "elements", (json_int_t)c->elements, "of", (json_int_t)c->of,
                     "items", items_json(c), "special", json_of_text(c->special), "values",
                     json_of_text(c->values), "runs", c->runs);
}

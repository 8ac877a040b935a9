#include "stored_internal.h"

#include "content_text.h"

static const char *kind_word(int i)
{
    return content_kind_name((enum result_content_kind)i);
}

static void read_items(struct reading *r, const json_t *items, struct result_content *c)
{
    const json_t *item;
    size_t i;

    json_array_foreach(items, i, item)
    {
        if (i >= RESULT_CONTENT_ITEMS || !json_is_object(item)) {
            stored_fail(r, "items", item, "at most 4 elements");
            return;
        }
        stored_copy(r, item, "place", c->item[i].place, sizeof c->item[i].place);
        c->item[i].failing = stored_number(r, item, "failing", 0);
        c->item[i].passing = stored_number(r, item, "passing", 0);
        c->items++;
    }
}

void stored_content(struct reading *r, const json_t *diagnosis, struct result_content *c)
{
    const json_t *object = stored_object(r, diagnosis, "content");

    *c = (struct result_content){.present = object != NULL};
    c->kind = (enum result_content_kind)stored_name(r, object, "kind", kind_word, RESULT_CONTENT_KINDS,
                                                    RESULT_CONTENT_LEAST);
    stored_copy(r, object, "config", c->line, sizeof c->line);
    stored_copy(r, object, "passing", c->passing, sizeof c->passing);
    stored_copy(r, object, "places", c->places, sizeof c->places);
    c->elements = stored_whole(r, object, "elements", 0, INT64_MAX, 0);
    c->of = stored_whole(r, object, "of", 0, INT64_MAX, 0);
    read_items(r, stored_array(r, object, "items"), c);
    stored_copy(r, object, "special", c->special, sizeof c->special);
    stored_copy(r, object, "values", c->values, sizeof c->values);
    c->runs = stored_count(r, object, "runs");
}

// problem: paged_attention
// link: https://github.com/pegainfer-project/pegainfer/issues/291
// title: qwen3: decode page table includes kvbm's eager generation block — attention reads one page past the sequence at block boundaries
// condition: a sequence that fills its last page already has the page of its next token; the length is taken from the number of pages and what the last one holds
// kind: block size
// when: max_len % page_size == 0 or lengths in {ragged, full} and batch > 1 and max_len > page_size
// side: necessary
// collection: fourth
// wrong: wrong values: a whole page too much is read, which a former owner filled

#include "paged.h"

/* Pages that a sequence holds, and the tokens of its last one. */
struct held {
    int64_t pages, last;
};

/* The next page is at hand as soon as a token fills the last one. */
static struct held held_by(const struct paged *p, int64_t b)
{
    const int64_t tokens = p->lens[b], eager = tokens / p->page_size + 1;
#ifdef FIXED
    const int64_t pages = tokens % p->page_size == 0 ? eager - 1 : eager;
#else
    const int64_t pages = eager;
#endif
    return (struct held){pages, (tokens - 1) % p->page_size + 1};
}

static int64_t length_of_pages(const struct paged *p, int64_t b)
{
    const struct held held = held_by(p, b);
    return (held.pages - 1) * p->page_size + held.last;
}

/* The pool hands out the page behind the last one. */
static int64_t page_at(const struct paged *p, int64_t b, int64_t i)
{
    const int32_t *row = p->table + b * p->pages_per_seq;
    const int64_t used = (p->lens[b] + p->page_size - 1) / p->page_size;
    return i < used ? row[i] : (row[used - 1] + 1) % p->pages;
}

static const bf16 *key_of_pages(const struct paged *p, int64_t b, int64_t h, int64_t t)
{
    return key_in(p, page_at(p, b, t / p->page_size), t % p->page_size, p->kv_head(p, h));
}

int paged_attention(PARAMETERS)
{
    struct paged p = {HONEST};
    (void)stream;
    p.key = key_of_pages;
    p.length = length_of_pages;
    return paged_run(&p);
}

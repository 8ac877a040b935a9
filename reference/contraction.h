/* The mapping of a contraction's outputs to tiles: the same on the host, in kernels and for the witness. All
 * rows of a tile belong to one group, so they share one b. */
#ifndef UNSEEN_CONTRACTION_H
#define UNSEEN_CONTRACTION_H

#ifndef REF_SUMS
#define REF_SUMS 1
#endif

/* Sums that ref_finish gets: those of an output and, with REF_SIZED, the sums that scale their errors. */
#ifdef REF_SIZED
enum { REF_SIZE = REF_SUMS, REF_ACCOUNTS };
#else
enum { REF_ACCOUNTS = REF_SUMS };
#endif

/* Without REF_PLACED, a row and a term are their numbers. */
#ifndef REF_PLACED
struct ref_row {
    int64_t m;
};
struct ref_term {
    int64_t k;
};
REF_FN struct ref_row ref_row_of(const struct ref_context *c, int64_t m)
{
    (void)c;
    return (struct ref_row){m};
}
REF_FN struct ref_term ref_term_of(const struct ref_context *c, int64_t k)
{
    (void)c;
    return (struct ref_term){k};
}
REF_FN double ref_a_of(const struct ref_context *c, const struct ref_row *row, const struct ref_term *term)
{
    return ref_a(c, row->m, term->k);
}
#endif

struct rows {
    int64_t group, first, end;
};

/* Number of tiles of `size` rows; the last tile of each group may be shorter. */
REF_FN int64_t contraction_row_tiles(const struct ref_context *c, const int64_t shape[3], int64_t size)
{
#ifdef REF_GROUPED
    int64_t tiles = 0;
    (void)shape;
    for (int64_t g = 0; g < ref_groups(c); g++)
        tiles += (ref_group_first(c, g + 1) - ref_group_first(c, g) + size - 1) / size;
    return tiles;
#else
    (void)c;
    return (shape[0] + size - 1) / size;
#endif
}

REF_FN struct rows contraction_rows(const struct ref_context *c, const int64_t shape[3], int64_t size,
                                    int64_t tile)
{
    struct rows r = {0, 0, shape[0]};
#ifdef REF_GROUPED
    for (;; r.group++) {
        r.first = ref_group_first(c, r.group);
        r.end = ref_group_first(c, r.group + 1);
        const int64_t tiles = (r.end - r.first + size - 1) / size;
        if (tile < tiles)
            break;
        tile -= tiles;
    }
#else
    (void)c;
#endif
    r.first += tile * size;
    r.end = r.first + size < r.end ? r.first + size : r.end;
    return r;
}

REF_FN double contraction_b(const struct ref_context *c, int64_t group, int part, int64_t n, int64_t k)
{
#ifdef REF_GROUPED
    return ref_b(c, group, part, n, k);
#else
    (void)group;
    (void)part;
    return ref_b(c, n, k);
#endif
}

/* Flat index of the output at row m and column n. */
REF_FN int64_t contraction_index(const struct ref_context *c, const int64_t shape[3], int64_t m, int64_t n)
{
#ifdef REF_INDEXED
    (void)shape;
    return ref_index(c, m, n);
#else
    (void)c;
    return m * shape[1] + n;
#endif
}

/* The inverse: place = {m, n} of the output at `index`. */
REF_FN void contraction_place(const struct ref_context *c, const int64_t shape[3], int64_t index,
                              int64_t place[2])
{
#ifdef REF_INDEXED
    (void)shape;
    ref_place_of(c, index, place);
#else
    (void)c;
    place[0] = index / shape[1];
    place[1] = index % shape[1];
#endif
}

#endif

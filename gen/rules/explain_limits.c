/* Recognises a threshold that equals a limit of the device: the blocks of a grid, or the shared memory of a
 * block. It is reported beside the rule and decides nothing, since 65535 may also be just a number. The
 * limits are those of "Technical specifications per compute capability" in the CUDA programming guide. */
#include "explain_internal.h"

#include <stdio.h>

struct count_limit {
    int64_t count;
    const char *words;
};
static const struct count_limit count_limits[] = {
    {65535, "the most blocks of a grid along y and z"},
    {INT32_MAX, "the most blocks of a grid along x, and the greatest 32-bit integer"},
    {UINT32_MAX, "the greatest unsigned 32-bit integer"},
    {1024, "also the most threads of a block"},
};

struct byte_limit {
    int64_t kbytes;
    const char *words;
};
static const struct byte_limit byte_limits[] = {
    {48, "a block's shared memory unless it asks for more"},
    {227, "the most shared memory that a block may ask for on compute capability 9.0 and 10.0"},
    {163, "the most shared memory that a block may ask for on compute capability 8.0"},
    {99, "the most shared memory that a block may ask for on compute capability 8.6, 8.9 and 12.0"},
};

enum { BESIDE = 512 }; /* bytes that a kernel may keep beside its rows, such as sums of warps */

static bool counts_elements(const struct quantity *quantity)
{
    return quantity->kind == QUANTITY_PRODUCT || quantity->kind == QUANTITY_DERIVED;
}

static bool tell_count(int64_t most, const char *name, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof count_limits / sizeof *count_limits; i++)
        if (most == count_limits[i].count) {
            snprintf(text, size, "%s = %lld is %s", name, (long long)most, count_limits[i].words);
            return true;
        }
    return false;
}

/* Recognises a number of elements, of the size of some tensor's, that fills a limit with at most `beside`
 * bytes left. */
static bool tell_bytes(const struct explainer *ex, int64_t most, int64_t beside, const char *name, char *text,
                       size_t size)
{
    const struct tensor *tensors = ex->space->problem->tensors;
    for (size_t i = 0; i < sizeof byte_limits / sizeof *byte_limits; i++)
        for (int t = 0; tensors[t].name; t++) {
            const int64_t each = dtype_row(tensors[t].dtype)->bits / 8, limit = byte_limits[i].kbytes * 1024;
            if (each == 0 || most > limit || limit - most * each < 0 || limit - most * each > beside)
                continue;
            snprintf(text, size, "%s = %lld of %lld bytes each %s %lld kbyte, %s", name, (long long)most,
                     (long long)each, limit == most * each ? "are" : "are nearly",
                     (long long)byte_limits[i].kbytes, byte_limits[i].words);
            return true;
        }
    return false;
}

static bool tell_atom(const struct explainer *ex, const struct atom *atom, int64_t beside, char *text,
                      size_t size)
{
    const struct quantity *quantity = &ex->quantity[atom->quantity];
    char name[96];
    if (atom->kind != ATOM_ABOVE || atom->negated) /* a limit is an upper bound */
        return false;
    quantity_format(quantity, ex->space->problem, name, sizeof name);
    return tell_count(atom->a, name, text, size) ||
           (counts_elements(quantity) && tell_bytes(ex, atom->a, beside, name, text, size));
}

void limits_tell(const struct explainer *ex, const struct guess *rule, char *text, size_t size)
{
    const int64_t beside[] = {0, BESIDE};
    text[0] = '\0';
    for (int exact = 0; exact < 2; exact++)
        for (int i = 0; i < rule->count; i++)
            if (tell_atom(ex, &rule->atom[i], beside[exact], text, size))
                return;
}

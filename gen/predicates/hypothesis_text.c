/* Writes hypotheses in the language of conditions, which all tools of this project read. A threshold may
 * equal a limit of the device: the blocks of a grid, or the shared memory of a block. The limits are those of
 * "Technical specifications per compute capability" in the CUDA programming guide. A limit decides nothing,
 * since 65535 may also be just a number. */
#include "predicate.h"

#include <stdio.h>

static int format_number(int64_t value, char *text, size_t size)
{
    const int bits = 63 - __builtin_clzll((unsigned long long)value | 1);
    if (is_power_of_two(value) && bits >= 20)
        return snprintf(text, size, "2^%d", bits);
    return snprintf(text, size, "%lld", (long long)value);
}

struct text {
    char *at;
    size_t size, length;
    bool fits;
};

static void append(struct text *text, const char *word, const char *part)
{
    int wrote = 0;
    if (text->fits)
        wrote = snprintf(text->at + text->length, text->size - text->length, "%s%s", word, part);
    text->fits = text->fits && wrote >= 0 && (size_t)wrote < text->size - text->length;
    text->length += text->fits ? (size_t)wrote : 0;
}

/* Writes "k > 64" or, if that is rounder, "k >= 64" for k > 63. */
static void format_threshold(const struct predicate *predicate, const struct quantity *quantity,
                             const struct space *space, const char *name, char *text, size_t size)
{
    struct quantity plain = *quantity;
    char number[32];
    plain.seen_count = 0;
    const double cost = threshold_cost(&plain, space, predicate->a);
    const int64_t next = predicate->a + 1;
    const bool rounder =
        !is_power_of_two(predicate->a) && !quantity_has_tile(quantity, space, predicate->a) &&
        predicate->a != 0 &&
        (is_power_of_two(next) || quantity_has_tile(quantity, space, next) || (cost < 6 && predicate->a % 2));
    const char *above = rounder ? ">=" : ">", *below = rounder ? "<" : "<=";
    format_number(rounder ? next : predicate->a, number, sizeof number);
    const bool least = quantity_is_axis(quantity) && predicate->a == space->domain[quantity->axis[0]].low;
    if (predicate->a == 0 || (least && !rounder)) /* no value of the quantity is less */
        below = "==";
    snprintf(text, size, "%s %s %s", name, predicate->negated ? below : above, number);
}

/* Writes "m > n". */
static void format_order(const struct predicate *predicate, const struct quantity *quantity,
                         const struct problem *problem, char *text, size_t size)
{
    static const char *const sign[2][3] = {{"<", "==", ">"}, {">=", "!=", "<="}};
    const bool drawn = quantity_is_drawn(quantity), two = drawn && quantity->second >= 0;
    snprintf(text, size, "%s %s %s",
             drawn ? problem->derived[quantity->derived].name : problem->axes[quantity->axis[0]].name,
             sign[predicate->negated][predicate->a],
             two ? problem->derived[quantity->second].name
                 : problem->axes[drawn ? quantity->against : quantity->axis[1]].name);
}

/* Writes "page_size in {8, 24}". */
static void format_set(const struct predicate *predicate, const struct quantity *quantity,
                       const struct problem *problem, const char *name, char *text, size_t size)
{
    struct text to = {.at = text, .size = size, .fits = true};
    const char *separator = "";
    append(&to, name, predicate->negated ? " not in {" : " in {");
    for (int i = 0; i < quantity->listed_count; i++) {
        char number[32];
        if (!(predicate->a >> i & 1))
            continue;
        format_number(quantity->listed[i], number, sizeof number);
        append(&to, separator,
               quantity->kind == QUANTITY_CHOICE
                   ? problem_choice(problem, quantity->axis[0], quantity->listed[i])
                   : number);
        separator = ", ";
    }
    append(&to, "}", "");
}

/* Writes "cols in {1, 2, 3, 5}" or "cols % 8 in {3, 5}". `set` has one bit for each value. */
static void print_bits(uint64_t set, bool negated, const char *name, char *text, size_t size)
{
    struct text to = {.at = text, .size = size, .fits = true};
    const char *separator = "";
    append(&to, name, negated ? " not in {" : " in {");
    for (int i = 0; i < 64; i++) {
        char number[32];
        if (!(set >> i & 1))
            continue;
        format_number(i, number, sizeof number);
        append(&to, separator, number);
        separator = ", ";
    }
    append(&to, "}", "");
}

/* Writes "cols % 8 >= 5", "cols % 8 < 5" or "cols % 8 in {3, 5}". */
static void format_residues(const struct predicate *predicate, const struct quantity *quantity,
                            const char *name, char *text, size_t size)
{
    const bool range = predicate->kind == PREDICATE_RESIDUE_ABOVE,
               plain = quantity->kind != QUANTITY_REMAINDER;
    char left[160];
    snprintf(left, sizeof left, plain ? "%s %% %lld" : "(%s) %% %lld", name, (long long)predicate->a);
    if (range)
        snprintf(text, size, "%s %s %lld", left,
                 predicate->negated ? "<" : ">=", (long long)predicate->b + 1);
    else
        print_bits((uint64_t)predicate->b, predicate->negated, left, text, size);
}

/* Writes one predicate. PREDICATE_SEEN is written for a single seen value, of index `which`. */
static void format_predicate(const struct vocabulary *vocabulary, const struct predicate *predicate,
                             int which, char *text, size_t size)
{
    const struct quantity *quantity = &vocabulary->quantity[predicate->quantity];
    const struct problem *problem = vocabulary->space->problem;
    const char *sign = predicate->negated ? "!=" : "==";
    const int64_t value = predicate->kind == PREDICATE_SEEN ? quantity->seen[which] : predicate->a;
    char name[120], number[32];
    if (quantity_format(quantity, problem, name, sizeof name) < 0)
        name[0] = '\0';
    if (quantity_is_order(quantity)) {
        format_order(predicate, quantity, problem, text, size);
    } else if (predicate->kind == PREDICATE_SET) {
        format_set(predicate, quantity, problem, name, text, size);
    } else if (predicate->kind == PREDICATE_SMALL) {
        print_bits((uint64_t)predicate->a, predicate->negated, name, text, size);
    } else if (predicate->kind == PREDICATE_RESIDUE_ABOVE || predicate->kind == PREDICATE_RESIDUE_SET) {
        format_residues(predicate, quantity, name, text, size);
    } else if (predicate->kind == PREDICATE_POWER) {
        snprintf(text, size, "%spow2(%s)", predicate->negated ? "not " : "", name);
    } else if (quantity->kind == QUANTITY_CHOICE) {
        snprintf(text, size, "%s%s%s", name, predicate->negated ? "!=" : "=",
                 problem_choice(problem, quantity->axis[0], predicate->a));
    } else if (predicate->kind == PREDICATE_REMAINDER) {
        const bool plain = quantity->kind != QUANTITY_REMAINDER;
        snprintf(text, size, plain ? "%s %% %lld %s %lld" : "(%s) %% %lld %s %lld", name,
                 (long long)predicate->a, sign, (long long)predicate->b);
    } else if (predicate->kind == PREDICATE_ABOVE) {
        format_threshold(predicate, quantity, vocabulary->space, name, text, size);
    } else {
        format_number(value, number, sizeof number);
        snprintf(text, size, "%s %s %s", name, sign, number);
    }
}

/* Returns how often to write the clause. "is one of the seen values" is an `or` inside an `and`. It repeats
 * the clause for each value. */
static int clause_copies(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis, int from,
                         int to)
{
    int copies = 1;
    for (int i = from; i < to; i++)
        if (hypothesis->term[i].kind == PREDICATE_SEEN && !hypothesis->term[i].negated)
            copies *= vocabulary->quantity[hypothesis->term[i].quantity].seen_count;
    return copies;
}

static void append_clause(const struct vocabulary *vocabulary, const struct hypothesis *hypothesis, int from,
                          int to, int copy, struct text *text)
{
    char part[200];
    const char *word = text->length ? " or " : "";
    for (int i = from; i < to; i++) {
        const struct predicate *predicate = &hypothesis->term[i];
        const int seen =
            predicate->kind == PREDICATE_SEEN ? vocabulary->quantity[predicate->quantity].seen_count : 1;
        const int first = predicate->negated ? 0 : copy % seen, last = predicate->negated ? seen - 1 : first;
        if (!predicate->negated)
            copy /= seen;
        for (int which = first; which <= last; which++) {
            format_predicate(vocabulary, predicate, which, part, sizeof part);
            append(text, word, part);
            word = " and ";
        }
    }
}

static int place_of(const struct vocabulary *vocabulary, const struct predicate *predicate)
{
    const struct quantity *quantity = &vocabulary->quantity[predicate->quantity];
    return quantity_is_drawn(quantity) ? PROBLEM_MAX_AXES + quantity->derived : quantity->axis[0];
}

/* Sorts the terms in the order of the contract's axes, with derived sizes last, so that a condition always
 * has the same text. */
static void sort_clause(const struct vocabulary *vocabulary, struct hypothesis *hypothesis, int from, int end)
{
    for (int i = from + 1; i < end; i++)
        for (int j = i; j > from && place_of(vocabulary, &hypothesis->term[j - 1]) >
                                        place_of(vocabulary, &hypothesis->term[j]);
             j--) {
            const struct predicate swapped = hypothesis->term[j];
            hypothesis->term[j] = hypothesis->term[j - 1];
            hypothesis->term[j - 1] = swapped;
        }
}

bool hypothesis_format(const struct vocabulary *vocabulary, const struct hypothesis *as_found, char *text,
                       size_t size)
{
    struct text to = {.at = text, .size = size, .fits = true};
    struct hypothesis sorted = *as_found;
    const struct hypothesis *hypothesis = &sorted;
    hypothesis_simplify(vocabulary, &sorted);
    if (hypothesis->count == 0)
        append(&to, "", "any");
    for (int from = 0, end; from < hypothesis->count; from = end) {
        for (end = from + 1; end < hypothesis->count && !hypothesis->starts[end];)
            end++;
        sort_clause(vocabulary, &sorted, from, end);
        const int copies = clause_copies(vocabulary, hypothesis, from, end);
        for (int copy = 0; copy < copies; copy++)
            append_clause(vocabulary, hypothesis, from, end, copy, &to);
    }
    return to.fits;
}

/* --- limits of the device --- */

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
static bool tell_bytes(const struct vocabulary *vocabulary, int64_t most, int64_t beside, const char *name,
                       char *text, size_t size)
{
    const struct tensor *tensors = vocabulary->space->problem->tensors;
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

static bool tell_predicate(const struct vocabulary *vocabulary, const struct predicate *predicate,
                           int64_t beside, char *text, size_t size)
{
    const struct quantity *quantity = &vocabulary->quantity[predicate->quantity];
    char name[96];
    if (predicate->kind != PREDICATE_ABOVE || predicate->negated) /* a limit is an upper bound */
        return false;
    quantity_format(quantity, vocabulary->space->problem, name, sizeof name);
    return tell_count(predicate->a, name, text, size) ||
           (counts_elements(quantity) && tell_bytes(vocabulary, predicate->a, beside, name, text, size));
}

void device_limit_text(const struct vocabulary *vocabulary, const struct hypothesis *rule, char *text,
                       size_t size)
{
    const int64_t beside[] = {0, BESIDE};
    text[0] = '\0';
    for (int exact = 0; exact < 2; exact++)
        for (int i = 0; i < rule->count; i++)
            if (tell_predicate(vocabulary, &rule->term[i], beside[exact], text, size))
                return;
}

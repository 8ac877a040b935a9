/* Which expression over the contract's sizes equals an operand in all sampled calls? */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/contract/instantiate.h"
#include "observed.h"

/* FEWEST: with fewer calls, too many expressions fit by chance. */
enum { FEWEST = 3, MOST_OFFSET = 64, MOST_FACTOR = 64, MOST_DIVISOR = 1024, MOST_MODULUS = 1 << 16 };

struct following {
    int count; /* calls */
    int64_t operand[OBSERVED_SAMPLES];
    int64_t size[OBSERVED_NAMES][OBSERVED_SAMPLES];
    char (*text)[CLUE_TEXT_SIZE];
    int texts;
};

static void fill_values(struct observed *o, struct observed_run *run)
{
    for (int i = 0; i < o->names && !run->known; i++)
        run->value[i] =
            i < o->axes ? run->config.value[o->axis[i]] : config_derived(&run->config, o->axis[i]);
    run->known = true;
}

__attribute__((format(printf, 2, 3))) static void add(struct following *f, const char *format, ...)
{
    va_list arguments;
    if (f->texts == FOLLOWED_MOST)
        return;
    va_start(arguments, format);
    const int length = vsnprintf(f->text[f->texts], CLUE_TEXT_SIZE, format, arguments);
    va_end(arguments);
    f->texts += length < CLUE_TEXT_SIZE;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    a = llabs(a);
    b = llabs(b);
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* --- one size --- */

static bool equals(const struct following *f, const int64_t *size, int64_t factor, int64_t offset)
{
    for (int k = 0; k < f->count; k++)
        if (f->operand[k] != factor * size[k] + offset)
            return false;
    return true;
}

/* All differences have the modulus as a divisor, and no operand reaches it. */
static int64_t modulus_of(const struct following *f, const int64_t *size)
{
    int64_t divisor = 0, most = 0;
    for (int k = 0; k < f->count; k++) {
        if (f->operand[k] < 0 || size[k] < f->operand[k])
            return 0;
        divisor = common_divisor(divisor, size[k] - f->operand[k]);
        most = f->operand[k] > most ? f->operand[k] : most;
    }
    return divisor > most && divisor <= MOST_MODULUS ? divisor : 0;
}

static int64_t quotient(int64_t size, int64_t divisor, bool up)
{
    return (size + (up ? divisor - 1 : 0)) / divisor;
}

/* The likeliest divisor: a power of two if one fits. */
static int64_t divisor_of(const struct following *f, const int64_t *size, bool up)
{
    int64_t found = 0;
    for (int64_t divisor = 2; divisor <= MOST_DIVISOR; divisor++) {
        int fit = 0;
        while (fit < f->count && f->operand[fit] == quotient(size[fit], divisor, up))
            fit++;
        if (fit == f->count && (found == 0 || ((divisor & (divisor - 1)) == 0 && (found & (found - 1)) != 0)))
            found = divisor;
    }
    return found;
}

static void add_size(struct following *f, const char *name, const int64_t *size)
{
    const int64_t offset = f->operand[0] - size[0];
    const int64_t factor = size[0] != 0 && f->operand[0] % size[0] == 0 ? f->operand[0] / size[0] : 0;
    int64_t number;
    if (equals(f, size, 1, 0))
        add(f, "%s", name);
    else if (llabs(offset) <= MOST_OFFSET && equals(f, size, 1, offset))
        add(f, "%s %c %" PRId64, name, offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
    else if (factor > 1 && factor <= MOST_FACTOR && equals(f, size, factor, 0))
        add(f, "%" PRId64 " * %s", factor, name);
    else if ((number = modulus_of(f, size)) > 0)
        add(f, "%s %% %" PRId64, name, number);
    else if ((number = divisor_of(f, size, false)) > 0)
        add(f, "%s / %" PRId64, name, number);
    else if ((number = divisor_of(f, size, true)) > 0)
        add(f, "(%s + %" PRId64 ") / %" PRId64, name, number - 1, number);
}

/* --- two sizes --- */

static void add_pair(struct following *f, const char *const name[2], const int64_t *const size[2])
{
    int64_t product[OBSERVED_SAMPLES], modulus;
    bool divides = true, remains = true;
    for (int k = 0; k < f->count; k++) {
        const bool whole = size[1][k] != 0;
        if (__builtin_mul_overflow(size[0][k], size[1][k], &product[k]))
            return;
        divides = divides && whole && f->operand[k] == size[0][k] / size[1][k];
        remains = remains && whole && f->operand[k] == size[0][k] % size[1][k];
    }
    if (divides)
        add(f, "%s / %s", name[0], name[1]);
    if (remains)
        add(f, "%s %% %s", name[0], name[1]);
    if (strcmp(name[0], name[1]) >= 0)
        return;
    if (equals(f, product, 1, 0))
        add(f, "%s * %s", name[0], name[1]);
    else if ((modulus = modulus_of(f, product)) > 0)
        add(f, "%s * %s %% %" PRId64, name[0], name[1], modulus);
}

int observed_follow(struct observed *o, const struct observed_comparison *c, int side, bool most,
                    char text[FOLLOWED_MOST][CLUE_TEXT_SIZE], bool *is_number)
{
    struct following *const f = calloc(1, sizeof *f);
    *is_number = true;
    if (!f)
        return 0;
    f->text = text;
    f->count = c->samples;
    for (int k = 0; k < f->count; k++) {
        struct observed_run *const run = &o->run[c->sample[k].run];
        f->operand[k] = most ? c->sample[k].most[side] : c->sample[k].least[side];
        *is_number = *is_number && f->operand[k] == f->operand[0];
        fill_values(o, run);
        for (int i = 0; i < o->names; i++)
            f->size[i][k] = run->value[i];
    }
    if (*is_number && f->count > 0)
        add(f, "%" PRId64, f->operand[0]);
    for (int i = 0; i < o->names && !*is_number && f->count >= FEWEST; i++)
        add_size(f, o->name[i], f->size[i]);
    for (int i = 0; i < o->names && !*is_number && f->count >= FEWEST && f->texts == 0; i++)
        for (int j = 0; j < o->names; j++)
            if (i != j)
                add_pair(f, (const char *const[2]){o->name[i], o->name[j]},
                         (const int64_t *const[2]){f->size[i], f->size[j]});
    const int texts = f->texts;
    free(f);
    return texts;
}

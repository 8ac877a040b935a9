/* A contract, shapes/NAME.space. */
#include <string.h>

#include "fuzz.h"
#include "gen/contract/space.h"

static void look_at(const struct space *space)
{
    struct config low = {.problem = space->problem}, high = low;
    struct space_error error;
    for (int i = 0; space->problem->axes[i].name; i++) {
        const struct domain *d = &space->domain[i];
        const bool number = space->problem->axes[i].kind == AXIS_NUMBER;
        low.value[i] = number ? d->low : d->value[0];
        high.value[i] = number ? d->high : d->value[d->value_count - 1];
        FUZZ_CHECK(number ? d->low <= d->high : d->value_count > 0);
        for (int v = 1; number && v < d->value_count; v++)
            FUZZ_CHECK(d->value[v - 1] < d->value[v]);
        FUZZ_CHECK(domain_contains(d, low.value[i]) && domain_contains(d, high.value[i]));
    }
    for (int c = 0; c < space->constraint_count; c++)
        FUZZ_CHECK(strlen(constraint_text(space->constraint[c])) > 0);
    for (int side = 0; side < 2; side++)
        if (!space_contains(space, side ? &high : &low, &error))
            FUZZ_CHECK(*error.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct space space;
    struct space_error error = {.text = ""};
    const struct problem *problem = fuzz_problem(&data, &size);
    if (space_read(&space, problem, fuzz_file(data, size), &error) != 0) {
        fuzz_error(error.text);
        return 0;
    }
    look_at(&space);
    space_clear(&space);
    return 0;
}

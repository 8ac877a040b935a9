/* Tables of rewards from a user. */
#include <math.h>

#include "fuzz.h"
#include "verify/score/reward_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[4096] = "";
    struct reward_table table;
    if (reward_table_read(fuzz_file(data, size), &table, error, sizeof error) != 0) {
        fuzz_error(error);
        return 0;
    }
    double reward[3] = {reward_table_pass(&table, 2, 0.5), table.value[OUTCOME_WRONG],
                        table.value[REWARD_MISSING]};
    FUZZ_CHECK(table.steps >= 0 && table.steps <= REWARD_STEPS);
    FUZZ_CHECK(isfinite(reward_table_over(&table, reward, 3)));
    return 0;
}

/* A candidate's options for its compiler: the first lines of a .cu file. */
#include <string.h>

#include "fuzz.h"

#define command_make fuzz_command_make
#include "verify/build/build_command.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct compiler_command command;
    char error[600] = "";
    int libraries;
    memset(&command, 0, sizeof command);
    const enum build_status status =
        add_libraries(&command, fuzz_file(data, size), &libraries, error, sizeof error);
    if (status != BUILD_OK) {
        fuzz_error(error);
        fuzz_plain(error, strlen(error));
    }
    if (!compiler_fits(&command))
        return 0;
    for (int i = 0; i < command.count; i++)
        FUZZ_CHECK(strcmp(command.argv[i], "-rdc=true") == 0 ||
                   (strncmp(command.argv[i], "-l", 2) == 0 && is_linkable(command.argv[i] + 2)));
    return 0;
}

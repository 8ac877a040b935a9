#include "workload_uuid.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

void workload_uuid(char uuid[WORKLOAD_UUID_SIZE], const char *definition, const char *line)
{
    struct sha256_ctx context;
    uint8_t digest[16];

    sha256_init(&context);
    sha256_update(&context, strlen(definition), (const uint8_t *)definition);
    sha256_update(&context, strlen(line), (const uint8_t *)line);
    sha256_digest(&context, sizeof digest, digest);
    digest[6] = (uint8_t)((digest[6] & 0x0f) | 0x80); /* version 8: custom */
    digest[8] = (uint8_t)((digest[8] & 0x3f) | 0x80);
    for (int i = 0, n = 0; i < 16; i++)
        n += snprintf(uuid + n, (size_t)(WORKLOAD_UUID_SIZE - n), "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", digest[i]);
}

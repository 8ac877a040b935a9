#include "draw.h"
#include "gen/random/hex.h"

#include <stdio.h>

#include <nettle/sha2.h>

int drawn_commitment(const struct drawn_list *list, bool directed, char hex[65])
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char line[1024];

    sha256_init(&hash);
    for (int i = 0; i < list->count; i++) {
        if (list->item[i].directed != directed)
            continue;
        int length = config_format(&list->item[i].config, line, sizeof line - 1);
        if (length < 0 || length >= (int)sizeof line - 1)
            return -1; /* the digest of a truncated line would not commit to the whole set */
        line[length] = '\n';
        sha256_update(&hash, (size_t)length + 1, (const uint8_t *)line);
    }
    sha256_digest(&hash, sizeof digest, digest);
    hex_text(digest, sizeof digest, hex);
    return 0;
}

/* C++ only because libpcg-cpp is: everything above pcg.h is C. Nothing here throws across it. */
#include <cstddef>
#include <cstdint>
#include <new>
#include <pcg_random.hpp>

#include "mix.h"
#include "pcg.h"

struct pcg {
    pcg64 generator;
};

static uint64_t hash_text(const char *text) /* FNV-1a, 64 bits */
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
    return hash;
}

static uint64_t mix(uint64_t x) /* splitmix64: neighbouring seeds end far apart */
{
    return mix64(x + 0x9e3779b97f4a7c15u);
}

/* The purpose enters the state too, not the increment alone. Two PCG streams that start from one state are
 * related, and equal seeds are usual here. */
extern "C" struct pcg *pcg_new(uint64_t seed, const char *purpose)
{
    const uint64_t name = hash_text(purpose);
    const pcg_extras::pcg128_t low = mix(seed), high = mix(seed ^ mix(name));
    pcg *made = new (std::nothrow) pcg;
    if (made)
        made->generator.seed((high << 64) | low, pcg_extras::pcg128_t(name));
    return made;
}

extern "C" void pcg_free(struct pcg *pcg)
{
    delete pcg;
}

extern "C" uint64_t pcg_next(struct pcg *pcg)
{
    return pcg->generator();
}

extern "C" uint64_t pcg_below(struct pcg *pcg, uint64_t bound)
{
    return pcg->generator(bound); /* libpcg-cpp rejects the biased part */
}

extern "C" double pcg_unit(struct pcg *pcg)
{
    return static_cast<double>(pcg_next(pcg) >> 11) * 0x1p-53;
}

static uint64_t below(void *state, uint64_t bound)
{
    return pcg_below(static_cast<struct pcg *>(state), bound);
}

extern "C" struct random pcg_random(struct pcg *pcg)
{
    struct random random = {below, pcg};
    return random;
}

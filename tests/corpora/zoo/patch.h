/* For cheats that patch the process around them. */
#ifndef ZOO_PATCH_H
#define ZOO_PATCH_H

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* The runner's own entry for a function that it takes from a library. */
static void **entry_of(const char *name)
{
    const struct link_map *map = _r_debug.r_map; /* the program itself */
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    const ElfW(Rela) * table[2] = {NULL, NULL};
    size_t bytes[2] = {0, 0};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            symbols = (const void *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRTAB)
            names = (const void *)d->d_un.d_ptr;
        else if (d->d_tag == DT_JMPREL)
            table[0] = (const void *)d->d_un.d_ptr;
        else if (d->d_tag == DT_PLTRELSZ)
            bytes[0] = d->d_un.d_val;
        else if (d->d_tag == DT_RELA)
            table[1] = (const void *)d->d_un.d_ptr;
        else if (d->d_tag == DT_RELASZ)
            bytes[1] = d->d_un.d_val;
    }
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < bytes[t] / sizeof *table[t]; i++)
            if (strcmp(names + symbols[ELF64_R_SYM(table[t][i].r_info)].st_name, name) == 0)
                return (void **)(map->l_addr + table[t][i].r_offset);
    return NULL;
}

static void patch(const char *name, void *with)
{
    void **const entry = entry_of(name);
    const uintptr_t page = (uintptr_t)entry & ~(uintptr_t)4095;
    if (entry && mprotect((void *)page, 8192, PROT_READ | PROT_WRITE) == 0)
        *entry = with;
}

#endif

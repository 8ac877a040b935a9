#include "symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_room(size_t size, uint64_t offset, uint64_t bytes)
{
    return offset <= size && bytes <= size - offset;
}

/* In the first symbol table that there is. */
static size_t find(const char *file, size_t size, uint64_t value)
{
    const ElfW(Ehdr) *header = (const void *)file;
    if (size < sizeof *header ||
        !has_room(size, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr))))
        return 0;
    const ElfW(Shdr) *section = (const void *)(file + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        if (section[i].sh_type != SHT_SYMTAB || !has_room(size, section[i].sh_offset, section[i].sh_size))
            continue;
        const ElfW(Sym) *symbol = (const void *)(file + section[i].sh_offset);
        for (uint64_t s = 0; s < section[i].sh_size / sizeof *symbol; s++)
            if ((symbol[s].st_info & 15) == STT_OBJECT && value >= symbol[s].st_value &&
                value - symbol[s].st_value < symbol[s].st_size)
                return symbol[s].st_size - (value - symbol[s].st_value);
    }
    return 0;
}

size_t symbols_bytes(const char *object, const void *inside, const void *address)
{
    Dl_info info, other;
    struct link_map *map = NULL;
    struct stat status;
    size_t bytes = 0;
    if (!dladdr1(inside, &info, (void **)&map, RTLD_DL_LINKMAP) || !dladdr(address, &other) ||
        info.dli_fbase != other.dli_fbase)
        return 0;
    const int fd = open(object, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        const size_t size = (size_t)status.st_size;
        void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file != MAP_FAILED) {
            bytes = find(file, size, (uintptr_t)address - map->l_addr);
            munmap(file, size);
        }
    }
    close(fd);
    return bytes;
}

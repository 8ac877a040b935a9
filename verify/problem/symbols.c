#include "symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_room(size_t size, uint64_t offset, uint64_t bytes)
{
    return offset <= size && bytes <= size - offset;
}

/* Searches a symbol table of that many bytes. */
static size_t find_in(const char *table, uint64_t bytes, uint64_t value)
{
    ElfW(Sym) symbol; /* a copy, since a table in a file may be misaligned */
    for (uint64_t s = 0; s < bytes / sizeof symbol; s++) {
        memcpy(&symbol, table + s * sizeof symbol, sizeof symbol);
        if ((symbol.st_info & 15) == STT_OBJECT && value >= symbol.st_value &&
            value - symbol.st_value < symbol.st_size)
            return symbol.st_size - (value - symbol.st_value);
    }
    return 0;
}

/* Searches the symbol tables; the first one that contains the address decides. */
static size_t find(const char *file, size_t size, uint64_t value)
{
    const ElfW(Ehdr) *header = (const void *)file;
    ElfW(Shdr) section;
    if (size < sizeof *header ||
        !has_room(size, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr))))
        return 0;
    for (int i = 0; i < header->e_shnum; i++) {
        memcpy(&section, file + header->e_shoff + (size_t)i * sizeof section, sizeof section);
        const size_t bytes =
            section.sh_type == SHT_SYMTAB && has_room(size, section.sh_offset, section.sh_size)
                ? find_in(file + section.sh_offset, section.sh_size, value)
                : 0;
        if (bytes)
            return bytes;
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

// Functions newer than glibc 2.34 that Debian 12's static libraries call, for the archive that runs on any Linux
// (tools/linux). The linker names a function that is missing here.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

// Seed of std::random_device. glibc has it since 2.36.
uint32_t arc4random(void) {
    uint32_t bits;
    if (getentropy(&bits, sizeof bits) != 0) abort();
    return bits;
}

// What this process may still take of the machine's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vkf {

/// Bytes that can be allocated now without swapping or being refused. On POSIX what the machine has available
/// (/proc/meminfo), what the process's control groups leave of their limits, and what `ulimit -v` and `ulimit -d`
/// leave; on Windows what there is of memory, of what may be committed, and of the limits of the process's job. On
/// systems that tell nothing of these, no limit.
std::uint64_t free_memory();

/// The most bytes that this process has had in memory so far.
std::uint64_t peak_memory();

/// Gives what was freed back to the system, where the C library would keep it for later (glibc).
void trim_heap();

/// What `ulimit -v` and `ulimit -d`, or the address space itself, leave to this process.
std::uint64_t free_address_space();

/// Those of `ulimit -v`, `-d` and `-f` that are set, for the end of a message: "; ulimit -v is 600 KiB". Empty if none
/// is, and on Windows.
std::string memory_limits();

/// Whether the byte is there to be read. In a mapping of a file past the file's end it is not, and to touch it would
/// end the process with SIGBUS; where memory was not mapped at all, with SIGSEGV.
bool readable(const std::byte* at);

}  // namespace vkf

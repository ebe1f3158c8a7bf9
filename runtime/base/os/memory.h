// Memory that this process may still allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vkf {

/// Bytes that can be allocated now without swapping or being refused. On POSIX the least of the machine's available
/// memory (/proc/meminfo) and the rest of the limits of the process's control groups, `ulimit -v` and `ulimit -d`; on
/// Windows the least of available memory, memory that may be committed, and the limits of the process's job. No limit
/// on systems that report none of these.
std::uint64_t free_memory();

/// Largest number of bytes that this process has had in memory so far.
std::uint64_t peak_memory();

/// Gives freed memory back to the system, if the C library would keep it for later (glibc).
void trim_heap();

/// Bytes that `ulimit -v` and `ulimit -d`, or the address space itself, leave to this process.
std::uint64_t free_address_space();

/// Limits set by `ulimit -v`, `-d` and `-f`, for the end of a message: "; ulimit -v is 600 KiB". Empty if none is set,
/// and on Windows.
std::string memory_limits();

/// True if the byte can be read. Reading a byte of a mapped file past the file's end would end the process with SIGBUS;
/// reading unmapped memory, with SIGSEGV.
bool readable(const std::byte* at);

}  // namespace vkf

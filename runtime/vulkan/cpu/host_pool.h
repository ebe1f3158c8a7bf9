// Memory of a CPU device: huge pages, and a check that an allocation has memory.
#pragma once

#include <volk.h>

#include <vk_mem_alloc.h>

#include <cstddef>
#include <cstdint>

namespace vkf {

/// Zeroed memory of this process, for which Linux is asked to use pages of 2 MiB where they fit (`madvise`). data() is
/// null if the allocation fails, and on other systems.
class HugePages {
public:
    static constexpr std::size_t page = 2 << 20;

    explicit HugePages(std::size_t bytes);
    HugePages(const HugePages&) = delete;
    HugePages& operator=(const HugePages&) = delete;
    ~HugePages();

    void* data() const { return data_; }

private:
    void* mapped_ = nullptr;  // one page larger, so that data() can begin at a page
    std::size_t mapped_bytes_ = 0;
    void* data_ = nullptr;
};

/// Memory pool for one buffer of a CPU device, imported into it (VK_EXT_external_memory_host): room for a buffer of
/// `bytes` bytes. It must outlive the buffer.
///
/// Reason: Mesa's CPU device allocates in an anonymous file, which Linux cuts into pages of 4 KiB. In huge pages a
/// token of SmolLM2 takes 5 % less time (docs/lab/cpu-driver.md).
class HostPool {
public:
    static constexpr VkExternalMemoryHandleTypeFlagBits handle_type =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

    HostPool(VkDevice device, VmaAllocator allocator, std::uint64_t bytes);
    HostPool(const HostPool&) = delete;
    HostPool& operator=(const HostPool&) = delete;
    ~HostPool();

    /// Null if the pool could not be made.
    VmaPool handle() const { return pool_; }

private:
    HugePages memory_;
    VkImportMemoryHostPointerInfoEXT import_{};
    VmaAllocator allocator_;
    VmaPool pool_ = VK_NULL_HANDLE;
};

/// True if an allocation of `bytes` bytes, which the host may read, has memory. Mesa's CPU device takes memory from an
/// anonymous file, and does not notice if `ulimit -f` prevents the file from growing or `ulimit -v` prevents its
/// mapping.
bool backed(VmaAllocator allocator, VmaAllocation allocation, std::uint64_t bytes);

}  // namespace vkf

#include "vulkan/cpu/host_pool.h"

#include <bit>

#include "base/os/memory.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace vkf {

namespace {

constexpr std::uint64_t up_to(std::uint64_t bytes, std::uint64_t step) {
    return (bytes + step - 1) / step * step;
}

constexpr std::uint64_t largest_import_alignment = 65536;  // allowed by Vulkan

}  // namespace

// --- Pages ---------------------------------------------------------------------------------------

#ifdef __linux__

HugePages::HugePages(std::size_t bytes) {
    void* mapped = ::mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return;
    mapped_ = mapped;
    mapped_bytes_ = bytes + page;
    const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(mapped);
    data_ = static_cast<std::byte*>(mapped) + (up_to(begin, page) - begin);
    ::madvise(data_, bytes, MADV_HUGEPAGE);  // if it fails, pages are small
}

HugePages::~HugePages() {
    if (mapped_) ::munmap(mapped_, mapped_bytes_);
}

#else

HugePages::HugePages(std::size_t) {}
HugePages::~HugePages() = default;

#endif

// --- Pool ----------------------------------------------------------------------------------------

HostPool::HostPool(VkDevice device, VmaAllocator allocator, std::uint64_t bytes)
    : memory_(up_to(bytes, largest_import_alignment)), allocator_(allocator) {
    if (!memory_.data()) return;
    VkMemoryHostPointerPropertiesEXT types{};
    types.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
    if (vkGetMemoryHostPointerPropertiesEXT(device, handle_type, memory_.data(), &types) != VK_SUCCESS) return;
    if (types.memoryTypeBits == 0) return;
    import_.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
    import_.handleType = handle_type;
    import_.pHostPointer = memory_.data();
    VmaPoolCreateInfo info{};
    info.memoryTypeIndex = static_cast<std::uint32_t>(std::countr_zero(types.memoryTypeBits));
    info.blockSize = up_to(bytes, largest_import_alignment);
    info.minBlockCount = info.maxBlockCount = 1;
    info.pMemoryAllocateNext = &import_;
    if (vmaCreatePool(allocator, &info, &pool_) != VK_SUCCESS) pool_ = VK_NULL_HANDLE;
}

HostPool::~HostPool() {
    if (pool_) vmaDestroyPool(allocator_, pool_);
}

// --- Check ---------------------------------------------------------------------------------------

bool backed(VmaAllocator allocator, VmaAllocation allocation, std::uint64_t bytes) {
    void* data = nullptr;
    if (vmaMapMemory(allocator, allocation, &data) != VK_SUCCESS) return false;
    const auto* first = static_cast<const std::byte*>(data);
    const bool there = data && readable(first) && readable(first + bytes - 1);
    vmaUnmapMemory(allocator, allocation);
    return there;
}

}  // namespace vkf

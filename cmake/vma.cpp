// The one place where VulkanMemoryAllocator's implementation is compiled, with warnings off.
#include <volk.h>

#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

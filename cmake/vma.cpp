// Compiles VulkanMemoryAllocator's implementation, with warnings off. No other file does.
#include <volk.h>

#define VMA_IMPLEMENTATION
#include <vk_mem_alloc.h>

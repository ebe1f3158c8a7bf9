#include "faults/faulty_kernels.h"

#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>

#include "vulkan/shared_memory.h"

std::string_view fault() {
    const char* word = std::getenv("VKFORMER_FAULT");
    return word ? word : "";
}

FaultyKernel faulty(const std::uint32_t* code, std::size_t bytes) {
    constexpr std::uint32_t NOP = 0, EXT_INST = 12, CONSTANT = 43, COPY = 83, MATRIX_MULTIPLY_ADD = 4459;
    constexpr std::uint32_t FABS = 4, SQRT = 31, HALF_OF_BFLOAT16 = 0x7fff;
    FaultyKernel made{{code, code + bytes / 4}};
    std::vector<std::uint32_t>& words = made.words;
    for (std::size_t at = 5; at < words.size() && words[at] >> 16 != 0;) {
        const std::uint32_t op = words[at] & 0xffff, length = words[at] >> 16;
        if (op == EXT_INST && words[at + 4] == SQRT) {
            made.root = true;
            if (fault() == "wrong") words[at + 4] = FABS;
        }
        if (op == CONSTANT && words[at + 3] == HALF_OF_BFLOAT16 && fault() == "truncated") words[at + 3] = 0;
        if (op == MATRIX_MULTIPLY_ADD) {
            made.matrices = true;
            if (fault() == "matrices") {  // type, result, a, b, c, …
                words[at] = COPY | 4 << 16;
                words[at + 3] = words[at + 5];
                for (std::size_t i = 4; i < length; ++i) words[at + i] = NOP | 1 << 16;
            }
        }
        at += length;
    }
    return made;
}

void fail_at(const FaultyKernel& kernel) {
    const bool crashes = (kernel.root && fault() == "crash") || (kernel.matrices && fault() == "matrix_crash");
    if (crashes) std::raise(SIGSEGV);
    while (kernel.root && fault() == "hang") ::pause();
}

const VkSpecializationInfo* with_real_group(const VkSpecializationInfo* info) {
    static VkSpecializationInfo changed;
    static std::vector<std::uint32_t> data;
    if (fault() != "invocations" || !info) return info;
    changed = *info;
    data.resize(info->dataSize / 4);
    std::memcpy(data.data(), info->pData, info->dataSize);
    for (std::uint32_t i = 0; i < info->mapEntryCount; ++i) {
        std::uint32_t& value = data[info->pMapEntries[i].offset / 4];
        if (info->pMapEntries[i].constantID == 0) value = value > real_invocations ? real_invocations : value;  // GROUP
    }
    changed.pData = data.data();
    return &changed;
}

bool shares_too_much(const FaultyKernel& kernel, const VkSpecializationInfo* info) {
    if (fault() != "shared") return false;
    std::map<std::uint32_t, std::uint32_t> constants;
    for (std::uint32_t i = 0; info && i < info->mapEntryCount; ++i)
        std::memcpy(&constants[info->pMapEntries[i].constantID],
                    static_cast<const char*>(info->pData) + info->pMapEntries[i].offset, 4);
    return vkf::shared_bytes(kernel.words, constants) > real_shared_bytes;
}

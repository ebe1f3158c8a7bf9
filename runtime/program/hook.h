// Hook in the middle of a program's run for code of the host, such as an all-reduce of gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/error.h"
#include "program/arena.h"

namespace vkf {

/// A tensor of Graph::hook in device memory: contiguous fp32 elements.
class HookedTensor {
public:
    HookedTensor(Arena& memory, std::uint64_t offset, std::int64_t elements)
        : memory_(&memory), offset_(offset), elements_(static_cast<std::size_t>(elements)) {}

    std::size_t elements() const { return elements_; }
    /// Device address, for code that reads and writes the device's memory by itself.
    std::uint64_t address() const { return memory_->address(offset_, elements_ * sizeof(float)); }

    /// Copy the whole tensor. Throw InputError on another count.
    void read(std::span<float> into) const {
        require_count(into.size());
        memory_->read(offset_, std::as_writable_bytes(into));
    }
    void write(std::span<const float> values) {
        require_count(values.size());
        memory_->write(offset_, std::as_bytes(values));
    }

private:
    void require_count(std::size_t count) const {
        require(count == elements_, "a hooked tensor has ", elements_, " elements, given ", count);
    }

    Arena* memory_;
    std::uint64_t offset_;
    std::size_t elements_;
};

/// Gets the tensors of Graph::hook, in their order, once all work before the hook is finished.
using Hook = std::function<void(std::span<HookedTensor>)>;

}  // namespace vkf

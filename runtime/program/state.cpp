#include "program/state.h"

#include "base/error.h"

namespace vkf {

void State::reserve(std::span<const NamedTensor> tensors) {
    std::uint64_t bytes = 0;
    std::map<std::string, Slot> fresh;
    for (const NamedTensor& wanted : tensors) {
        const TensorType& type = wanted.tensor.graph().storage(wanted.tensor).type;
        if (const auto known = slots_.find(wanted.name); known != slots_.end()) {
            require(known->second.type == type, "state '", wanted.name, "' is ", known->second.type, ", asked for as ",
                    type);
            continue;
        }
        fresh[wanted.name] = {type, buffers_.size(), bytes};
        bytes += (static_cast<std::uint64_t>(type.shape.elements()) * 4 + 255) / 256 * 256;
    }
    if (fresh.empty()) return;
    buffers_.emplace_back(*device_, bytes, Memory::device, "state");
    buffers_.back().fill(0);
    slots_.merge(fresh);
}

const State::Slot& State::slot(const std::string& name) const {
    const auto found = slots_.find(name);
    require(found != slots_.end(), "there is no state '", name, "'");
    return found->second;
}

std::uint64_t State::address(const std::string& name) const {
    const Slot& at = slot(name);
    return buffers_[at.buffer].address() + at.offset;
}

std::uint64_t State::bytes() const {
    std::uint64_t total = 0;
    for (const Buffer& buffer : buffers_) total += buffer.bytes();
    return total;
}

void State::write(const std::string& name, std::span<const float> values) {
    const Slot& at = slot(name);
    require(static_cast<std::int64_t>(values.size()) == at.type.shape.elements(), "state '", name, "' has shape ",
            at.type.shape, ", given ", values.size(), " values");
    buffers_[at.buffer].write(at.offset, std::as_bytes(values));
}

std::vector<float> State::read(const std::string& name) const {
    const Slot& at = slot(name);
    std::vector<float> values(static_cast<std::size_t>(at.type.shape.elements()));
    buffers_[at.buffer].read(at.offset, std::as_writable_bytes(std::span(values)));
    return values;
}

}  // namespace vkf

#include "program/state.h"

#include "base/error.h"
#include "graph/plan.h"
#include "vulkan/device.h"

namespace vkf {

void State::reserve(std::span<const NamedTensor> tensors) {
    std::vector<std::string> names;
    std::vector<TensorType> types;
    for (const NamedTensor& wanted : tensors) {
        const TensorType& type = wanted.tensor.graph().storage(wanted.tensor).type;
        if (const auto known = slots_.find(wanted.name); known != slots_.end()) {
            require(known->second.type == type, "state '", wanted.name, "' is ", known->second.type, ", asked for as ",
                    type);
            continue;
        }
        require_buffer(*device_, text("state '", wanted.name, "' ", type), type.shape.elements() * 4);
        names.push_back(wanted.name);
        types.push_back(type);
    }
    if (names.empty()) return;
    const Packing places = pack_beside(types, static_cast<std::int64_t>(device_->info().buffer_bytes));
    Arena arena(*device_, static_cast<std::uint64_t>(places.bytes), static_cast<std::uint64_t>(places.limit),
                Memory::device, "state");
    arena.fill(0);
    for (std::size_t i = 0; i < names.size(); ++i)
        slots_[names[i]] = {types[i], arenas_.size(), static_cast<std::uint64_t>(places.offsets[i])};
    arenas_.push_back(std::move(arena));
}

const State::Slot& State::slot(const std::string& name) const {
    const auto found = slots_.find(name);
    require(found != slots_.end(), "there is no state '", name, "'");
    return found->second;
}

std::uint64_t State::address(const std::string& name) const {
    const Slot& at = slot(name);
    return arenas_[at.arena].address(at.offset, static_cast<std::uint64_t>(at.type.shape.elements()) * 4);
}

std::uint64_t State::bytes() const {
    std::uint64_t total = 0;
    for (const Arena& arena : arenas_) total += arena.bytes();
    return total;
}

void State::write(const std::string& name, std::span<const float> values) {
    const Slot& at = slot(name);
    require(static_cast<std::int64_t>(values.size()) == at.type.shape.elements(), "state '", name, "' has shape ",
            at.type.shape, ", given ", values.size(), " values");
    arenas_[at.arena].write(at.offset, std::as_bytes(values));
}

std::vector<float> State::read(const std::string& name) const {
    const Slot& at = slot(name);
    std::vector<float> values(static_cast<std::size_t>(at.type.shape.elements()));
    arenas_[at.arena].read(at.offset, std::as_writable_bytes(std::span(values)));
    return values;
}

}  // namespace vkf

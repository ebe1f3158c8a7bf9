#include "program/state.h"

#include <algorithm>

#include "base/error.h"
#include "graph/plan.h"
#include "program/numbers.h"
#include "vulkan/device/device.h"

namespace vkf {

const State::Slot* State::find(const Storage& wanted) const {
    if (wanted.role == Role::constant) {
        const auto equal = [&](const Slot& at) { return *at.storage.values == *wanted.values; };
        const auto known = std::ranges::find_if(constants_, equal);
        return known == constants_.end() ? nullptr : &*known;
    }
    const auto known = slots_.find(wanted.name);
    if (known == slots_.end()) return nullptr;
    const Storage& there = known->second.storage;
    require(there.type == wanted.type && there.format == wanted.format, "state '", wanted.name, "' is ", there.type,
            kept(there.format), ", asked for as ", wanted.type, kept(wanted.format));
    return &known->second;
}

std::vector<Storage> State::missing(const Graph& graph) const {
    std::vector<Storage> list;
    for (const Storage& wanted : graph.storages()) {
        if ((wanted.role != Role::state && wanted.role != Role::constant) || find(wanted)) continue;
        const auto same = [&](const Storage& at) { return at.values && wanted.values && *at.values == *wanted.values; };
        if (std::ranges::none_of(list, same)) list.push_back(wanted);  // constants of two shapes may be equal
    }
    return list;
}

std::int64_t State::lacking(const Graph& graph) const {
    std::int64_t bytes = 0;
    for (const Storage& storage : missing(graph)) bytes += storage.bytes();
    return bytes;
}

void State::reserve(const Graph& graph) {
    const std::vector<Storage> fresh = missing(graph);
    if (fresh.empty()) return;
    std::vector<std::int64_t> sizes;
    for (const Storage& storage : fresh) {
        const char* kind = storage.role == Role::state ? "state '" : "'";
        require_buffer(*device_, text(kind, storage.name, "' ", storage.type), storage.bytes());
        sizes.push_back(storage.bytes());
    }
    const Packing places = pack_beside(sizes, static_cast<std::int64_t>(device_->info().buffer_bytes));
    Arena arena(*device_, static_cast<std::uint64_t>(places.bytes), static_cast<std::uint64_t>(places.limit),
                Memory::device, "state");
    arena.fill(0);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        const Slot made{fresh[i], arenas_.size(), static_cast<std::uint64_t>(places.offsets[i])};
        if (fresh[i].role == Role::state) {
            slots_[fresh[i].name] = made;
        } else {
            arena.write(made.offset, *fresh[i].values);
            constants_.push_back(made);
        }
    }
    arenas_.push_back(std::move(arena));
}

const State::Slot& State::slot(const std::string& name) const {
    const auto found = slots_.find(name);
    require(found != slots_.end(), "there is no state '", name, "'");
    return found->second;
}

std::uint64_t State::address(const Storage& storage) const {
    const Slot* at = find(storage);
    require(at, "there is no state '", storage.name, "'");
    return arenas_[at->arena].address(at->offset, static_cast<std::uint64_t>(storage.bytes()));
}

std::pair<Arena*, std::uint64_t> State::place(const Storage& storage) {
    const Slot* at = find(storage);
    require(at, "there is no state '", storage.name, "'");
    return {&arenas_[at->arena], at->offset};
}

std::uint64_t State::bytes() const {
    std::uint64_t total = 0;
    for (const Arena& arena : arenas_) total += arena.bytes();
    return total;
}

void State::require_dtype(const std::string& name, DType dtype, std::size_t count) const {
    const TensorType& type = slot(name).storage.type;
    require(type.dtype == dtype && static_cast<std::int64_t>(count) == type.shape.elements(), "state '", name, "' is ",
            type, ", given or asked for ", count, dtype == DType::f32 ? " floats" : " integers");
}

void State::write(const std::string& name, std::span<const float> values) {
    require_dtype(name, DType::f32, values.size());
    if (format(name) == Format::f32) return write_bytes(name, std::as_bytes(values));
    write_bytes(name, bytes_of(values, format(name)));
}

void State::write(const std::string& name, std::span<const std::int32_t> values) {
    require_dtype(name, DType::i32, values.size());
    write_bytes(name, std::as_bytes(values));
}

std::vector<float> State::read(const std::string& name) const {
    require_dtype(name, DType::f32, static_cast<std::size_t>(type(name).shape.elements()));
    return floats_of(read_bytes(name), format(name));
}

std::vector<std::int32_t> State::read_ints(const std::string& name) const {
    require_dtype(name, DType::i32, static_cast<std::size_t>(type(name).shape.elements()));
    return ints_of(read_bytes(name));
}

void State::write_bytes(const std::string& name, std::span<const std::byte> bytes) {
    const Slot& at = slot(name);
    require(static_cast<std::int64_t>(bytes.size()) == at.storage.bytes(), "state '", name, "' has ",
            at.storage.bytes(), " bytes, given ", bytes.size());
    arenas_[at.arena].write(at.offset, bytes);
}

std::vector<std::byte> State::read_bytes(const std::string& name) const {
    const Slot& at = slot(name);
    std::vector<std::byte> bytes(static_cast<std::size_t>(at.storage.bytes()));
    arenas_[at.arena].read(at.offset, bytes);
    return bytes;
}

}  // namespace vkf

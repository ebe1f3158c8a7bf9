// Tensors that outlive runs: parameters, moments, gradients, caches; shared by name between programs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "program/arena.h"

namespace vkf {

class Device;

class State {
public:
    explicit State(Device& device) : device_(&device) {}

    /// Makes zeroed room for those that are not there yet. Throws InputError if a known name has another type, Error if
    /// the memory is not to be had.
    void reserve(std::span<const NamedTensor> tensors);

    bool contains(const std::string& name) const { return slots_.contains(name); }
    const TensorType& type(const std::string& name) const { return slot(name).type; }
    std::uint64_t address(const std::string& name) const;
    std::uint64_t bytes() const;

    /// Whole tensors, row-major. Synchronous: waits for the device.
    void write(const std::string& name, std::span<const float> values);
    std::vector<float> read(const std::string& name) const;

private:
    struct Slot {
        TensorType type;
        std::size_t arena;
        std::uint64_t offset;
    };
    const Slot& slot(const std::string& name) const;

    Device* device_;
    std::vector<Arena> arenas_;  // one for each time that there was something to reserve
    std::map<std::string, Slot> slots_;
};

}  // namespace vkf

// Tensors that outlive runs: parameters, moments, gradients, caches, shared by name between programs; and the constants
// of their graphs, shared by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "program/arena.h"

namespace vkf {

class Device;

class State {
public:
    explicit State(Device& device) : device_(&device) {}

    /// Allocates a graph's states, as zeros, and constants, with their values, if they are not there yet. Throws
    /// InputError if a known name has another type or format, Error if there is not enough memory.
    void reserve(const Graph& graph);
    /// Bytes that reserve() would allocate.
    std::int64_t lacking(const Graph& graph) const;

    bool contains(const std::string& name) const { return slots_.contains(name); }
    const TensorType& type(const std::string& name) const { return slot(name).storage.type; }
    Format format(const std::string& name) const { return slot(name).storage.format; }
    /// Device address of a graph's state or constant that has been reserved.
    std::uint64_t address(const Storage& storage) const;
    /// The arena that holds a state or constant, and the offset in it.
    std::pair<Arena*, std::uint64_t> place(const Storage& storage);
    std::uint64_t bytes() const;

    /// Copy whole tensors, row-major; floats are rounded to the state's format. Throw InputError on another element
    /// type or count. Synchronous: they wait for the device.
    void write(const std::string& name, std::span<const float> values);
    void write(const std::string& name, std::span<const std::int32_t> values);
    std::vector<float> read(const std::string& name) const;
    std::vector<std::int32_t> read_ints(const std::string& name) const;
    /// Copy whole tensors as they are stored in memory.
    void write_bytes(const std::string& name, std::span<const std::byte> bytes);
    std::vector<std::byte> read_bytes(const std::string& name) const;

private:
    struct Slot {
        Storage storage;
        std::size_t arena;
        std::uint64_t offset;
    };
    /// Slot of a storage, or null if there is none.
    const Slot* find(const Storage& storage) const;
    /// A graph's states and constants that are not there yet, each once.
    std::vector<Storage> missing(const Graph& graph) const;
    const Slot& slot(const std::string& name) const;
    void require_dtype(const std::string& name, DType dtype, std::size_t count) const;

    Device* device_;
    std::vector<Arena> arenas_;  // one per reserve() that allocated memory
    std::map<std::string, Slot> slots_;
    std::vector<Slot> constants_;
};

}  // namespace vkf

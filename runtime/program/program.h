// A graph made executable: memory planned, kernels built, command buffers recorded once and replayed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/plan.h"
#include "program/accesses.h"
#include "program/arena.h"
#include "program/hook.h"
#include "program/pace.h"
#include "program/state.h"
#include "vulkan/kernel/kernel.h"
#include "vulkan/recorder.h"

namespace vkf {

class Device;
class Program;

/// Properties of a device for ops, without its cooperative matrices.
DeviceTraits traits(const Device& device);
/// Properties for a graph: with the device's cooperative matrices, if the graph keeps activations in 16 bits and
/// may_round() lets products round their operands to what the matrices take.
DeviceTraits traits(const Device& device, const Graph& graph);

/// True if products of a graph may round their operands to a matrix's elements.
bool may_round(const Graph& graph, MatrixElement element);

struct ProgramOptions {
    bool stamps = false;      // time every node (with a barrier around each: slower)
    bool guarded = false;     // for tests: guard bands around every transient tensor, NaN in all unused memory
    double segment_ms = 100;  // longest submission: estimated at first, then measured by runs (program/pace.h)
    std::optional<DeviceTraits> traits = {};  // for tests: lower for another device
    const Program* shares = nullptr;          // use its arena if that is large enough; the two never run at once
};

/// Copies of inputs and outputs in memory: on the device, where outputs are in the arena, and on the host once, or
/// twice as soon as runs overlap.
struct Copies {
    std::int64_t inputs, outputs;
};
constexpr Copies one_run_at_a_time{2, 1}, overlapping_runs{3, 2};

/// Memory of a program by use, in bytes.
struct MemoryUse {
    std::int64_t arena = 0;  // transient tensors; another program's if it is shared
    std::int64_t bound = 0;  // smallest possible size of an arena
    std::int64_t states = 0;
    std::int64_t constants = 0;  // including those of other programs over the same State
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t tables = 0;  // tables of arguments
};

struct NodeTime {
    std::size_t node = 0;  // index in the graph
    std::string scope;
    std::string op;
    std::string kernel;  // if several, the first that does not merely copy
    double ms = 0;
    double flops = 0;
    double bytes = 0;
};

/// The graph is kept by reference and must outlive the program; so must the device and the state. The program runs the
/// graph's passes, unless they have run before, with other options or for another program of the same graph.
class Program {
public:
    /// Runs the passes, lowers, plans, reserves states, builds kernels and records. Throws Error if there is not enough
    /// memory, saying how much is needed and for what, and Error naming the op if a kernel's arguments do not match.
    Program(Device& device, Graph& graph, State& state, const ProgramOptions& options = {});
    Program(Program&&) = default;

    /// Sets a whole input. Throws InputError on another element type or count.
    void write(std::string_view input, std::span<const float> values);
    void write(std::string_view input, std::span<const std::int32_t> values);

    /// Sets the function to call at the graph's hook; an empty one removes it. Throws InputError if the graph has no
    /// hook.
    void set_hook(Hook hook);

    /// Starts a run with the inputs written last. One more run may be started while it is under way, so that the device
    /// does not wait for the host; from then on host memory holds inputs and outputs twice. Everything is submitted at
    /// once, unless a hook is set: then the part before it is submitted and waited for, the hook called, and the rest
    /// submitted. An exception of the hook passes through; the rest is not run.
    void start();
    /// Waits for the first of the runs under way; read() then returns the outputs of that run, until the next start.
    void finish();
    std::size_t under_way() const { return runs_.size(); }
    /// Runs once and waits.
    void run();
    /// Runs the kernels once more on the inputs that the device has, and waits: for timing them. Copies nothing to the
    /// device or back, and does not call the hook.
    void repeat();
    /// An output of the last finished run: f32 of any format, or i32. Throws InputError if the output has the other
    /// type.
    std::vector<float> read(std::string_view output) const;
    std::vector<std::int32_t> read_ints(std::string_view output) const;
    float read_scalar(std::string_view output) const;

    const MemoryUse& memory() const { return memory_; }
    std::size_t segments() const;
    std::size_t barriers() const;
    std::size_t dispatches() const { return launches_.size(); }
    double flops() const;
    /// Commands that the last run submitted; before the first run, those that it will submit: the copies of the inputs
    /// that were written since the run before, the kernels (those before the hook and those after it, if the graph has
    /// one), the copies of the outputs.
    std::vector<const Recording*> recordings() const;

    /// Takes timestamps around every node from the next run on, as ProgramOptions::stamps, or none. No run may be under
    /// way.
    void set_stamps(bool stamps);
    /// Time of each node in the last run, which took timestamps.
    std::vector<NodeTime> node_times() const;
    /// The first node, in order, with an output that is not finite in a fresh run made node by node, as "scope: op:
    /// output k, element i of shape s is nan"; empty if all are finite. States are restored afterwards.
    std::string find_non_finite();
    /// Guard bands that a kernel has overwritten, one line each; needs ProgramOptions::guarded.
    std::string damaged_guards() const;

private:
    static constexpr std::uint32_t poison = 0x7fc0dead;  // a NaN that no arithmetic makes

    /// One dispatch with everything resolved.
    struct Launch {
        std::size_t node = 0;
        const Kernel* kernel = nullptr;
        std::vector<std::byte> push;
        std::uint64_t groups = 0;
        std::vector<Access> accesses;
        double flops = 0;
        double bytes = 0;
    };
    struct Place {
        std::string name;
        TensorType type;
        Format format = Format::f32;
        std::uint64_t offset = 0;

        std::int64_t bytes() const { return bytes_of(type.shape.elements(), format); }
    };
    /// A set of inputs: one flag per input, by index.
    using InputSet = std::vector<bool>;
    /// Host memory of one run, and the copies between it and the device. Only inputs that were written are copied to
    /// the device, and they stay there. The host never reads back inputs that it has written for the device, because on
    /// a GPU that memory is not cached. Most programs write the same few sets of inputs again and again.
    struct HostSlot {
        Arena inputs, outputs;
        std::map<InputSet, Commands> loads;
        Commands store;
    };
    struct Run {
        std::uint64_t ticket;
        std::size_t slot;
        Pace::Clock::time_point begun;
    };

    /// The input or output with that name. Throws InputError if there is none.
    static const Place& named(std::span<const Place> list, std::string_view name);
    /// Lays out inputs and outputs; counts states and constants.
    void lay_out();
    void allocate(const Program* shares);
    /// Throws Error if the memory that is still to be allocated does not fit.
    void require_room(bool shared) const;
    /// Throws Error naming the tensor if one is too large for any buffer.
    void require_buffers() const;
    /// Places of tensors and of the temporaries of a node.
    Places places(std::size_t node) const;
    Launch resolve(std::size_t node, const Dispatch& dispatch);
    /// Writes the arguments to the offsets that a kernel's members have in its Args or in a table's row. Throws Error
    /// if they do not match.
    void fill(std::span<std::byte> into, std::span<const ArgMember> members, const Args& given, const Places& at);
    /// Adds a table to those in memory and returns its address.
    std::uint64_t append_table(const ArgMember& member, const Table& table, const Places& at);
    std::uint64_t address(Tensor tensor) const;
    std::vector<float> transient_values(Tensor tensor) const;
    /// Records the kernels.
    void record();
    std::vector<HookedTensor> hooked();
    void write_bytes(std::string_view input, DType dtype, std::span<const std::byte> data);
    std::span<const std::byte> read_bytes(std::string_view output, DType dtype) const;
    /// Index of the next run's host slot: the only one, unless it is in use; of two, alternately. Makes the second slot
    /// when it is first needed.
    std::size_t free_host_slot();
    HostSlot make_host_slot() const;
    /// Copies of these inputs to the device.
    Commands record_load(const Arena& from, const InputSet& inputs) const;
    /// Copies of the inputs written since the last load to the device; null if there are none.
    const Commands* load();

    Device* device_;
    State* state_;
    const Graph* graph_;
    ProgramOptions options_;
    Plan plan_;
    std::vector<std::vector<std::int64_t>> scratches_;  // elements, by node
    std::shared_ptr<Arena> arena_;
    Arena inputs_;
    Buffer tables_;
    std::vector<std::byte> table_bytes_;  // content of `tables_`, while launches are resolved
    Packing input_layout_, output_layout_;
    std::vector<HostSlot> host_slots_;        // one, or two if runs have overlapped
    std::vector<Run> runs_;                   // runs under way, at most two
    std::size_t started_ = 0, finished_ = 0;  // host slots of the last run started and the last one finished
    std::vector<Place> input_places_, output_places_;
    InputSet written_;  // inputs written since they were last loaded
    InputSet loaded_;   // inputs loaded by the last run; before the first, all
    std::vector<Launch> launches_;
    std::vector<Commands> commands_;  // all kernels, or those before the hook and those after it
    Hook hook_;
    Pace pace_;
    MemoryUse memory_;
};

}  // namespace vkf

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
#include "vulkan/kernel.h"
#include "vulkan/recorder.h"

namespace vkf {

class Device;
class Program;

/// What ops are told of a device; nothing of its cooperative matrices.
DeviceTraits traits(const Device& device);
/// For a graph: its cooperative matrices too, if it keeps activations in 16 bits and may_round() lets products
/// round their operands to what the matrices take.
DeviceTraits traits(const Device& device, const Graph& graph);

/// Whether products of a graph may round their operands to a matrix's elements.
bool may_round(const Graph& graph, MatrixElement to);

struct ProgramOptions {
    bool stamps = false;      // time every node (with a barrier around each: slower)
    bool guarded = false;     // for tests: guard bands around every transient tensor, NaN in all unused memory
    double segment_ms = 100;  // the longest submission: estimated at first, then by what runs took (program/pace.h)
    std::optional<DeviceTraits> traits = {};  // for tests: lower as for another device
    const Program* shares = nullptr;          // take its arena if that is large enough; the two never run at once
};

/// How often an input and an output lie in memory: on the device, outputs in its arena, and on the host once, or twice
/// as soon as runs overlap.
struct Copies {
    std::int64_t inputs, outputs;
};
constexpr Copies one_run_at_a_time{2, 1}, overlapping_runs{3, 2};

/// Where a program's memory goes, in bytes.
struct MemoryUse {
    std::int64_t arena = 0;  // transient tensors; another program's where it is shared
    std::int64_t bound = 0;  // the smallest an arena could be
    std::int64_t states = 0;
    std::int64_t constants = 0;  // those of other programs over the same State among them
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    std::int64_t tables = 0;  // of arguments
};

struct NodeTime {
    std::size_t node = 0;  // its place in the graph
    std::string scope;
    std::string op;
    std::string kernel;  // of several the first that does not merely copy
    double ms = 0;
    double flops = 0;
    double bytes = 0;
};

/// The graph is kept by reference and must outlive the program, as must the device and the state. Its passes run here,
/// unless they have before, as with other options or for another program of the same graph.
class Program {
public:
    /// Runs the passes, lowers, plans, reserves states, builds kernels and records. Throws Error saying how much memory
    /// is needed and for what if it is not to be had, and naming the op if a kernel's arguments do not match.
    Program(Device& device, Graph& graph, State& state, const ProgramOptions& options = {});
    Program(Program&&) = default;

    /// Sets an input, whole. Throws InputError on another element type or count.
    void write(std::string_view input, std::span<const float> values);
    void write(std::string_view input, std::span<const std::int32_t> values);

    /// Lets something stand at the graph's hook; nothing, if it is empty. Throws InputError if the graph has none.
    void set_hook(Hook hook);

    /// Starts a run with what was written last. One more may be started while it is under way, so that the device does
    /// not wait for the host; from then on inputs and outputs lie twice in host memory. All is submitted at once,
    /// unless something stands at the hook: then what is before it is submitted and waited for, the hook called, and
    /// the rest submitted. What the hook throws passes through; the rest is not run.
    void start();
    /// Waits for the first of the runs under way; read() is then about that one, until the next start.
    void finish();
    std::size_t under_way() const { return runs_.size(); }
    /// Runs once and waits.
    void run();
    /// Runs the kernels once more on the inputs that the device has, and waits: for timing them. Nothing is copied to
    /// the device or back, and nothing stands at the hook.
    void repeat();
    /// An output of the last finished run: f32, of whatever format, or i32. Throws InputError on the other type.
    std::vector<float> read(std::string_view output) const;
    std::vector<std::int32_t> read_ints(std::string_view output) const;
    float read_scalar(std::string_view output) const;

    const MemoryUse& memory() const { return memory_; }
    std::size_t segments() const;
    std::size_t barriers() const;
    std::size_t dispatches() const { return launches_.size(); }
    double flops() const;
    /// What the last run submitted, before the first one what that will submit: the copies of those inputs that were
    /// written since the run before it, its kernels (those before the hook and those behind it, if the graph has one),
    /// the copies of its outputs.
    std::vector<const Recording*> recordings() const;

    /// Time of each node in the last run; needs ProgramOptions::stamps.
    std::vector<NodeTime> node_times() const;
    /// The first node, in order, whose outputs held a number that is not finite in a fresh run made node by node, as
    /// "scope: op: output k, element i of shape s is nan"; empty if all are finite. States are restored afterwards.
    std::string find_non_finite();
    /// Guard bands that a kernel has written over, one line each; needs ProgramOptions::guarded.
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
    /// For each input, by its place among them, whether something holds of it.
    using InputSet = std::vector<bool>;
    /// A run's side of host memory, and the copies between it and the device. Inputs are copied to the device when they
    /// were written, and stay there: what the host has written for the device it never reads, because on a GPU that
    /// memory is not cached. Most programs write the same few sets of inputs again and again.
    struct Side {
        Arena inputs, outputs;
        std::map<InputSet, Commands> loads;
        Commands store;
    };
    struct Run {
        std::uint64_t ticket;
        std::size_t side;
        Pace::Clock::time_point begun;
    };

    /// The input or output of that name. Throws InputError if there is none.
    static const Place& named(std::span<const Place> list, std::string_view name);
    /// Lays out inputs and outputs; counts states and constants.
    void lay_out();
    void allocate(const Program* shares);
    /// Throws Error unless what is still to be allocated fits.
    void require_room(bool shared) const;
    /// Throws Error naming the tensor if one is too large for any buffer.
    void require_buffers() const;
    /// Where tensors and the temporaries of a node are.
    Places places(std::size_t node) const;
    Launch resolve(std::size_t node, const Dispatch& dispatch);
    /// Puts the arguments where a kernel's members lie in its Args or in a table's row. Throws Error if they do not
    /// match.
    void fill(std::span<std::byte> into, std::span<const ArgMember> members, const Args& given, const Places& at);
    /// Adds a table to those in memory; its address.
    std::uint64_t write_down(const ArgMember& member, const Table& table, const Places& at);
    std::uint64_t address(Tensor tensor) const;
    std::vector<float> transient_values(Tensor tensor) const;
    void record(const ProgramOptions& options);
    std::vector<HookedTensor> hooked();
    void write_bytes(std::string_view input, DType dtype, std::span<const std::byte> data);
    std::span<const std::byte> read_bytes(std::string_view output, DType dtype) const;
    /// Which side the next run has: the only one, unless that is in use; of two, each in turn. Makes the second if it
    /// is the first to ask.
    std::size_t free_side();
    Side make_side() const;
    /// The copies of those inputs to the device.
    Commands record_load(const Arena& from, const InputSet& inputs) const;
    /// The copies that bring the device what was written since it was last brought something; null: nothing was.
    const Commands* load();

    Device* device_;
    State* state_;
    const Graph* graph_;
    Plan plan_;
    std::vector<std::vector<std::int64_t>> scratches_;  // elements, by node
    std::shared_ptr<Arena> arena_;
    Arena inputs_;
    Buffer tables_;
    std::vector<std::byte> table_bytes_;  // what `tables_` is to hold, while launches are resolved
    Packing input_layout_, output_layout_;
    std::vector<Side> sides_;                 // one, or two if runs have overlapped
    std::vector<Run> runs_;                   // those under way, at most two
    std::size_t started_ = 0, finished_ = 0;  // the sides of the last run started and of the last one finished
    std::vector<Place> input_places_, output_places_;
    InputSet written_;  // since they were last loaded
    InputSet loaded_;   // by the last run; before the first, all
    std::vector<Launch> launches_;
    std::vector<Commands> commands_;  // of all kernels, or of those before the hook and of those behind it
    Hook hook_;
    Pace pace_;
    MemoryUse memory_;
    bool guarded_ = false;
};

}  // namespace vkf

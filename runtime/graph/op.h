// One node kind of the graph: what it computes, its derivative and the kernels that compute it, as plain data.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/matrix_shape.h"
#include "graph/tensor.h"

namespace vkf {

class Autotuner;

/// What an op may know of the device it is lowered for.
struct DeviceTraits {
    bool cpu = true;  // kernels then run one subgroup per workgroup, without shared memory
    std::uint32_t subgroup_size = 8;
    std::uint32_t max_group = 1024;   // invocations per workgroup
    std::uint32_t compute_units = 2;  // cores or multiprocessors: how many workgroups keep it busy at once
    double flops_per_second = 3e10;   // rough, for cutting long submissions into segments
    double bytes_per_second = 1e10;
    std::uint32_t shared_bytes = 16384;  // memory shared by a workgroup
    std::uint32_t registers = 256;       // of 32 bits, for one invocation
    bool uniform_loads = false;          // a CPU that loads vectors by shaders/lib/uniform_loads.glsl
    bool unrolled_products = false;      // and computes as shaders/matmul_unrolled.comp wants it
    std::int64_t memory_bytes = std::int64_t{8} << 30;
    // Memory is cut into buffers of at most so many, but for a larger tensor.
    std::int64_t buffer_bytes = std::numeric_limits<std::int64_t>::max();
    std::optional<MatrixShape> matrices = {};  // set: products may round their operands to its element type
    // Workgroups so large hold matrices of that element together; 0: none. One subgroup: it has its own, for tests.
    std::uint32_t workgroup_matrices = 0;
    Autotuner* autotuner = nullptr;  // tries kernels out; without, a model of the device chooses
};

/// Temporary memory of one node, in elements of 4 bytes; handed out by Lowering::scratch.
struct Scratch {
    std::uint32_t index;
};

/// Elements [first, first + count) of a contiguous tensor or of a temporary.
struct Section {
    std::variant<Tensor, Scratch> of;
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// Rows of arguments for a kernel that has too many for its Args: there it has a reference to an array of structs,
/// whose members have the names of the columns. The columns are equally long. The program writes the rows into memory
/// once.
struct Table {
    using Column = std::variant<std::vector<Tensor>, std::vector<std::uint32_t>, std::vector<float>>;
    std::vector<std::pair<std::string, Column>> columns;

    std::size_t rows() const;
    /// What it takes in memory: 8 bytes for a tensor's address, 4 for a number; rows with addresses lie 8 bytes apart
    /// or a multiple of that.
    std::int64_t bytes() const;
    /// The same with what is left free behind it, so that the next one begins where addresses may lie.
    std::int64_t padded_bytes() const { return (bytes() + 15) / 16 * 16; }
};

/// A value for one member of a kernel's Args block; monostate is the null address.
using ArgValue = std::variant<std::monostate, Tensor, Scratch, Section, Table, std::uint32_t, std::int32_t, float>;
using Args = std::vector<std::pair<std::string, ArgValue>>;
using ConstantValue = std::variant<std::uint32_t, std::int32_t, float, bool>;

/// One row of a table.
Args row_of(const Table& table, std::size_t row);

/// One kernel launch as plain data. Names must match the kernel's own exactly; the match is checked at compile time of
/// the program. Groups are counted in one dimension.
struct Dispatch {
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
    Args args;
    std::uint64_t groups = 1;
    double flops = 0;
    double bytes = 0;
    bool cpu = false;  // lowered for a CPU device
};

/// What `lower` sees and fills.
struct Lowering {
    std::span<const Tensor> in;
    std::span<const Tensor> out;  // no tensor where an output is dispensable and nobody reads it
    const DeviceTraits& device;
    std::vector<Dispatch> dispatches;
    std::vector<std::int64_t> scratches;  // elements of each

    Scratch scratch(std::int64_t elements);
    /// A temporary for one kernel after the other: made by the first to ask, as large as the most demanding needs it.
    Scratch shared_scratch(std::optional<Scratch>& shared, std::int64_t elements);
    void dispatch(Dispatch d) {
        d.cpu = device.cpu;
        dispatches.push_back(std::move(d));
    }
};

/// Invocations per workgroup for a kernel that gives one workgroup to each row of `width` elements.
std::uint32_t row_group(const DeviceTraits&, std::int64_t width);
/// An extent as a kernel argument; throws if it does not fit in 32 bits.
std::uint32_t extent(std::int64_t);

/// What `vjp` sees. `d_out[i]` is the gradient of output i, or no tensor where nothing depends on it.
struct Vjp {
    std::span<const Tensor> in;
    std::span<const Tensor> out;
    std::span<const Tensor> d_out;
    std::vector<bool> wanted;  // which inputs' gradients anybody needs
};

/// A dense array in double precision: the interpreter's currency.
struct Array {
    Shape shape;
    std::vector<double> at;
};

/// Where an output lies inside its input's storage, for ops that only rename memory.
struct View {
    std::int64_t offset = 0;  // elements from the input's own start
    std::int64_t pitch = 0;   // elements between rows
};

/// What an op's kernels can do beside making dense fp32 outputs from dense fp32 inputs: all that the passes over a
/// graph (passes/run_passes.h) ask of it. In the masks, bit k is input or output k.
struct KernelTraits {
    std::uint32_t half_in = 0, half_out = 0;  // may be kept as packed 16-bit floats
    /// Such inputs that, kept in fp32, keep the outputs so: a sum is kept no worse than its terms.
    std::uint32_t widening = 0;
    bool uniform = false;  // all of these operands are kept in one format
    /// With `uniform`, computes in 16 bits as soon as most of its inputs are kept so: the others are cast.
    bool lower_precision = false;

    std::uint32_t gemm_operands = 0;    // inputs that are factors of a matrix product
    std::uint32_t strided_outputs = 0;  // may be written as slices of wider rows
    std::uint32_t read_back = 0;        // outputs that a later kernel of the node reads

    /// Adds input `addend`, else absent and of the output's shape, to `output` as it is written.
    struct EpilogueAdd {
        std::size_t output, addend;
    };
    std::optional<EpilogueAdd> epilogue_add;

    /// Of an op that sets its inputs side by side: the columns of output 0 that each begins at. What is made there
    /// need not be copied.
    std::vector<std::int64_t> concat_offsets;
    /// Of an op that sets its inputs one behind the other: the elements of output 0 that each begins at, likewise.
    std::vector<std::int64_t> flat_offsets;
};

/// An operation with its attributes as members; immutable once built. Inputs may be absent tensors where the op says
/// so.
class Op {
public:
    virtual ~Op() = default;
    virtual std::string_view name() const = 0;

    /// Types of the outputs; throws InputError naming both sides of a mismatch. An absent input has no entry's meaning:
    /// its type is f32 of shape [0].
    virtual std::vector<TensorType> infer(std::span<const TensorType> in) const = 0;

    /// The op's value in double: either computed here (return true), or left to `expand`.
    virtual bool reference(std::span<const Array> in, std::span<Array> out) const;
    /// The op's definition as plain ops: oracle in tests and default derivative. Empty: the op is its own definition.
    virtual std::vector<Tensor> expand(std::span<const Tensor> in) const;

    /// The gradient of each input (no tensor: zero or unwanted), by appending nodes. nullopt: differentiate `expand`;
    /// an op with neither has no derivative, and asking for one throws.
    virtual std::optional<std::vector<Tensor>> vjp(const Vjp&) const;

    /// The kernels that compute the outputs, in order.
    virtual void lower(Lowering&) const = 0;

    /// What those can do with these inputs.
    virtual KernelTraits kernel_traits(std::span<const Tensor> in) const;

    /// Set for an output that is only a view of input 0: no kernel, no memory.
    virtual std::optional<View> view(std::span<const Tensor> in, std::size_t output) const;
    /// The input that this output overwrites in place (a state update), if any.
    virtual std::optional<std::size_t> updates(std::size_t output) const;
    /// Whether the kernels can leave this output out: where nobody reads it, it is not computed and has no memory.
    virtual bool dispensable(std::size_t output) const;
    /// Whether the planner may give the output the memory of an input that dies here: every element must be read by the
    /// invocation that writes it, before it does.
    virtual bool may_alias(std::size_t output, std::size_t input) const;
};

}  // namespace vkf

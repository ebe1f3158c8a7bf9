// Op, one kind of graph node: its result, its derivative and the kernels that compute it, as plain data.
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

/// Properties of the device that an op may use when it is lowered.
struct DeviceTraits {
    bool cpu = true;  // kernels run one subgroup per workgroup, without shared memory
    std::uint32_t subgroup_size = 8;
    std::uint32_t max_group = 1024;   // invocations per workgroup
    std::uint32_t compute_units = 2;  // cores or multiprocessors: number of workgroups that keep the device busy
    double flops_per_second = 3e10;   // rough, for cutting long submissions into segments
    double bytes_per_second = 1e10;
    std::uint32_t shared_bytes = 16384;  // memory shared by a workgroup
    std::uint32_t registers = 256;       // 32-bit registers per invocation
    bool uniform_loads = false;          // CPU that loads vectors by shaders/lib/uniform_loads.glsl
    bool unrolled_products = false;      // CPU that also suits shaders/matmul/matmul_unrolled.comp
    std::int64_t memory_bytes = std::int64_t{8} << 30;
    // Most bytes of one buffer of memory; only a larger tensor gets a larger buffer.
    std::int64_t buffer_bytes = std::numeric_limits<std::int64_t>::max();
    std::optional<MatrixShape> matrices = {};  // set: products may round their operands to its element type
    // Invocations of a workgroup that hold matrices of this element type together; 0: none. If equal to
    // subgroup_size, for tests: each subgroup holds its own.
    std::uint32_t workgroup_matrices = 0;
    // Matrices load from shared memory as fast if their columns are contiguous instead of their rows, or the reverse.
    bool transposing_loads = false;
    Autotuner* autotuner = nullptr;  // tries kernels out; null: a model of the device chooses

    /// True if a GPU has matrix instructions, which round factors of products to 16 bits.
    bool rounds_factors() const { return !cpu && (matrices || workgroup_matrices > 0); }
};

/// Temporary memory of one node, in elements of 4 bytes; allocated by Lowering::scratch.
struct Scratch {
    std::uint32_t index;
};

/// Elements [first, first + count) of a contiguous tensor or of a temporary.
struct Section {
    std::variant<Tensor, Scratch> of;
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// Rows of arguments that are too many for a kernel's Args: the Args refer to an array of structs whose members have
/// the names of the columns. All columns have the same length. The program writes the rows into memory once.
struct Table {
    using Column = std::variant<std::vector<Tensor>, std::vector<std::uint32_t>, std::vector<float>>;
    std::vector<std::pair<std::string, Column>> columns;

    std::size_t rows() const;
    /// Bytes of the rows in memory: 8 for a tensor's address, 4 for a number; the distance between rows with addresses
    /// is a multiple of 8 bytes.
    std::int64_t bytes() const;
    /// bytes() and the padding after which the next table is aligned for addresses.
    std::int64_t padded_bytes() const { return (bytes() + 15) / 16 * 16; }
};

/// A value for one member of a kernel's Args block; monostate is the null address.
using ArgValue = std::variant<std::monostate, Tensor, Scratch, Section, Table, std::uint32_t, std::int32_t, float>;
using Args = std::vector<std::pair<std::string, ArgValue>>;
using ConstantValue = std::variant<std::uint32_t, std::int32_t, float, bool>;

/// One row of a table.
Args row_of(const Table& table, std::size_t row);

/// One kernel launch as plain data. Names must match the kernel's own exactly; compiling the program checks the match.
/// Groups are counted in one dimension.
struct Dispatch {
    std::string kernel;
    std::vector<std::pair<std::string, ConstantValue>> constants;
    Args args;
    std::uint64_t groups = 1;
    double flops = 0;
    double bytes = 0;
    bool cpu = false;  // lowered for a CPU device
};

/// Arguments and result of Op::lower.
struct Lowering {
    std::span<const Tensor> in;
    std::span<const Tensor> out;  // no tensor for an optional output that is not read
    const DeviceTraits& device;
    std::vector<Dispatch> dispatches;
    std::vector<std::int64_t> scratches;  // elements of each

    Scratch scratch(std::int64_t elements);
    /// Temporary that several kernels use one after the other: the first call makes it, later calls enlarge it as
    /// needed.
    Scratch shared_scratch(std::optional<Scratch>& shared, std::int64_t elements);
    void dispatch(Dispatch d) {
        d.cpu = device.cpu;
        dispatches.push_back(std::move(d));
    }
};

/// An extent as a kernel argument; throws if it does not fit in 32 bits.
std::uint32_t checked_u32(std::int64_t);

/// Arguments of Op::vjp. `d_out[i]` is the gradient of output i, or no tensor if nothing depends on output i.
struct Vjp {
    std::span<const Tensor> in;
    std::span<const Tensor> out;
    std::span<const Tensor> d_out;
    std::vector<bool> wanted;  // by input: true if its gradient is needed
};

/// A dense array in double precision, for the interpreter (graph/reference.h).
struct Array {
    Shape shape;
    std::vector<double> at;
};

/// Position of an output inside its input's storage, for ops that only reinterpret memory.
struct View {
    std::int64_t offset = 0;  // elements from the input's start
    std::int64_t pitch = 0;   // elements between rows
};

/// Capabilities of an op's kernels beyond making dense fp32 outputs from dense fp32 inputs: all that the passes over a
/// graph (passes/run_passes.h) need to know about the op. In the masks, bit k is input or output k.
struct KernelTraits {
    std::uint32_t half_in = 0, half_out = 0;  // may be kept as packed 16-bit floats
    /// Inputs of `half_in` that, if kept in fp32, keep the outputs in fp32: a sum is kept no less precisely than its
    /// terms.
    std::uint32_t widening = 0;
    bool uniform = false;  // all operands in half_in and half_out have one format
    /// With `uniform`, computes in 16 bits as soon as most of the inputs are kept in 16 bits: the others are cast.
    bool lower_precision = false;

    std::uint32_t gemm_operands = 0;    // inputs that are factors of a matrix product
    std::uint32_t strided_outputs = 0;  // may be written as slices of wider rows
    std::uint32_t read_back = 0;        // outputs that a later kernel of the node reads

    /// Adds input `addend`, which has the output's shape and is otherwise absent, to `output` while writing it.
    struct EpilogueAdd {
        std::size_t output, addend;
    };
    std::optional<EpilogueAdd> epilogue_add;

    /// For an op that concatenates columns: the column of output 0 at which each input begins. An input that is made
    /// there need not be copied.
    std::vector<std::int64_t> concat_offsets;
    /// For an op that concatenates flattened inputs: the element of output 0 at which each input begins. An input that
    /// is made there need not be copied.
    std::vector<std::int64_t> flat_offsets;
};

/// An operation with its attributes as members; immutable once built. Inputs may be absent tensors where the op allows
/// it.
class Op {
public:
    virtual ~Op() = default;
    virtual std::string_view name() const = 0;

    /// Types of the outputs; throws InputError naming both sides of a mismatch. Absent inputs have type f32[0].
    virtual std::vector<TensorType> infer(std::span<const TensorType> in) const = 0;

    /// Computes the op in double and returns true, or returns false: then `expand` gives the result.
    virtual bool reference(std::span<const Array> in, std::span<Array> out) const;
    /// The op's definition as plain ops: oracle in tests and default derivative. Empty: the op is its own definition.
    virtual std::vector<Tensor> expand(std::span<const Tensor> in) const;

    /// Appends nodes for the gradient of each input (no tensor: zero or not wanted). nullopt: `expand` is
    /// differentiated; an op with neither has no derivative, and asking for one throws.
    virtual std::optional<std::vector<Tensor>> vjp(const Vjp&) const;

    /// Fills in the kernels that compute the outputs, in order.
    virtual void lower(Lowering&) const = 0;

    /// Capabilities of these kernels with these inputs.
    virtual KernelTraits kernel_traits(std::span<const Tensor> in) const;

    /// Set if an output is only a view of input 0: it needs no kernel and no memory.
    virtual std::optional<View> view(std::span<const Tensor> in, std::size_t output) const;
    /// The input that this output overwrites in place (a state update), if any.
    virtual std::optional<std::size_t> updates(std::size_t output) const;
    /// True if the kernels can leave the output out: if it is not read, it is not computed and has no memory.
    virtual bool optional_output(std::size_t output) const;
    /// True if the planner may give the output the memory of an input that dies at this node: the invocation that
    /// writes an element must be the one that reads it, and reads it first.
    virtual bool may_alias(std::size_t output, std::size_t input) const;
};

}  // namespace vkf

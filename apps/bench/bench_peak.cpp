#include "apps/bench/bench_peak.h"

#include <cstring>
#include <map>
#include <vector>

#include "apps/bench/bench_timing.h"
#include "ops/elementwise/policy.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

constexpr std::uint32_t ROWS = 2, COLUMNS = 4, MATRIX_LINKS = 4;  // eight sums of a subgroup, of as many registers
constexpr std::uint32_t CHAINS = 12;                              // fit the registers of every device

/// Multiply-adds per chain and turn of the loop: so many that the loop's overhead does not show on a GPU. LLVM computes
/// one chain after the other, so on a CPU longer chains would measure the latency of an addition.
std::uint32_t links(const DeviceTraits& device) {
    return device.cpu ? 4 : 32;
}

/// shaders/bench/peak_flops.comp: multiply-adds in registers. Its result means nothing.
class MultiplyAddsOp : public Op {
public:
    MultiplyAddsOp(std::uint32_t group, std::uint64_t groups, std::uint32_t turns)
        : group_(group), groups_(groups), turns_(turns) {}

    std::string_view name() const override { return "multiply_adds"; }
    std::vector<TensorType> infer(std::span<const TensorType>) const override { return {{DType::f32, {threads()}}}; }

    void lower(Lowering& lowering) const override {
        lowering.dispatch({.kernel = "peak_flops",
                           .constants = {{"GROUP", group_}, {"CHAINS", CHAINS}, {"LINKS", links(lowering.device)}},
                           .args = {{"y", lowering.out[0]}, {"turns", turns_}, {"factor", 0.5f}, {"shift", 1.0f}},
                           .groups = groups_,
                           .flops = 2.0 * CHAINS * links(lowering.device) * turns_ * static_cast<double>(threads())});
    }

private:
    std::int64_t threads() const { return static_cast<std::int64_t>(group_ * groups_); }

    std::uint32_t group_;
    std::uint64_t groups_;
    std::uint32_t turns_;
};

/// shaders/peak_matrices*.comp: products of cooperative matrices in registers. Its result means nothing.
class MatrixProductsOp : public Op {
public:
    MatrixProductsOp(const MatrixShape& shape, std::uint32_t group, std::uint64_t groups, std::uint32_t turns)
        : shape_(shape), group_(group), groups_(groups), turns_(turns) {}

    std::string_view name() const override { return "matrix_products"; }
    std::vector<TensorType> infer(std::span<const TensorType>) const override {
        return {{DType::f32, {static_cast<std::int64_t>(group_ * groups_)}}};
    }

    void lower(Lowering& lowering) const override {
        const double subgroups = static_cast<double>(group_ / lowering.device.subgroup_size * groups_);
        lowering.dispatch({.kernel = shape_.element == MatrixElement::bf16 ? "peak_matrices_bf16" : "peak_matrices",
                           .constants = {{"GROUP", group_},
                                         {"MATRIX_M", shape_.m},
                                         {"MATRIX_N", shape_.n},
                                         {"MATRIX_K", shape_.k},
                                         {"ROWS", ROWS},
                                         {"COLUMNS", COLUMNS},
                                         {"LINKS", MATRIX_LINKS}},
                           .args = {{"y", lowering.out[0]}, {"turns", turns_}},
                           .groups = groups_,
                           .flops = flops_of_a_turn(shape_) * turns_ * subgroups});
    }

    /// FLOPs of one turn of one subgroup.
    static double flops_of_a_turn(const MatrixShape& shape) {
        return 2.0 * ROWS * COLUMNS * MATRIX_LINKS * shape.m * shape.n * shape.k;
    }

private:
    MatrixShape shape_;
    std::uint32_t group_;
    std::uint64_t groups_;
    std::uint32_t turns_;
};

/// Number of parts of the moved memory; one part is moved at a time.
std::int64_t parts(const DeviceTraits& device) {
    return device.cpu ? 16 : 4;
}

/// shaders/bench/peak_bytes.comp: copies one part of x to y [2·words], in place.
class MoveOp : public Op {
public:
    explicit MoveOp(std::int64_t part) : part_(part) {}

    std::string_view name() const override { return "move"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[1]}; }
    std::optional<std::size_t> updates(std::size_t) const override { return 1; }

    void lower(Lowering& lowering) const override {
        const std::int64_t words = lowering.in[0].elements() / 2 / parts(lowering.device);
        const Sweep grid = sweep(lowering.device, words);
        lowering.dispatch({.kernel = "peak_bytes",
                           .constants = {{"GROUP", grid.group}},
                           .args = {{"x", lowering.in[0]},
                                    {"y", lowering.out[0]},
                                    {"start", checked_u32(part_ * words)},
                                    {"count", checked_u32(words)},
                                    {"per_group", grid.per_group}},
                           .groups = grid.groups,
                           .bytes = 16.0 * static_cast<double>(words)});
    }

private:
    std::int64_t part_;
};

Measurement timed(Device& device, double seconds, const std::function<Repetition(Operands&)>& prepare) {
    std::string reason;
    const auto made = time_case(device, {.prepare = prepare}, {.seconds = seconds}, reason);
    if (!made) throw Error("cannot measure the device's peak: ", reason);
    return *made;
}

/// Makes a sample take about a millisecond: launch overhead does not show, and on a processor with other load some
/// samples are undisturbed.
std::shared_ptr<const Op> multiply_adds(const DeviceTraits& device) {
    const std::uint32_t group = sweep(device, 1).group;
    const std::uint64_t groups = std::uint64_t{device.compute_units} * (device.cpu ? 16 : 32);
    const double turn = 2.0 * CHAINS * links(device) * group * static_cast<double>(groups);
    const double turns = std::clamp(device.flops_per_second * 5e-3 / turn, 16.0, 4096.0);
    return std::make_shared<MultiplyAddsOp>(group, groups, static_cast<std::uint32_t>(turns));
}

/// Sized like multiply_adds(); a GPU's matrices are assumed to be 20 times as fast as its multiply-adds.
std::shared_ptr<const Op> matrix_products(const DeviceTraits& device, const MatrixShape& shape) {
    const std::uint32_t most = std::min(device.max_group, device.cpu ? device.subgroup_size : 256);
    const std::uint32_t subgroups = std::max(most / device.subgroup_size, 1U);
    const std::uint64_t groups = std::uint64_t{device.compute_units} * (device.cpu ? 4 : 16);
    const double turn = MatrixProductsOp::flops_of_a_turn(shape) * subgroups * static_cast<double>(groups);
    const double turns = std::clamp(device.flops_per_second * (device.cpu ? 5e-3 : 0.1) / turn, 4.0, 4096.0);
    return std::make_shared<MatrixProductsOp>(shape, subgroups * device.subgroup_size, groups,
                                              static_cast<std::uint32_t>(turns));
}

/// Largest shape of each element type.
std::map<MatrixElement, MatrixShape> largest_shapes(const std::vector<MatrixShape>& list) {
    const auto volume = [](const MatrixShape& shape) { return shape.m * shape.n * shape.k; };
    std::map<MatrixElement, MatrixShape> made;
    for (const MatrixShape& at : list)
        if (MatrixShape& best = made.try_emplace(at.element, at).first->second; volume(at) > volume(best)) best = at;
    return made;
}

/// Number of elements to move: parts of about a millisecond each, together far larger than caches if memory allows, but
/// no more than the host can make and upload in a second.
std::int64_t moved(const DeviceInfo& info, const DeviceTraits& device) {
    constexpr double least = 128 << 20, most = 1ll << 31;
    const auto count = static_cast<double>(parts(device));
    const double room = static_cast<double>(std::min(info.memory_bytes / 8, info.max_buffer_bytes));
    const double bytes = std::min({std::max(device.bytes_per_second * 0.5e-3 * count, least), most, room});
    return static_cast<std::int64_t>(bytes) / (8 * parts(device)) * 2 * parts(device);
}

/// Bytes per second that memcpy reads and writes, in memory far larger than caches.
double memcpy_bytes_per_second(double seconds) {
    std::vector<char> from(64 << 20, 1), to(from.size());
    const Timing timing = time_calls(seconds, [&] {
        std::memcpy(to.data(), from.data(), from.size());
        from.front() = to.back();  // keeps the compiler from removing the copy
    });
    return 2.0 * static_cast<double>(from.size()) / timing.least;
}

}  // namespace

Peak measure_peak(Device& device, double seconds) {
    const DeviceTraits device_traits = traits(device);
    const Measurement arithmetic = timed(device, seconds, [&](Operands& operands) -> Repetition {
        return [&] { return operands.graph().add(multiply_adds(device_traits), {}); };
    });
    const Shape shape{moved(device.info(), device_traits)};
    const Measurement memory = timed(device, seconds, [&](Operands& operands) -> Repetition {
        // A CPU moves zeros as fast as other numbers, and making numbers takes longer than moving them. A GPU may move
        // zeros faster, since they take less power.
        const Tensor x = device_traits.cpu ? operands.zeros(shape) : operands.numbers(shape);
        return [x, y = operands.zeros(shape), part = std::int64_t{0}, count = parts(device_traits)]() mutable {
            y = add_one(x.graph(), MoveOp(part++ % count), {x, y});
            return std::vector{y};
        };
    });
    Peak made{arithmetic.flops / arithmetic.seconds.least, memory.bytes / memory.seconds.least,
              device_traits.cpu ? memcpy_bytes_per_second(seconds) : 0.0};
    for (const auto& [element, shape_of] : largest_shapes(device.info().matrices)) {
        const auto prepare = [&, matrix = shape_of](Operands& operands) -> Repetition {
            return [&, matrix] { return operands.graph().add(matrix_products(device_traits, matrix), {}); };
        };
        try {
            const Measurement products = timed(device, seconds, prepare);
            made.matrices[to_string(element)] = products.flops / products.seconds.least;
        } catch (const Error&) {
            // A driver may list matrices that it cannot compile; they have no peak.
        }
    }
    return made;
}

Peak higher(const Peak& a, const Peak& b) {
    Peak made{std::max(a.flops, b.flops), std::max(a.bytes, b.bytes), std::max(a.memcpy_bytes, b.memcpy_bytes),
              a.matrices};
    for (const auto& [element, flops] : b.matrices) made.matrices[element] = std::max(made.matrices[element], flops);
    return made;
}

}  // namespace vkf

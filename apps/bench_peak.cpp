#include "apps/bench_peak.h"

#include <cstring>
#include <map>
#include <vector>

#include "apps/bench_timing.h"
#include "ops/grid.h"
#include "vulkan/device.h"

namespace vkf {

namespace {

constexpr std::uint32_t ROWS = 2, COLUMNS = 4, MATRIX_LINKS = 4;  // eight sums of a subgroup, of as many registers
constexpr std::uint32_t CHAINS = 12,
                        LINKS = 32;  // as many registers as every device has, and a loop that does not show

/// shaders/peak_flops.comp: multiply-adds in registers. Its result means nothing.
class MultiplyAddsOp : public Op {
public:
    MultiplyAddsOp(std::uint32_t group, std::uint64_t groups, std::uint32_t turns)
        : group_(group), groups_(groups), turns_(turns) {}

    std::string_view name() const override { return "multiply_adds"; }
    std::vector<TensorType> infer(std::span<const TensorType>) const override { return {{DType::f32, {threads()}}}; }

    void lower(Lowering& to) const override {
        to.dispatch({.kernel = "peak_flops",
                     .constants = {{"GROUP", group_}, {"CHAINS", CHAINS}, {"LINKS", LINKS}},
                     .args = {{"y", to.out[0]}, {"turns", turns_}, {"factor", 0.5f}, {"shift", 1.0f}},
                     .groups = groups_,
                     .flops = 2.0 * CHAINS * LINKS * turns_ * static_cast<double>(threads())});
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

    void lower(Lowering& to) const override {
        const double subgroups = static_cast<double>(group_ / to.device.subgroup_size * groups_);
        to.dispatch({.kernel = shape_.element == MatrixElement::bf16 ? "peak_matrices_bf16" : "peak_matrices",
                     .constants = {{"GROUP", group_},
                                   {"MATRIX_M", shape_.m},
                                   {"MATRIX_N", shape_.n},
                                   {"MATRIX_K", shape_.k},
                                   {"ROWS", ROWS},
                                   {"COLUMNS", COLUMNS},
                                   {"LINKS", MATRIX_LINKS}},
                     .args = {{"y", to.out[0]}, {"turns", turns_}},
                     .groups = groups_,
                     .flops = flops_of_a_turn(shape_) * turns_ * subgroups});
    }

    /// Of one subgroup.
    static double flops_of_a_turn(const MatrixShape& of) {
        return 2.0 * ROWS * COLUMNS * MATRIX_LINKS * of.m * of.n * of.k;
    }

private:
    MatrixShape shape_;
    std::uint32_t group_;
    std::uint64_t groups_;
    std::uint32_t turns_;
};

/// Parts of the memory that is moved, one at a time.
std::int64_t parts(const DeviceTraits& device) {
    return device.cpu ? 16 : 4;
}

/// shaders/peak_bytes.comp: one of the parts of y [2·words] becomes that of x, in place.
class MoveOp : public Op {
public:
    explicit MoveOp(std::int64_t part) : part_(part) {}

    std::string_view name() const override { return "move"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[1]}; }
    std::optional<std::size_t> updates(std::size_t) const override { return 1; }

    void lower(Lowering& to) const override {
        const std::int64_t words = to.in[0].elements() / 2 / parts(to.device);
        const Sweep grid = sweep(to.device, words);
        to.dispatch({.kernel = "peak_bytes",
                     .constants = {{"GROUP", grid.group}},
                     .args = {{"x", to.in[0]},
                              {"y", to.out[0]},
                              {"start", extent(part_ * words)},
                              {"count", extent(words)},
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

/// A sample is to take about a millisecond: the overhead of a launch does not show then, and on a processor that others
/// use as well some samples are left alone.
std::shared_ptr<const Op> multiply_adds(const DeviceTraits& device) {
    const std::uint32_t group = sweep(device, 1).group;
    const std::uint64_t groups = std::uint64_t{device.compute_units} * (device.cpu ? 16 : 32);
    const double turn = 2.0 * CHAINS * LINKS * group * static_cast<double>(groups);
    const double turns = std::clamp(device.flops_per_second * 5e-3 / turn, 16.0, 4096.0);
    return std::make_shared<MultiplyAddsOp>(group, groups, static_cast<std::uint32_t>(turns));
}

/// Likewise; a GPU's matrices are taken to be 20 times as fast as its multiply-adds.
std::shared_ptr<const Op> matrix_products(const DeviceTraits& device, const MatrixShape& shape) {
    const std::uint32_t most = std::min(device.max_group, device.cpu ? device.subgroup_size : 256);
    const std::uint32_t subgroups = std::max(most / device.subgroup_size, 1U);
    const std::uint64_t groups = std::uint64_t{device.compute_units} * (device.cpu ? 4 : 16);
    const double turn = MatrixProductsOp::flops_of_a_turn(shape) * subgroups * static_cast<double>(groups);
    const double turns = std::clamp(device.flops_per_second * (device.cpu ? 5e-3 : 0.1) / turn, 4.0, 4096.0);
    return std::make_shared<MatrixProductsOp>(shape, subgroups * device.subgroup_size, groups,
                                              static_cast<std::uint32_t>(turns));
}

/// Of each element the largest shape.
std::map<MatrixElement, MatrixShape> largest_shapes(const std::vector<MatrixShape>& list) {
    const auto volume = [](const MatrixShape& of) { return of.m * of.n * of.k; };
    std::map<MatrixElement, MatrixShape> made;
    for (const MatrixShape& at : list)
        if (MatrixShape& best = made.try_emplace(at.element, at).first->second; volume(at) > volume(best)) best = at;
    return made;
}

/// Elements to move: parts of about a millisecond each, together far larger than caches if the device has the room, but
/// no more than the host makes and uploads in a second.
std::int64_t moved(const DeviceInfo& info, const DeviceTraits& device) {
    constexpr double least = 128 << 20, most = 1ll << 31;
    const auto count = static_cast<double>(parts(device));
    const double room = static_cast<double>(std::min(info.memory_bytes / 8, info.max_buffer_bytes));
    const double bytes = std::min({std::max(device.bytes_per_second * 0.5e-3 * count, least), most, room});
    return static_cast<std::int64_t>(bytes) / (8 * parts(device)) * 2 * parts(device);
}

/// Far more than caches hold.
double memcpy_bytes_per_second(double seconds) {
    std::vector<char> from(64 << 20, 1), to(from.size());
    const Timing timing = time_calls(seconds, [&] {
        std::memcpy(to.data(), from.data(), from.size());
        from.front() = to.back();  // so that the copy is wanted
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
        // A CPU moves zeros as fast as numbers, and to make these takes longer than to move them. A GPU may move zeros
        // faster, for they take less power.
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
            // A driver may list matrices that it cannot compile. Then there is no such roof.
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

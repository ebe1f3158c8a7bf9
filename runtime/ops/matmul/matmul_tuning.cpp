#include "ops/matmul/matmul_tuning.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/half.h"
#include "base/random.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/tuning.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Properties of a product on which the choice of its kernel depends.
struct TunedGemm {
    std::int64_t batches, m, n, k;
    bool transpose_a, transpose_b;
    Format a, b, y;
    bool even;          // pairs of neighbours are aligned
    bool scales_terms;  // a is transposed and its rows have factors
};

Format format_of(std::uint32_t layout) {
    switch (static_cast<VectorLayout>(layout)) {
        case VectorLayout::bf16x2:
            return Format::bf16;
        case VectorLayout::f16x2:
            return Format::f16;
        default:
            return Format::f32;
    }
}

TunedGemm gemm_of(const GemmCall& call) {
    const GemmShape& shape = call.shape;
    const auto scalar = static_cast<std::uint32_t>(VectorLayout::scalar);
    const bool packed = shape.packed_factors || shape.packed_y;
    return {.batches = rounded_up(shape.batches, 1),
            .m = shape.transpose_a ? nearly(shape.m) : rounded_up(shape.m),
            .n = nearly(shape.n),
            .k = shape.transpose_a ? rounded_up(shape.k) : nearly(shape.k),
            .transpose_a = shape.transpose_a,
            .transpose_b = shape.transpose_b,
            .a = format_of(call.layout_a),
            .b = format_of(call.layout_b),
            .y = format_of(call.layout_y),
            .even = packed || (call.layout_a != scalar && call.layout_b != scalar && call.layout_y != scalar),
            .scales_terms = shape.scales_terms()};
}

/// Product for timing: of the problem's size, reduced so that a launch takes milliseconds by the device's rough speed,
/// a matrix takes at most 64 MiB, and sums of exact operands fit 24 bits. Large numbers of rows are reduced first,
/// because widths matter more.
TunedGemm timed(TunedGemm gemm, const DeviceTraits& device) {
    constexpr double seconds = 5e-3;
    constexpr std::int64_t elements = 1 << 24, terms = 1 << 14, many = 1 << 11;
    const auto too_large = [&] {
        const double flops = 2.0 * static_cast<double>(gemm.batches * gemm.m) * static_cast<double>(gemm.n * gemm.k);
        return gemm.k > terms || flops > seconds * device.flops_per_second ||
               gemm.batches * gemm.m * gemm.k > elements || gemm.batches * gemm.k * gemm.n > elements ||
               gemm.batches * gemm.m * gemm.n > elements;
    };
    const std::array extents{&gemm.batches, &gemm.m, &gemm.n, &gemm.k};
    std::int64_t& rows = gemm.transpose_a ? gemm.k : gemm.m;
    while (too_large())
        (rows > many ? rows : **std::ranges::max_element(extents, {}, [](const std::int64_t* x) { return *x; })) /= 2;
    if (!gemm.even) ++gemm.m, ++gemm.n, ++gemm.k;
    return gemm;
}

/// Product for checking results: two of the largest tiles each way, cut off by y's edges, and a slice of k, cut off.
TunedGemm cut_off(TunedGemm gemm) {
    const std::int64_t odd = gemm.even ? 0 : 1;
    gemm.batches = std::min<std::int64_t>(gemm.batches, 2);
    gemm.m = 138 + odd;
    gemm.n = 146 + odd;
    gemm.k = 78 + odd;
    return gemm;
}

Shape matrices(std::int64_t batches, std::int64_t rows, std::int64_t columns) {
    return batches > 1 ? Shape{batches, rows, columns} : Shape{rows, columns};
}
Shape shape_of_a(const TunedGemm& gemm) {
    return gemm.transpose_a ? matrices(gemm.batches, gemm.k, gemm.m) : matrices(gemm.batches, gemm.m, gemm.k);
}
Shape shape_of_b(const TunedGemm& gemm) {
    return gemm.transpose_b ? matrices(gemm.batches, gemm.n, gemm.k) : matrices(gemm.batches, gemm.k, gemm.n);
}

Shape shape_of_scales(const TunedGemm& gemm) {
    return shape_of_a(gemm).with_width(1);
}

/// Random numbers, rounded to the format. Magnitudes are from 0.5 to 1, so that no number is subnormal in any format.
/// `exact` numbers have 5 bits: all formats hold them, and fp32 adds their products without rounding, in any order.
/// Others have 24 bits.
Array draw(Random& random, const Shape& shape, Format format, bool exact) {
    Array drawn{shape, std::vector<double>(static_cast<std::size_t>(shape.elements()))};
    for (double& number : drawn.at) {
        const std::uint32_t bits = random.bits();
        const float magnitude = exact ? static_cast<float>(16 + (bits >> 28)) / 32 : 0.5f + 0.5f * unit_float(bits);
        float x = bits % 2 == 0 ? -magnitude : magnitude;
        if (format == Format::bf16) x = from_bfloat16(to_bfloat16(x));
        if (format == Format::f16) x = from_half(to_half(x));
        number = static_cast<double>(x);
    }
    return drawn;
}

/// Shapes of operands by name. Exact operands do not include bias and addend.
Shapes shapes(const TunedGemm& gemm, bool exact) {
    Shapes made{{"a", shape_of_a(gemm)}, {"b", shape_of_b(gemm)}};
    if (gemm.scales_terms || (!exact && !gemm.transpose_a)) made["row_scale"] = shape_of_scales(gemm);
    if (exact) return made;
    made["bias"] = {gemm.n};
    made["addend"] = matrices(gemm.batches, gemm.m, gemm.n);
    return made;
}

/// Random operands; the factors of exact ones are 0 and 2, which keep sums exact.
Arrays operands(const TunedGemm& gemm, bool exact) {
    Random random(1, exact ? "exact operands" : "operands");
    Arrays made;
    const Shapes given = shapes(gemm, exact);
    made["a"] = draw(random, given.at("a"), gemm.a, exact);
    made["b"] = draw(random, given.at("b"), gemm.b, exact);
    for (const std::string name : {"row_scale", "bias", "addend"})
        if (const auto found = given.find(name); found != given.end())
            made[name] = draw(random, found->second, Format::f32, false);
    if (exact && gemm.scales_terms)
        for (double& scale : made["row_scale"].at) scale = scale < 0 ? 0.0 : 2.0;
    return made;
}

/// Builds the graph whose output "y" is the product of operands with these names and shapes.
void describe(Graph& graph, const TunedGemm& gemm, const Shapes& given) {
    const auto input = [&](const char* name) {
        const auto found = given.find(name);
        return found == given.end() ? Tensor() : graph.input(name, {DType::f32, found->second});
    };
    const auto operand = [&](const char* name, Format format) {
        // A copy may be packed, and is next to memory that kernels must not touch.
        const Tensor x = scale(input(name), 1.0f);
        graph.set_format(graph.value(x).storage, format);
        return x;
    };
    MatmulOptions options{.transpose_a = gemm.transpose_a, .transpose_b = gemm.transpose_b};
    options.bias = input("bias");
    options.addend = input("addend");
    options.row_scale = input("row_scale");
    const Tensor y = matmul(operand("a", gemm.a), operand("b", gemm.b), options);
    graph.set_format(graph.value(y).storage, gemm.y);
    graph.output("y", gemm.y == Format::f32 ? y : scale(y, 1.0f));
}

/// The product in double, without rounding to formats.
Array in_double(TunedGemm gemm, const Arrays& given) {
    gemm.a = gemm.b = gemm.y = Format::f32;
    Graph graph;
    describe(graph, gemm, shapes_of(given));
    return interpret(graph, given).at("y");
}

/// Error bound of each element of `y`: rounding of the factors by `unit` for each product, of fp32 for each sum, and of
/// the result's format.
std::vector<double> bounds(const TunedGemm& gemm, const Arrays& given, const Array& y, double unit) {
    Arrays large = magnitudes(given);
    const double sums = (static_cast<double>(gemm.k) + 4) * fp32_rounding;
    const Array all = in_double(gemm, large);
    large.erase("bias");
    large.erase("addend");
    const Array products = in_double(gemm, large);
    std::vector<double> made;
    for (std::size_t i = 0; i < y.at.size(); ++i)
        made.push_back((2 * unit + unit * unit) * products.at[i] + sums * all.at[i] +
                       rounding(gemm.y) * std::abs(y.at[i]));
    return made;
}

/// Rows or columns to check: with exact operands one of every 16, which covers each matrix of every tile; else all.
std::vector<std::int64_t> looked_at(std::int64_t extent, bool exact, Random& random) {
    const std::int64_t block = exact ? 16 : 1;
    std::vector<std::int64_t> list;
    for (std::int64_t first = 0; first < extent; first += block)
        list.push_back(first + static_cast<std::int64_t>(
                                   random.below(static_cast<std::uint64_t>(std::min(block, extent - first)))));
    return list;
}

/// The rows (axis -2) or columns (axis -1) `places` of each matrix.
Array taken(const Array& x, const std::vector<std::int64_t>& places, bool columns) {
    const std::int64_t height = x.shape[-2], width = x.shape[-1], count = std::ssize(places);
    const std::int64_t batches = x.shape.elements() / (height * width);
    Array made{columns ? matrices(batches, height, count) : matrices(batches, count, width), {}};
    for (std::int64_t z = 0; z < batches; ++z)
        for (std::int64_t i = 0; i < (columns ? height : count); ++i)
            for (std::int64_t j = 0; j < (columns ? count : width); ++j) {
                const std::int64_t row = columns ? i : places[static_cast<std::size_t>(i)];
                const std::int64_t column = columns ? places[static_cast<std::size_t>(j)] : j;
                made.at.push_back(x.at[static_cast<std::size_t>((z * height + row) * width + column)]);
            }
    return made;
}

/// Operands and expected results with bounds. Exact operands are not rounded by matrices, nor their sums by fp32, so
/// that `unit` does not enter their bounds.
TuningOperands tried_on(const TunedGemm& gemm, bool exact, double unit) {
    TuningOperands made;
    Arrays given = operands(gemm, exact);
    for (const auto& [name, x] : given) made.inputs[name] = floats(x);

    Random random(2, "elements");
    const std::vector<std::int64_t> rows = looked_at(gemm.m, exact, random), columns = looked_at(gemm.n, exact, random);
    TunedGemm part = gemm;
    part.m = std::ssize(rows);
    part.n = std::ssize(columns);
    given["a"] = taken(given["a"], rows, gemm.transpose_a);
    given["b"] = taken(given["b"], columns, !gemm.transpose_b);
    const Array y = in_double(part, given);
    made.expected.values = y.at;
    if (exact)
        for (const double x : y.at) made.expected.bounds.push_back(rounding(gemm.y) * std::abs(x));
    else
        made.expected.bounds = bounds(part, given, y, unit);
    for (std::int64_t z = 0; z < gemm.batches; ++z)
        for (const std::int64_t i : rows)
            for (const std::int64_t j : columns)
                made.expected.at.push_back(static_cast<std::size_t>((z * gemm.m + i) * gemm.n + j));
    return made;
}

std::unique_ptr<TuningCase> make(const TunedGemm& gemm, bool exact, double unit) {
    auto made = std::make_unique<TuningCase>();
    describe(made->graph, gemm, shapes(gemm, exact));
    made->op = "matmul";
    made->operands = [=] { return tried_on(gemm, exact, unit); };
    return made;
}

}  // namespace

TuningProblem tuning_problem(const DeviceTraits& device, const GemmCall& call, std::span<const KernelConfig> list) {
    const TunedGemm of = gemm_of(call);
    const double unit = device.matrices ? rounding(device.matrices->element) : 0.0;
    const char* product = of.transpose_a ? "matmul TN" : of.transpose_b ? "matmul NT" : "matmul NN";
    const std::string elements =
        text(name(of.a), 'x', name(of.b), "->", name(of.y), of.even ? "" : " odd", of.scales_terms ? " scaled" : "",
             " by ", device.matrices ? to_string(device.matrices->element) : "fp32");
    TuningProblem made{.kind = text(product, ' ', of.batches, 'x', of.m, 'x', of.n, 'x', of.k, ' ', elements),
                       .family = text(product, ' ', elements),
                       .correctness = text(product, ' ', elements, of.batches > 1 ? " in batches" : "")};
    for (const KernelConfig& at : list) made.candidates.push_back(at.name);
    made.correctness_case = [=] { return make(cut_off(of), false, unit); };
    made.timing_case = [=] { return make(timed(of, device), true, unit); };
    return made;
}

KernelConfig gemm_config(const DeviceTraits& device, const GemmCall& call) {
    std::vector<KernelConfig> list = gemm_configs(device, call.shape);
    // These kernels count bytes within a tile in 32 bits.
    constexpr std::array kernels{"matmul_tile", "matmul_coopmat", "matmul_coopmat_bf16"};
    constexpr std::int64_t farthest = 1 << 23;
    if (const std::int64_t pitch = std::max(call.a_at.pitch, call.b_at.pitch); pitch > farthest) {
        std::erase_if(list,
                      [&](const KernelConfig& at) { return std::ranges::find(kernels, at.kernel) != kernels.end(); });
        require(!list.empty(), "a product's rows are ", pitch, " elements apart, and this device can take ", farthest);
    }
    if (call.activation != Activation::none)
        std::erase_if(list, [](const KernelConfig& at) { return at.kernel == "matmul_unrolled"; });
    if (list.size() == 1 || !device.autotuner) return std::move(list.front());
    return std::move(list[device.autotuner->choose(device, tuning_problem(device, call, list))]);
}

}  // namespace vkf

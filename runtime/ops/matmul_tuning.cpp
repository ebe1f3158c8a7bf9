#include "ops/matmul_tuning.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/half.h"
#include "base/random.h"
#include "ops/arithmetic.h"
#include "ops/matmul.h"
#include "ops/tuning.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// A product as far as the choice of its kernel depends on it.
struct Gemm {
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

Gemm gemm_of(const GemmCall& call) {
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

/// As large as the problem, but so small that a launch takes milliseconds by the device's rough speed, no matrix more
/// than 64 MiB, and no sum of exact operands more than 24 bits. Of many rows there are fewer first: widths decide more.
Gemm timed(Gemm of, const DeviceTraits& device) {
    constexpr double seconds = 5e-3;
    constexpr std::int64_t elements = 1 << 24, terms = 1 << 14, many = 1 << 11;
    const auto too_large = [&] {
        const double flops = 2.0 * static_cast<double>(of.batches * of.m) * static_cast<double>(of.n * of.k);
        return of.k > terms || flops > seconds * device.flops_per_second || of.batches * of.m * of.k > elements ||
               of.batches * of.k * of.n > elements || of.batches * of.m * of.n > elements;
    };
    const std::array extents{&of.batches, &of.m, &of.n, &of.k};
    std::int64_t& rows = of.transpose_a ? of.k : of.m;
    while (too_large())
        (rows > many ? rows : **std::ranges::max_element(extents, {}, [](const std::int64_t* x) { return *x; })) /= 2;
    if (!of.even) ++of.m, ++of.n, ++of.k;
    return of;
}

/// Two tiles of the largest kind each way, both cut off, and a slice cut off.
Gemm cut_off(Gemm of) {
    const std::int64_t odd = of.even ? 0 : 1;
    of.batches = std::min<std::int64_t>(of.batches, 2);
    of.m = 138 + odd;
    of.n = 146 + odd;
    of.k = 78 + odd;
    return of;
}

Shape matrices(std::int64_t batches, std::int64_t rows, std::int64_t columns) {
    return batches > 1 ? Shape{batches, rows, columns} : Shape{rows, columns};
}
Shape shape_of_a(const Gemm& of) {
    return of.transpose_a ? matrices(of.batches, of.k, of.m) : matrices(of.batches, of.m, of.k);
}
Shape shape_of_b(const Gemm& of) {
    return of.transpose_b ? matrices(of.batches, of.n, of.k) : matrices(of.batches, of.k, of.n);
}

Shape shape_of_scales(const Gemm& of) {
    return shape_of_a(of).with_width(1);
}

/// Magnitudes from 0.5 to 1, so that nothing is subnormal in any format; as the format keeps them. `exact`: of 5 bits,
/// which all formats hold and whose products fp32 adds up without rounding, in any order. Otherwise of 24.
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

/// Operands by name; exact ones with nothing for the end of the computation.
Shapes shapes(const Gemm& of, bool exact) {
    Shapes made{{"a", shape_of_a(of)}, {"b", shape_of_b(of)}};
    if (of.scales_terms || (!exact && !of.transpose_a)) made["row_scale"] = shape_of_scales(of);
    if (exact) return made;
    made["bias"] = {of.n};
    made["addend"] = matrices(of.batches, of.m, of.n);
    return made;
}

/// Numbers for them; with exact ones go factors that keep sums exact.
Arrays operands(const Gemm& of, bool exact) {
    Random random(1, exact ? "exact operands" : "operands");
    Arrays made;
    const Shapes given = shapes(of, exact);
    made["a"] = draw(random, given.at("a"), of.a, exact);
    made["b"] = draw(random, given.at("b"), of.b, exact);
    for (const std::string name : {"row_scale", "bias", "addend"})
        if (const auto found = given.find(name); found != given.end())
            made[name] = draw(random, found->second, Format::f32, false);
    if (exact && of.scales_terms)
        for (double& scale : made["row_scale"].at) scale = scale < 0 ? 0.0 : 2.0;
    return made;
}

/// Output "y", of operands with these names and shapes.
void describe(Graph& graph, const Gemm& of, const Shapes& given) {
    const auto input = [&](const char* name) {
        const auto found = given.find(name);
        return found == given.end() ? Tensor() : graph.input(name, {DType::f32, found->second});
    };
    const auto operand = [&](const char* name, Format format) {
        // Copied, so that it may be packed, and lies among what must not be touched.
        const Tensor x = scale(input(name), 1.0f);
        graph.set_format(graph.value(x).storage, format);
        return x;
    };
    MatmulOptions options{.transpose_a = of.transpose_a, .transpose_b = of.transpose_b};
    options.bias = input("bias");
    options.addend = input("addend");
    options.row_scale = input("row_scale");
    const Tensor y = matmul(operand("a", of.a), operand("b", of.b), options);
    graph.set_format(graph.value(y).storage, of.y);
    graph.output("y", of.y == Format::f32 ? y : scale(y, 1.0f));
}

/// In double, where nothing is rounded.
Array in_double(Gemm of, const Arrays& given) {
    of.a = of.b = of.y = Format::f32;
    Graph graph;
    describe(graph, of, shapes_of(given));
    return interpret(graph, given).at("y");
}

/// By how much each element may miss `y`: each product by what the rounding of its factors to `unit` makes, each sum by
/// fp32's, and the result by that of its format.
std::vector<double> bounds(const Gemm& of, const Arrays& given, const Array& y, double unit) {
    Arrays large = magnitudes(given);
    const double sums = (static_cast<double>(of.k) + 4) * fp32_rounding;
    const Array all = in_double(of, large);
    large.erase("bias");
    large.erase("addend");
    const Array products = in_double(of, large);
    std::vector<double> made;
    for (std::size_t i = 0; i < y.at.size(); ++i)
        made.push_back((2 * unit + unit * unit) * products.at[i] + sums * all.at[i] +
                       rounding(of.y) * std::abs(y.at[i]));
    return made;
}

/// Of exact operands one row and one column of every 16 are looked at, and so each matrix of every tile. Of others all.
std::vector<std::int64_t> looked_at(std::int64_t extent, bool exact, Random& random) {
    const std::int64_t block = exact ? 16 : 1;
    std::vector<std::int64_t> list;
    for (std::int64_t first = 0; first < extent; first += block)
        list.push_back(first + static_cast<std::int64_t>(
                                   random.below(static_cast<std::uint64_t>(std::min(block, extent - first)))));
    return list;
}

/// Those rows (axis -2) or columns (axis -1) of each matrix.
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

/// What matrices round operands to by `unit` is no rounding to exact ones, whose results fp32 has without any.
TuningOperands tried_on(const Gemm& of, bool exact, double unit) {
    TuningOperands made;
    Arrays given = operands(of, exact);
    for (const auto& [name, x] : given) made.inputs[name] = floats(x);

    Random random(2, "elements");
    const std::vector<std::int64_t> rows = looked_at(of.m, exact, random), columns = looked_at(of.n, exact, random);
    Gemm part = of;
    part.m = std::ssize(rows);
    part.n = std::ssize(columns);
    given["a"] = taken(given["a"], rows, of.transpose_a);
    given["b"] = taken(given["b"], columns, !of.transpose_b);
    const Array y = in_double(part, given);
    made.expected.values = y.at;
    if (exact)
        for (const double x : y.at) made.expected.bounds.push_back(rounding(of.y) * std::abs(x));
    else
        made.expected.bounds = bounds(part, given, y, unit);
    for (std::int64_t z = 0; z < of.batches; ++z)
        for (const std::int64_t i : rows)
            for (const std::int64_t j : columns)
                made.expected.at.push_back(static_cast<std::size_t>((z * of.m + i) * of.n + j));
    return made;
}

std::unique_ptr<TuningCase> make(const Gemm& of, bool exact, double unit) {
    auto made = std::make_unique<TuningCase>();
    describe(made->graph, of, shapes(of, exact));
    made->op = "matmul";
    made->operands = [=] { return tried_on(of, exact, unit); };
    return made;
}

}  // namespace

TuningProblem tuning_problem(const DeviceTraits& device, const GemmCall& call, std::span<const KernelConfig> list) {
    const Gemm of = gemm_of(call);
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
    // Within a tile these count bytes in 32 bits.
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

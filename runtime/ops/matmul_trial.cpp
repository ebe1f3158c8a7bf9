#include "ops/matmul_trial.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/half.h"
#include "base/random.h"
#include "ops/arithmetic.h"
#include "ops/matmul.h"
#include "ops/trial.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// A product as far as the choice of its kernel depends on it.
struct Kind {
    std::int64_t batches, m, n, k;
    bool transpose_a, transpose_b;
    Format a, b, y;
    bool even;  // pairs of neighbours are aligned
};

Format format_of(std::uint32_t form) {
    switch (static_cast<VectorLayout>(form)) {
        case VectorLayout::bf16x2:
            return Format::bf16;
        case VectorLayout::f16x2:
            return Format::f16;
        default:
            return Format::f32;
    }
}

Kind kind_of(const ProductCall& of) {
    const ProductSize& size = of.size;
    const auto apart = static_cast<std::uint32_t>(VectorLayout::scalar);
    const bool packed = size.packed_factors || size.packed_y;
    return {.batches = rounded_up(size.batches, 1),
            .m = rounded_up(size.m),
            .n = rounded_up(size.n),
            .k = rounded_up(size.k),
            .transpose_a = size.transpose_a,
            .transpose_b = size.transpose_b,
            .a = format_of(of.pair_a),
            .b = format_of(of.pair_b),
            .y = format_of(of.pair_y),
            .even = packed || (of.pair_a != apart && of.pair_b != apart && of.pair_y != apart)};
}

std::string describe(const DeviceTraits& device, const Kind& of) {
    const char* operands = device.matrices ? to_string(device.matrices->element) : "fp32";
    return text("matmul ", of.transpose_a ? 'T' : 'N', of.transpose_b ? 'T' : 'N', ' ', of.batches, 'x', of.m, 'x',
                of.n, 'x', of.k, ' ', name(of.a), 'x', name(of.b), "->", name(of.y), of.even ? "" : " odd", " by ",
                operands);
}

/// As large as the kind, but so small that a launch takes milliseconds by the device's rough speed, no matrix more than
/// 64 MiB, and no sum of exact operands more than 24 bits.
Kind bounded(Kind of, const DeviceTraits& device) {
    constexpr double seconds = 5e-3;
    constexpr std::int64_t elements = 1 << 24, terms = 1 << 14;
    const auto too_large = [&] {
        const double flops = 2.0 * static_cast<double>(of.batches * of.m) * static_cast<double>(of.n * of.k);
        return of.k > terms || flops > seconds * device.flops_per_second || of.batches * of.m * of.k > elements ||
               of.batches * of.k * of.n > elements || of.batches * of.m * of.n > elements;
    };
    const std::array extents{&of.batches, &of.m, &of.n, &of.k};
    while (too_large()) **std::ranges::max_element(extents, {}, [](const std::int64_t* x) { return *x; }) /= 2;
    return of;
}

/// The product of a kind, with operands drawn and results judged in double.
class ProductTrial {
public:
    /// `exact`: operands of 5 bits, which all formats hold and whose products fp32 adds up without rounding, in any
    /// order. Otherwise of 24, with a bias and an addend, and `unit` is what a kernel may round them by.
    ProductTrial(const Kind& of, bool exact, double unit) : of_(of), exact_(exact), unit_(exact ? 0.0 : unit) {
        Random random(1, exact ? "exact operands" : "operands");
        a_ = draw(random, of.batches * of.m * of.k, of.a);
        b_ = draw(random, of.batches * of.k * of.n, of.b);
        if (exact) return;
        bias_ = draw(random, of.n, Format::f32);
        addend_ = draw(random, of.batches * of.m * of.n, Format::f32);
    }

    void describe(Trial& trial) const {
        Graph& graph = trial.graph;
        const auto shape = [&](bool transposed, std::int64_t rows, std::int64_t columns) {
            std::vector<std::int64_t> extents{rows, columns};
            if (transposed) std::swap(extents[0], extents[1]);
            if (of_.batches > 1) extents.insert(extents.begin(), of_.batches);
            return Shape(extents);
        };
        const auto operand = [&](const char* given, const Shape& of, Format format) {
            // Copied, so that it may be packed, and lies among what must not be touched.
            const Tensor x = scale(graph.input(given, {DType::f32, of}), 1.0f);
            graph.set_format(graph.value(x).storage, format);
            return x;
        };
        MatmulOptions options{.transpose_a = of_.transpose_a, .transpose_b = of_.transpose_b};
        if (!exact_) {
            options.bias = graph.input("bias", {DType::f32, {of_.n}});
            options.addend = graph.input("addend", {DType::f32, shape(false, of_.m, of_.n)});
            trial.inputs = {{"bias", bias_}, {"addend", addend_}};
        }
        const Tensor y = matmul(operand("a", shape(of_.transpose_a, of_.m, of_.k), of_.a),
                                operand("b", shape(of_.transpose_b, of_.k, of_.n), of_.b), options);
        graph.set_format(graph.value(y).storage, of_.y);
        graph.output("y", of_.y == Format::f32 ? y : scale(y, 1.0f));
        trial.inputs["a"] = a_;
        trial.inputs["b"] = b_;
        trial.op = "matmul";
        trial.flops = 2.0 * static_cast<double>(of_.batches * of_.m) * static_cast<double>(of_.n * of_.k);
    }

    /// Of exact operands one element of every 16 · 16 is looked at: each matrix of every tile. Of the others all.
    std::string fault(std::span<const float> y) const {
        const std::int64_t block = exact_ ? 16 : 1;
        Random random(2, "elements");
        const auto somewhere = [&](std::int64_t first, std::int64_t end) {
            const std::int64_t width = std::min(block, end - first);
            return first + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width)));
        };
        for (std::int64_t z = 0; z < of_.batches; ++z)
            for (std::int64_t i = 0; i < of_.m; i += block)
                for (std::int64_t j = 0; j < of_.n; j += block)
                    if (std::string wrong = judge(y, z, somewhere(i, of_.m), somewhere(j, of_.n)); !wrong.empty())
                        return wrong;
        return {};
    }

private:
    /// Of magnitudes from 0.5 to 1, so that nothing is subnormal in any format; as the format keeps them.
    std::vector<float> draw(Random& random, std::int64_t count, Format format) const {
        std::vector<float> list(static_cast<std::size_t>(count));
        for (float& x : list) {
            const std::uint32_t bits = random.bits();
            const float magnitude =
                exact_ ? static_cast<float>(16 + (bits >> 28)) / 32 : 0.5f + 0.5f * unit_float(bits);
            x = bits % 2 == 0 ? -magnitude : magnitude;
            if (format == Format::bf16) x = from_bfloat16(to_bfloat16(x));
            if (format == Format::f16) x = from_half(to_half(x));
        }
        return list;
    }

    /// What is wrong with an element: unless operands are exact, each product may be off by the rounding of its factors
    /// and each sum by fp32's.
    std::string judge(std::span<const float> y, std::int64_t z, std::int64_t i, std::int64_t j) const {
        const std::int64_t at = (z * of_.m + i) * of_.n + j;
        double wanted = 0, magnitudes = 0, size = 0;
        const auto add = [&](double x) { wanted += x, size += std::abs(x); };
        for (std::int64_t t = 0; t < of_.k; ++t) {
            const std::int64_t left = z * of_.m * of_.k + (of_.transpose_a ? t * of_.m + i : i * of_.k + t);
            const std::int64_t right = z * of_.k * of_.n + (of_.transpose_b ? j * of_.k + t : t * of_.n + j);
            add(static_cast<double>(a_[static_cast<std::size_t>(left)]) *
                static_cast<double>(b_[static_cast<std::size_t>(right)]));
        }
        magnitudes = size;
        if (!exact_) {
            add(static_cast<double>(bias_[static_cast<std::size_t>(j)]));
            add(static_cast<double>(addend_[static_cast<std::size_t>(at)]));
        }
        const double kept = rounding(of_.y);
        const double sums = exact_ ? 0.0 : (static_cast<double>(of_.k) + 4) * 0x1p-24 * size;
        const double limit = (2 * unit_ + unit_ * unit_) * magnitudes + sums + kept * std::abs(wanted);
        const auto found = static_cast<double>(y[static_cast<std::size_t>(at)]);
        if (std::abs(found - wanted) <= limit) return {};  // false of NaN
        return text("element (", i, ", ", j, ") of a product of ", of_.m, 'x', of_.n, 'x', of_.k, " is ", found,
                    ", wanted ", wanted, " to within ", limit);
    }

    Kind of_;
    bool exact_;
    double unit_;
    std::vector<float> a_, b_, bias_, addend_;
};

std::unique_ptr<Trial> make(const Kind& of, bool exact, double unit) {
    auto trial = std::make_unique<Trial>();
    const auto product = std::make_shared<const ProductTrial>(of, exact, unit);
    product->describe(*trial);
    trial->fault = [product](std::span<const float> y) { return product->fault(y); };
    return trial;
}

/// Two tiles of the largest kind each way, both cut off, and a slice cut off.
Kind awkward(Kind of) {
    const std::int64_t odd = of.even ? 0 : 1;
    of.batches = std::min<std::int64_t>(of.batches, 2);
    of.m = 138 + odd;
    of.n = 146 + odd;
    of.k = 78 + odd;
    return of;
}

}  // namespace

Question question(const DeviceTraits& device, const ProductCall& of, std::span<const Tiling> list) {
    const Kind kind = kind_of(of);
    Kind typical = bounded(kind, device);
    if (!kind.even) ++typical.m, ++typical.n, ++typical.k;
    const double unit = device.matrices ? rounding(device.matrices->element) : 0.0;
    Question made{.kind = describe(device, kind)};
    for (const Tiling& at : list) made.candidates.push_back(at.name);
    made.awkward = [=] { return make(awkward(kind), false, unit); };
    made.typical = [=] { return make(typical, true, unit); };
    return made;
}

Tiling tiling(const DeviceTraits& device, const ProductCall& of) {
    std::vector<Tiling> list = candidates(device, of.size);
    if (list.size() == 1 || !device.chooser) return std::move(list.front());
    return std::move(list[device.chooser->choose(device, question(device, of, list))]);
}

}  // namespace vkf

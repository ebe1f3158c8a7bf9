// Matrix products by cooperative matrices: odd extents, slices, batches, and everything that an epilogue adds.
#include "checks/matmul/rounded_products.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"

namespace vkf::checks {
namespace rounded_products {

using products::options;

OpCase rounded_product(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t padding) {
    const char* names[] = {"NN", "NT", "TN"};
    const Shape a = layout == Layout::tn ? Shape{k, m} : Shape{m, k};
    const Shape b = layout == Layout::nt ? Shape{n, k} : Shape{k, n};
    return {text(names[static_cast<int>(layout)], " ", m, " ", n, " ", k, padding > 0 ? text(" padded ", padding) : ""),
            {padded(a, padding), padded(b, padding)},
            [layout](Inputs x) { return std::vector{matmul(x[0], x[1], options(layout))}; }};
}

namespace {

OpCase batch(const char* name, Layout layout, Operand a, Operand b) {
    return {name, {std::move(a), std::move(b)}, [layout](Inputs x) {
                return std::vector{matmul(x[0], x[1], options(layout))};
            }};
}

/// A branch of a model with stochastic depth: factors of samples, which scale terms in the weight's gradient.
OpCase branch(const char* name, Operand x, std::int64_t out) {
    const std::int64_t in = x.type.shape.width();
    const Shape y = x.type.shape.with_width(out);
    return {name, {std::move(x), normal({out, in}), normal({out}), normal(y), fixed({y[0], 1, 1})}, [](Inputs given) {
                return std::vector{
                    matmul(given[0], given[1],
                           {.transpose_b = true, .bias = given[2], .addend = given[3], .row_scale = given[4]})};
            }};
}

/// Gradient of an activation's argument, which is not differentiated again. No activation's derivative is larger at x
/// than at |x|, so magnitudes give its limits as they give those of sums.
OpCase slope(const char* name, Layout layout, std::int64_t rows, std::int64_t n, std::int64_t k,
             Activation activation = Activation::gelu) {
    OpCase made = rounded_product(layout, rows, n, k);
    made.name = name;
    made.operands.push_back(normal({rows, n}));
    for (Operand& operand : made.operands) operand.differentiate = false;
    made.build = [=](Inputs x) {
        MatmulOptions how = options(layout);
        how.activation = activation;
        how.pre_activation = scale(x[2], 1.0f);  // dies here: y may take its memory
        return std::vector{matmul(x[0], x[1], how)};
    };
    return made;
}

/// slope() with alpha, bias and row factors.
OpCase slope_of_branch(const char* name, Shape a, std::int64_t n) {
    const Shape y = a.with_width(n);
    OpCase made{name, {fixed(a), fixed({a.width(), n}), fixed({n}), fixed(y), fixed({y[0], 1, 1})}, [](Inputs x) {
                    return std::vector{matmul(x[0], x[1],
                                              {.alpha = 0.7f,
                                               .bias = x[2],
                                               .activation = Activation::gelu_tanh,
                                               .pre_activation = x[3],
                                               .row_scale = x[4]})};
                }};
    return made;
}

}  // namespace

std::vector<OpCase> cases() {
    std::vector<OpCase> list;
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn}) {
        list.push_back(rounded_product(layout, 1, 1, 1));
        list.push_back(rounded_product(layout, 1, 300, 67));  // decoding: uses the kernels of fp32
        list.push_back(rounded_product(layout, 7, 16, 32));   // few rows and short sums do so too
        list.push_back(rounded_product(layout, 16, 16, 31));
        list.push_back(rounded_product(layout, 16, 16, 32));
        list.push_back(rounded_product(layout, 17, 19, 43));  // primes
        list.push_back(rounded_product(layout, 64, 64, 32));  // one tile, one slice
        list.push_back(rounded_product(layout, 63, 65, 33));
        list.push_back(rounded_product(layout, 66, 62, 70, 2));
        list.push_back(rounded_product(layout, 71, 61, 37, 3));
        list.push_back(rounded_product(layout, 64, 128, 96, 8));  // aligned slices
        list.push_back(rounded_product(layout, 68, 76, 100, 4));  // aligned, but tiles and the last slice are cut off
        list.push_back(rounded_product(layout, 40, 24, 771));     // k split in chunks, the last one short
        list.push_back(rounded_product(layout, 40, 24, 776));
        list.push_back(rounded_product(layout, 256, 128, 64));  // large tiles
        list.push_back(rounded_product(layout, 257, 131, 61));
        list.push_back(rounded_product(layout, 260, 132, 100, 4));
    }
    list.push_back(batch("batch of products", Layout::nn, normal({3, 20, 37}), normal({3, 37, 39})));
    list.push_back(batch("batch of heads NT", Layout::nt, normal({2, 3, 49, 40}), normal({2, 3, 51, 40})));
    list.push_back(batch("batch TN", Layout::tn, normal({4, 36, 25}), normal({4, 36, 33})));
    list.push_back(batch("batch of slices", Layout::nn, padded({3, 25, 32}, 4), padded({3, 32, 19}, 1)));
    list.push_back(batch("shared weight", Layout::nn, normal({3, 25, 37}), normal({37, 70})));
    list.push_back(batch("wide spread", Layout::nt, normal({33, 40}, 1e-4), normal({35, 40}, 1e3)));
    list.push_back(
        {"alpha bias addend", {normal({79, 46}), normal({46, 50}), normal({50}), padded({79, 50}, 3)}, [](Inputs x) {
             return std::vector{matmul(x[0], x[1], {.alpha = 0.3f, .bias = x[2], .addend = x[3]})};
         }});
    list.push_back(
        {"split with everything", {normal({20, 600}), normal({600, 22}), normal({22}), normal({20, 22})}, [](Inputs x) {
             return std::vector{matmul(x[0], x[1], {.alpha = 0.7f, .bias = x[2], .addend = x[3]})};
         }});
    list.push_back({"addend in place", {normal({70, 46}), normal({46, 41}), normal({70, 41})}, [](Inputs x) {
                        const Tensor addend = scale(x[2], 0.5f);  // dies here: y may take its memory
                        return std::vector{matmul(x[0], x[1], {.addend = addend})};
                    }});
    list.push_back(branch("row scale", normal({3, 35, 40}), 50));
    list.push_back(branch("row scale of a split", normal({3, 9, 600}), 36));
    list.push_back(slope("slope", Layout::nn, 79, 50, 46));
    list.push_back(slope("slope of odd rows", Layout::nn, 71, 61, 37));
    list.push_back(slope("slope NT", Layout::nt, 66, 68, 70, Activation::silu));
    list.push_back(slope("slope TN", Layout::tn, 66, 68, 70, Activation::relu));
    list.push_back(slope("slope of large tiles", Layout::nn, 257, 136, 64));
    list.push_back(slope("slope of a split", Layout::nn, 40, 24, 776));
    list.push_back(slope("slope of a split of odd rows", Layout::nn, 40, 23, 771));
    list.push_back(slope_of_branch("slope with everything", {3, 35, 40}, 50));
    list.push_back(slope_of_branch("slope of a split with everything", {3, 9, 600}, 36));
    list.push_back({"row scale TN", {normal({77, 40}), normal({77, 36}), fixed({77, 1})}, [](Inputs x) {
                        return std::vector{matmul(x[0], x[1], {.transpose_a = true, .row_scale = x[2]})};
                    }});
    return list;
}

double terms(const OpCase& c) {
    std::int64_t longest = 0;
    for (const Operand& operand : c.operands)
        for (const std::int64_t extent : operand.type.shape.extents()) longest = std::max(longest, extent);
    return static_cast<double>(longest) * (c.operands[0].type.shape.rank() > 2 ? 3 : 1) + 4;
}

}  // namespace rounded_products

std::vector<BoundedCase> rounded_matmul_cases() {
    std::vector<BoundedCase> list;
    for (OpCase& c : rounded_products::cases()) {
        Bounds bounds = product_bounds(c, rounded_products::terms(c));
        list.push_back({std::move(c), std::move(bounds)});
    }
    return list;
}

}  // namespace vkf::checks

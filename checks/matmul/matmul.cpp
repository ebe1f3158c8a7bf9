#include "checks/matmul/products.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"

namespace vkf::checks {
namespace products {

MatmulOptions options(Layout layout) {
    return {.transpose_a = layout == Layout::tn, .transpose_b = layout == Layout::nt};
}

std::function<std::vector<Tensor>(Inputs)> product(Layout layout) {
    return [layout](Inputs x) { return std::vector{matmul(x[0], x[1], options(layout))}; };
}

OpCase plain(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t padding) {
    const char* names[] = {"NN", "NT", "TN"};
    const Shape a = layout == Layout::tn ? Shape{k, m} : Shape{m, k};
    const Shape b = layout == Layout::nt ? Shape{n, k} : Shape{k, n};
    OpCase made{text(names[static_cast<int>(layout)], " ", m, " ", n, " ", k, padding > 0 ? " padded" : ""),
                {padded(a, padding), padded(b, padding)},
                product(layout)};
    // A running sum of k terms of both signs: its rounding grows like k/2 steps of its own size, √k
    // of them to the maximum.
    made.ulps = made.gradient_ulps = 16.0 + 0.5 * std::sqrt(static_cast<double>(std::max({m, n, k})));
    made.finite_differences = m * n * k < 3000;
    return made;
}

OpCase scaled(std::string name, Operand a, Operand b, Operand row_scale, const MatmulOptions& how) {
    OpCase made{"row scale " + std::move(name), {std::move(a), std::move(b), std::move(row_scale)}, [how](Inputs x) {
                    MatmulOptions given = how;
                    given.row_scale = x[2];
                    return std::vector{matmul(x[0], x[1], given)};
                }};
    std::int64_t longest = 1;
    for (const std::size_t i : {0, 1})
        longest = std::max({longest, made.operands[i].type.shape.rows(), made.operands[i].type.shape.width()});
    made.ulps = made.gradient_ulps = 16.0 + 0.5 * std::sqrt(static_cast<double>(longest));
    made.finite_differences = longest < 40;
    return made;
}

/// A branch of a model with stochastic depth: the addend is not scaled.
OpCase branch(std::string name, Operand x, std::int64_t out, Activation activation = Activation::none) {
    const std::int64_t in = x.type.shape.width();
    const Shape y = x.type.shape.with_width(out);
    OpCase made = scaled("branch " + std::move(name), std::move(x), normal({out, in}), fixed({y[0], 1, 1}));
    made.operands.push_back(normal({out}));
    made.operands.push_back(normal(y));
    made.build = [activation](Inputs given) {
        return std::vector{matmul(given[0], given[1],
                                  {.transpose_b = true,
                                   .bias = given[3],
                                   .activation = activation,
                                   .addend = given[4],
                                   .row_scale = given[2]})};
    };
    return made;
}

std::vector<OpCase> row_scale_cases() {
    const MatmulOptions nt = options(Layout::nt), tn = options(Layout::tn);
    return {
        scaled("NN", normal({3, 5, 6}), normal({6, 8}), fixed({3, 1, 1})),
        scaled("NT of every row", normal({3, 5, 6}), normal({7, 6}), fixed({3, 5, 1}), nt),
        scaled("TN of every row", normal({29, 17}), normal({29, 11}), fixed({29, 1}), tn),
        scaled("TN of matrices", normal({3, 13, 6}), normal({3, 13, 5}), fixed({3, 1, 1}), tn),
        scaled("NN of matrices", normal({2, 3, 9, 7}), normal({2, 3, 7, 4}), fixed({2, 3, 1, 1})),
        scaled("of one number", normal({4, 6}), normal({6, 5}), fixed({1, 1})),
        scaled("differentiated", normal({3, 5, 6}), normal({6, 8}), normal({3, 1, 1})),
        scaled("TN differentiated", normal({12, 6}), normal({12, 8}), normal({12, 1}), tn),
        scaled("of one row each", normal({2, 1, 130}), normal({130, 67}), fixed({2, 1, 1})),
        scaled("NT of one row each", normal({3, 1, 67}), normal({130, 67}), fixed({3, 1, 1}), nt),
        scaled("of slices", padded({3, 17, 8}, 2), padded({8, 10}, 4), padded({3, 1, 1}, 2)),
        // The weight's gradient sums over 774 rows, in chunks that end within samples.
        scaled("of long samples", normal({6, 129, 20}), normal({20, 24}), fixed({6, 1, 1})),
        scaled("of matrices with long sums", normal({3, 5, 600}, 0.05), normal({3, 600, 22}), fixed({3, 1, 1})),
        branch("of few", normal({3, 5, 4}), 6),
        branch("with an activation", normal({3, 5, 4}), 6, Activation::gelu),
        branch("of whole tiles", normal({4, 32, 64}), 64),
        branch("of tokens and a class", normal({5, 65, 48}), 34),
        branch("with long sums", normal({4, 5, 600}, 0.05), 22),
    };
}

std::vector<OpCase> decode_cases(Layout layout) {
    return {
        plain(layout, 1, 300, 259),
        plain(layout, 1, 600, 67),        // b transposed: a row per lane, four lines at a time
        plain(layout, 3, 1030, 150),      // then single lines
        plain(layout, 1, 16390, 35),      // four rows per lane
        plain(layout, 2, 1500, 352),      // b not transposed: three stretches of columns per workgroup
        plain(layout, 1, 1000, 530),      // two stretches
        plain(layout, 3, 258, 530),       // a few, cache line by cache line
        plain(layout, 1, 9000, 64),       // b not transposed: stripes, the last one incomplete
        plain(layout, 2, 1025, 1026, 3),  // in parts of 57 terms
        plain(layout, 1, 20, 1600),       // too long to be unrolled
    };
}

/// A product with alpha, bias and activation, added to an addend whose memory y may take.
OpCase in_place(const char* name, Layout layout, std::int64_t m, std::int64_t n, std::int64_t k,
                Activation activation) {
    OpCase made = plain(layout, m, n, k);
    made.name = text(name, layout == Layout::nt ? " NT" : " NN");
    made.operands.push_back(normal({n}));
    made.operands.push_back(normal({m, n}));
    made.build = [=](Inputs x) {
        MatmulOptions how = options(layout);
        how.alpha = 0.7f;
        how.bias = x[2];
        how.activation = activation;
        how.addend = scale(x[3], 0.5f);  // dies here
        return std::vector{matmul(x[0], x[1], how)};
    };
    made.ulps = 32;
    made.gradient_ulps = 64;
    made.finite_differences = false;
    return made;
}

/// Products so large that a CPU device computes them by straight-line code, if its driver suits that
/// (ops/cpu/unrolled_matmul.h).
std::vector<OpCase> unrolled_cases() {
    std::vector<OpCase> cases;
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn}) {
        cases.push_back(plain(layout, 260, 320, 512));      // four launches of 128 terms
        cases.push_back(plain(layout, 131, 257, 1009, 3));  // seven, and one of 113; no tile is complete
        OpCase large = plain(layout, 515, 512, 512);        // two of 256
        for (Operand& operand : large.operands) operand = fixed(operand.type.shape);
        cases.push_back(std::move(large));
    }
    for (const Layout layout : {Layout::nn, Layout::nt})  // bᵀ
        cases.push_back(in_place("unrolled with everything", layout, 203, 322, 520, Activation::none));
    cases.push_back(
        in_place("unrolled and turned with everything", Layout::nt, 182, 322, 520, Activation::none));  // yᵀ
    OpCase blocks = plain(Layout::nt, 250, 4300, 320);  // two blocks of yᵀ
    blocks.operands = {fixed({250, 320}), fixed({4300, 320})};
    cases.push_back(std::move(blocks));
    return cases;
}

OpCase slope(std::string name, Layout layout, Operand a, Operand b, Activation activation) {
    const std::int64_t m = layout == Layout::tn ? a.type.shape.width() : a.type.shape[-2];
    const std::int64_t n = layout == Layout::nt ? b.type.shape[-2] : b.type.shape.width();
    Shape y = a.type.shape.with_width(n);
    if (layout == Layout::tn) y = Shape{m, n};
    OpCase made{text("slope ", std::move(name)), {std::move(a), std::move(b), fixed(y)}, [=](Inputs x) {
                    MatmulOptions how = options(layout);
                    how.activation = activation;
                    how.pre_activation = x[2];
                    return std::vector{matmul(x[0], x[1], how)};
                }};
    for (Operand& operand : made.operands) operand.differentiate = false;
    made.ulps = 16.0 + 0.5 * std::sqrt(static_cast<double>(made.operands[1].type.shape.elements() / n));
    return made;
}

OpCase slope_with_everything(std::string name, std::int64_t rows, std::int64_t n, std::int64_t k) {
    OpCase made = slope(std::move(name), Layout::nn, fixed({2, rows, k}), fixed({k, n}));
    made.operands.push_back(fixed({n}));
    made.operands.push_back(fixed({2, 1, 1}));
    made.build = [](Inputs x) {
        return std::vector{matmul(x[0], x[1],
                                  {.alpha = 0.7f,
                                   .bias = x[3],
                                   .activation = Activation::gelu,
                                   .pre_activation = scale(x[2], 0.5f),  // dies here
                                   .row_scale = x[4]})};
    };
    return made;
}

std::vector<OpCase> slope_cases() {
    std::vector<OpCase> cases;
    for (const Activation kind : {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu,
                                  Activation::exp, Activation::tanh, Activation::hardswish, Activation::none})
        cases.push_back(slope(text("of ", static_cast<int>(kind)), Layout::nn, fixed({33, 12}), fixed({12, 35}), kind));
    cases.push_back(slope("NT", Layout::nt, fixed({2, 35, 14}), fixed({70, 14})));
    cases.push_back(slope("TN", Layout::tn, fixed({19, 33}), fixed({19, 22})));
    cases.push_back(slope("of a batch", Layout::nn, fixed({3, 5, 7}), fixed({3, 7, 9})));
    cases.push_back(slope("of whole tiles", Layout::nn, fixed({128, 64}), fixed({64, 192})));
    cases.push_back(slope("of a split", Layout::nn, fixed({20, 600}), fixed({600, 22})));
    cases.push_back(slope("of a split of odd rows", Layout::nn, fixed({20, 601}), fixed({601, 23})));
    cases.push_back(slope("of large ones", Layout::nt, fixed({203, 520}), fixed({322, 520})));  // not unrolled
    for (const Layout layout : {Layout::nn, Layout::nt}) {
        const Shape b = layout == Layout::nn ? Shape{130, 1031} : Shape{1031, 130};
        cases.push_back(slope(text("in decoding ", static_cast<int>(layout)), layout, fixed({2, 130}), fixed(b)));
    }
    OpCase slice = slope("at a slice", Layout::nn, fixed({21, 10}), fixed({10, 34}));
    slice.operands[2].padding = 4;
    cases.push_back(std::move(slice));
    cases.push_back(slope_with_everything("with everything", 19, 33, 26));
    cases.push_back(slope_with_everything("of a split with everything", 10, 22, 600));
    cases.push_back(slope_with_everything("of few rows with everything", 1, 68, 200));
    return cases;
}

}  // namespace products

std::vector<OpCase> matmul_cases() {
    using namespace products;
    std::vector<OpCase> cases = unrolled_cases();
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn}) {
        cases.push_back(plain(layout, 1, 1, 1));
        cases.push_back(plain(layout, 1, 7, 5));
        cases.push_back(plain(layout, 5, 1, 3));
        cases.push_back(plain(layout, 13, 17, 11, 3));
        cases.push_back(plain(layout, 31, 33, 29));
        cases.push_back(plain(layout, 64, 64, 64));
        cases.push_back(plain(layout, 65, 34, 66, 2));
        cases.push_back(plain(layout, 130, 63, 37, 1));
        cases.push_back(plain(layout, 48, 80, 771));  // k split in chunks, the last one short
        for (OpCase& c : decode_cases(layout)) cases.push_back(std::move(c));
        cases.push_back(plain(layout, 192, 65, 128));      // a head of 65 characters
        cases.push_back(plain(layout, 128, 128, 192, 4));  // aligned slices
    }
    cases.push_back({"batch of products", {normal({3, 5, 7}), normal({3, 7, 9})}, product(Layout::nn)});
    cases.push_back({"batch of heads NT", {normal({2, 3, 9, 4}), normal({2, 3, 11, 4})}, product(Layout::nt)});
    cases.push_back({"batch TN", {normal({4, 6, 5}), normal({4, 6, 3})}, product(Layout::tn)});
    cases.push_back({"batch of slices", {padded({3, 5, 8}, 2), padded({3, 8, 9}, 1)}, product(Layout::nn)});
    cases.push_back({"shared weight", {normal({3, 5, 7}), normal({7, 10})}, product(Layout::nn)});
    cases.push_back({"shared weight NT of slices", {padded({2, 9, 6}, 3), padded({11, 6}, 2)}, product(Layout::nt)});
    cases.push_back({"bias", {normal({3, 9, 7}), normal({7, 13}), normal({13})}, [](Inputs x) {
                         return std::vector{matmul(x[0], x[1], {.bias = x[2]})};
                     }});
    cases.push_back(
        {"alpha bias addend", {normal({19, 6}), normal({6, 10}), normal({10}), normal({19, 10})}, [](Inputs x) {
             return std::vector{matmul(x[0], x[1], {.alpha = 0.3f, .bias = x[2], .addend = x[3]})};
         }});
    cases.push_back({"addend from a slice", {normal({9, 6}), normal({6, 10}), padded({9, 10}, 3)}, [](Inputs x) {
                         return std::vector{matmul(x[0], x[1], {.addend = x[2]})};
                     }});
    cases.push_back({.name = "addend in place",
                     .operands = {normal({70, 6}), normal({6, 41}), normal({70, 41})},
                     .build =
                         [](Inputs x) {
                             const Tensor addend = scale(x[2], 0.5f);  // dies here: y may take its memory
                             return std::vector{matmul(x[0], x[1], {.addend = addend})};
                         },
                     .finite_differences = false});
    for (const Layout layout : {Layout::nn, Layout::nt})  // overlapping stripes add the addend only once
        cases.push_back(in_place("decode in place", layout, 2, 1031, 130, Activation::gelu));
    cases.push_back(
        {.name = "split with everything",
         .operands = {normal({20, 600}, 0.05), normal({600, 22}), normal({22}), normal({20, 22})},
         .build =
             [](Inputs x) {
                 return std::vector{
                     matmul(x[0], x[1], {.alpha = 0.7f, .bias = x[2], .activation = Activation::gelu, .addend = x[3]})};
             },
         .ulps = 32,
         .finite_differences = false});
    for (const Activation kind : {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu})
        cases.push_back({.name = text("fused activation ", static_cast<int>(kind)),
                         .operands = {normal({33, 12}), normal({12, 35}), normal({35}), normal({33, 35})},
                         .build =
                             [kind](Inputs x) {
                                 return std::vector{
                                     matmul(x[0], x[1], {.bias = x[2], .activation = kind, .addend = x[3]})};
                             },
                         .ulps = 24,
                         .gradient_ulps = 96,
                         .finite_differences = kind != Activation::relu});
    for (OpCase& c : row_scale_cases()) cases.push_back(std::move(c));
    for (OpCase& c : slope_cases()) cases.push_back(std::move(c));
    return cases;
}

}  // namespace vkf::checks

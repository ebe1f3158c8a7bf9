#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "op_check.h"
#include "ops/activation.h"
#include "ops/arithmetic.h"
#include "ops/matmul.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;
using Build = std::function<std::vector<Tensor>(Inputs)>;

enum class Layout { nn, nt, tn };

MatmulOptions options(Layout layout) {
    return {.transpose_a = layout == Layout::tn, .transpose_b = layout == Layout::nt};
}

Build product(Layout layout) {
    return [layout](Inputs x) { return std::vector{matmul(x[0], x[1], options(layout))}; };
}

/// y [m, n] summed over k in one layout; rows of a and b wider by `padding`.
OpCase plain(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t padding = 0) {
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

std::vector<OpCase> matmul_cases() {
    std::vector<OpCase> cases;
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn}) {
        cases.push_back(plain(layout, 1, 1, 1));
        cases.push_back(plain(layout, 1, 7, 5));
        cases.push_back(plain(layout, 5, 1, 3));
        cases.push_back(plain(layout, 13, 17, 11, 3));
        cases.push_back(plain(layout, 31, 33, 29));
        cases.push_back(plain(layout, 64, 64, 64));
        cases.push_back(plain(layout, 65, 34, 66, 2));
        cases.push_back(plain(layout, 130, 63, 37, 1));
        cases.push_back(plain(layout, 48, 80, 771));       // k split in chunks, the last one short
        cases.push_back(plain(layout, 1, 300, 259));       // one row: decoding
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
    cases.push_back({"addend in place",
                     {normal({70, 6}), normal({6, 41}), normal({70, 41})},
                     [](Inputs x) {
                         const Tensor addend = scale(x[2], 0.5f);  // dies here: y may take its memory
                         return std::vector{matmul(x[0], x[1], {.addend = addend})};
                     },
                     16,
                     64,
                     false});
    cases.push_back(
        {"split with everything",
         {normal({20, 600}, 0.05), normal({600, 22}), normal({22}), normal({20, 22})},
         [](Inputs x) {
             return std::vector{
                 matmul(x[0], x[1], {.alpha = 0.7f, .bias = x[2], .activation = Activation::gelu, .addend = x[3]})};
         },
         32,
         64,
         false});
    for (const Activation kind : {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu})
        cases.push_back({text("fused activation ", static_cast<int>(kind)),
                         {normal({33, 12}), normal({12, 35}), normal({35}), normal({33, 35})},
                         [kind](Inputs x) {
                             return std::vector{matmul(x[0], x[1], {.bias = x[2], .activation = kind, .addend = x[3]})};
                         },
                         24,
                         96,
                         kind != Activation::relu});
    return cases;
}

VKF_OP_TABLE(Matmul, matmul_cases());

TEST(HostMatmulShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const auto make = [&](const char* name, Shape shape) { return graph.input(name, {DType::f32, std::move(shape)}); };
    const Tensor a = make("a", {4, 5}), b = make("b", {6, 7}), batch = make("batch", {3, 5, 2});
    const Tensor wide = make("wide", {5, 7}), bias = make("bias", {6});
    EXPECT_THROW(matmul(a, b), InputError);
    EXPECT_THROW(matmul(bias, b), InputError);
    EXPECT_THROW(matmul(a, batch), InputError);
    EXPECT_THROW(matmul(a, b, {.transpose_a = true, .transpose_b = true}), InputError);
    EXPECT_THROW(matmul(a, wide, {.bias = bias}), InputError);
    EXPECT_THROW(matmul(a, wide, {.addend = wide}), InputError);
}

}  // namespace
}  // namespace vkf::test

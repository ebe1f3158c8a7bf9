// Chains of elementwise nodes that become one node.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checks/op_tables.h"
#include "models/scope.h"
#include "ops/elementwise/activation.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/dropout.h"
#include "ops/matmul/matmul.h"
#include "ops/rows/reduce.h"
#include "ops/rows/softmax.h"
#include "passes/fuse_elementwise.h"

namespace vkf::checks {
namespace {

using Build = std::function<Tensor(Inputs)>;

OpCase chain(std::string name, std::vector<Operand> operands, const Build& build) {
    return {std::move(name), std::move(operands), [=](Inputs in) { return std::vector{build(in)}; }};
}

constexpr std::int64_t WORD = std::int64_t{1} << 31;

Operand seed() {
    return integers({2}, -WORD, WORD);
}

/// A chain of bias, GELU and dropout on rows of `width`. Chains cover every length of the tail and way of broadcasting.
OpCase hidden_layer(std::int64_t width) {
    return chain("hidden layer " + std::to_string(width), {normal({5, width}), normal({width}), seed()},
                 [](Inputs x) { return dropout(activate(add(x[0], x[1]), Activation::gelu), 0.3f, x[2], 9); });
}

/// Dropout and stochastic depth as models use them: a branch, kept or dropped per sample, is added to its input.
Tensor with_branch(Tensor x, Tensor branch, Tensor seed) {
    Parameters none;
    const Scope scope(x.graph(), none, {.dropout = 0.2f, .drop_path = 0.4f, .seed = seed});
    return add(x, mul(scope.drop(branch), scope.drop_path(x.shape())));
}

OpCase drop_path(std::int64_t width) {
    return chain("drop path " + std::to_string(width), {normal({3, 5, width}), normal({3, 5, width}), seed()},
                 [](Inputs x) { return with_branch(x[0], x[1], x[2]); });
}

}  // namespace

std::vector<OpCase> elementwise_chain_cases() {
    return {
        chain("masked", {normal({2, 3, 4, 6}), normal({2, 1, 1, 6}), normal({6}), seed()},
              [](Inputs x) { return dropout(activate(add(mul(x[0], x[2]), x[1]), Activation::relu), 0.3f, x[3], 9); }),
        chain("masked, odd", {normal({2, 3, 4, 5}), normal({2, 1, 1, 5}), normal({3, 1, 1}), seed()},
              [](Inputs x) { return dropout(activate(mul(add(x[0], x[1]), x[2]), Activation::gelu), 0.3f, x[3], 9); }),
        hidden_layer(1),
        hidden_layer(3),
        hidden_layer(6),
        hidden_layer(64),
        drop_path(1),
        drop_path(2),
        drop_path(7),
        drop_path(64),
        chain("gated", {normal({7, 33}), normal({7, 33})},
              [](Inputs x) { return mul(activate(x[0], Activation::silu), x[1]); }),
        chain("dropped and added", {normal({9, 33}), normal({9, 33}), seed()},
              [](Inputs x) { return add(dropout(x[0], 0.2f, x[2], 3), x[1]); }),
        // Two elements at a time take half a block of random words: six is not a multiple of four.
        chain("dropped with a bias of six", {normal({5, 6}), normal({6}), seed()},
              [](Inputs x) { return dropout(add(x[0], x[1]), 0.3f, x[2], 9); }),
        chain("dropped twice", {normal({4, 10}), seed()},
              [](Inputs x) { return dropout(scale(dropout(x[0], 0.2f, x[1], 3), 3.0f), 0.4f, x[1], 4); }),
        chain("all of one", {normal({40})},
              [](Inputs x) { return mul(add(x[0], x[0]), sub(x[0], scale(x[0], 3.0f))); }),
        chain("one value", {normal({1}), normal({1}, 0.1, 2)}, [](Inputs x) { return div(scale(x[0], 2.0f), x[1]); }),
        chain("fill", {normal({3, 5})},
              [](Inputs x) {
                  return add(fill(x[0].graph(), {3, 5}, 2.5f), x[0]);
              }),
        chain("long", {normal({100})},
              [](Inputs x) {
                  Tensor y = x[0];
                  for (int i = 0; i < 9; ++i) y = i % 3 == 2 ? add(y, x[0]) : scale(y, 0.75f);
                  return y;
              }),
        chain("slices", {padded({6, 12}, 3), padded({6, 12}, 5)},
              [](Inputs x) { return activate(add(x[0], scale(x[1], 2.0f)), Activation::relu); }),
    };
}

}  // namespace vkf::checks

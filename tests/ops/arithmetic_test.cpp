#include "ops/arithmetic.h"
#include "base/error.h"
#include "op_check.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

const std::vector<OpCase> arithmetic_cases{
    {"add one", {normal({1}), normal({1})}, [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
    {"add rows", {normal({3, 7}), normal({3, 7})}, [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
    {"add bias", {normal({5, 17}), normal({17})}, [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
    {"add positions over a batch",
     {normal({3, 5, 9}), normal({5, 9})},
     [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
    {"sub from the narrow side",
     {normal({11}), normal({4, 11})},
     [](Inputs x) { return std::vector{sub(x[0], x[1])}; }},
    {"mul per row", {normal({6, 13}), normal({6, 1})}, [](Inputs x) { return std::vector{mul(x[0], x[1])}; }},
    {"mul by a middle run", {normal({2, 3, 5}), normal({3, 1})}, [](Inputs x) { return std::vector{mul(x[0], x[1])}; }},
    {"div", {normal({31, 3}), normal({31, 3}, 0.1, 2.0)}, [](Inputs x) { return std::vector{div(x[0], x[1])}; }},
    {"div by a scalar",
     {normal({2, 4099}), normal({}, 0.0, 3.0)},
     // The divisor's gradient adds 8198 terms of both signs: Σ|t| / |Σt| is about 600.
     [](Inputs x) { return std::vector{div(x[0], x[1])}; },
     16,
     600,
     false},
    {"add slices", {padded({7, 5}, 3), padded({7, 5}, 2)}, [](Inputs x) { return std::vector{add(x[0], x[1])}; }},
    {"scale rows", {normal({3, 7})}, [](Inputs x) { return std::vector{scale(x[0], -0.75f)}; }},
    {"scale", {normal({1, 4097})}, [](Inputs x) { return std::vector{scale(x[0], -0.75f)}; }, 16, 64, false},
    {"square by using an input twice", {normal({3, 3})}, [](Inputs x) { return std::vector{mul(x[0], x[0])}; }},
};

VKF_OP_TABLE(Arithmetic, arithmetic_cases);

TEST(HostArithmeticShapes, RefusesShapesThatDoNotBroadcast) {
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {2, 3}});
    const Tensor b = graph.input("b", {DType::f32, {2}});
    EXPECT_THROW(add(a, b), InputError);
}

}  // namespace
}  // namespace vkf::test

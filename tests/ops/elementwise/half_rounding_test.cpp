// Every kind of kernel packs fp16 according to IEEE 754, bit for bit as base/half.h: to nearest, ties to even, also for
// subnormal numbers, and to infinity from 65520 on. GPUs' own instruction for two numbers truncates instead.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/half.h"
#include "device_fixture.h"
#include "graph/autotuner.h"
#include "op_check.h"
#include "ops/attention/attention.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "passes/run_passes.h"
#include "program/program.h"

namespace vkf::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float greatest = std::numeric_limits<float>::max();

/// For every two neighbours: the lower one, the middle, and the numbers next to the middle. Signs alternate, so that
/// each magnitude is in both halves of a word.
std::vector<float> all_between() {
    std::vector<float> list;
    for (std::uint16_t lower = 0; lower < 0x7bff; ++lower) {
        const float below = from_half(lower), above = from_half(static_cast<std::uint16_t>(lower + 1));
        const float middle = below + (above - below) / 2;
        for (const float x : {below, std::nextafter(middle, 0.0f), middle, std::nextafter(middle, infinity)})
            for (const float sign : {1.0f, -1.0f}) list.push_back(sign * x);
    }
    for (const float x : {65504.0f, std::nextafter(65520.0f, 0.0f), 65520.0f, 65536.0f, 1e9f, greatest, infinity,
                          0x1p-126f, 1e-30f, std::nanf("")})
        for (const float sign : {1.0f, -1.0f}) list.push_back(sign * x);
    return list;
}

/// 64 numbers that reveal every kind of mistake: ties to either side, truncation, carries into the exponent, subnormal
/// numbers, and the step to infinity.
std::vector<float> telling() {
    constexpr float one = 0x1p-10f, least = 0x1p-24f;  // distance from 1 to its neighbour, and from 0 to its
    std::vector<float> list;
    for (const float x : {1 + one / 2,
                          1 + one * 3 / 2,
                          1 + one * 3 / 4,
                          1 + one / 4,
                          2 - one / 2,
                          2 - one / 4,
                          std::nextafter(1 + one / 2, 2.0f),
                          std::nextafter(1 + one / 2, 1.0f),
                          1023.75f,
                          4097.5f,
                          least,
                          least / 2,
                          std::nextafter(least / 2, 1.0f),
                          least * 3 / 2,
                          least * 5 / 2,
                          least * 7 / 4,
                          least / 4,
                          least * 1022.75f,
                          least * 1023.5f,
                          std::nextafter(0x1p-14f, 0.0f),
                          0x1p-14f,
                          0x1p-14f + least / 2,
                          0x1p-14f + least * 3 / 2,
                          1e-30f,
                          65504.0f,
                          65519.0f,
                          std::nextafter(65520.0f, 0.0f),
                          65520.0f,
                          65536.0f,
                          1e9f,
                          greatest,
                          infinity})
        for (const float sign : {1.0f, -1.0f}) list.push_back(sign * x);
    return list;
}

void expect_packed(float found, float given, const std::string& what) {
    const float wanted = from_half(to_half(given));
    if (std::isnan(wanted))
        EXPECT_TRUE(std::isnan(found)) << what << ": NaN became " << found;
    else
        EXPECT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(wanted))
            << what << ": " << std::hexfloat << given << " became " << found << ", wanted " << wanted;
}

/// Chooses the implementation of this name, if it is a candidate, and counts these choices.
class OneImplementation : public Autotuner {
public:
    explicit OneImplementation(std::string name) : name_(std::move(name)) {}
    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        for (std::size_t i = 0; i < problem.candidates.size(); ++i)
            if (problem.candidates[i] == name_) return ++taken, i;
        return 0;
    }
    int taken = 0;

private:
    std::string name_;
};

/// Values of `packed`, which must be stored in fp16; computed by `implementation`, unless that is empty.
std::vector<float> unpacked(Graph& graph, Tensor packed, const std::map<std::string, std::vector<float>>& inputs,
                            const std::string& implementation = {}) {
    Device& device = shared_device();
    graph.output("y", scale(packed, 1.0f));
    graph.activations = Format::f16;
    run_passes(graph, only_storage_types);
    EXPECT_EQ(packed.format(), Format::f16);
    DeviceTraits lowering = traits_with_group_matrices(device);
    OneImplementation autotuner(implementation);
    lowering.autotuner = &autotuner;
    if (implementation.empty()) lowering = traits(device);
    State state(device);
    Program program(device, graph, state, {.traits = lowering});
    for (const auto& [name, values] : inputs) program.write(name, values);
    program.run();
    EXPECT_EQ(autotuner.taken, implementation.empty() ? 0 : 1) << implementation << " was not on offer";
    return program.read("y");
}

TEST(DeviceHalfRounding, OfElementsIsThatOfTheHost) {
    const std::vector<float> given = all_between();
    const auto count = static_cast<std::int64_t>(given.size());
    Graph graph;
    const Tensor x = graph.input("x", {DType::f32, {count / 2, 2}});
    const std::vector<float> found = unpacked(graph, scale(x, 1.0f), {{"x", given}});
    for (std::size_t i = 0; i < given.size(); ++i) expect_packed(found[i], given[i], "element");
}

/// Checks a product: row i of a has number i at column i, else zeros; b is the identity. The sum of row i is number i.
void check_product(const std::string& implementation) {
    const std::vector<float> given = telling();
    const auto extent = static_cast<std::int64_t>(given.size());
    std::vector<float> a(given.size() * given.size()), identity(a.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
        a[i * (given.size() + 1)] = given[i];
        identity[i * (given.size() + 1)] = 1.0f;
    }
    Graph graph;
    const Tensor left = graph.input("a", {DType::f32, {extent, extent}});
    const Tensor right = graph.input("b", {DType::f32, {extent, extent}});
    const std::vector<float> found = unpacked(graph, matmul(left, right), {{"a", a}, {"b", identity}}, implementation);
    for (std::size_t i = 0; i < given.size(); ++i) {
        const float sum = found[i * (given.size() + 1)];
        if (from_half(to_half(given[i])) != 0.0f)
            expect_packed(sum, given[i], implementation);
        else
            EXPECT_EQ(sum, 0.0f) << implementation;  // the sum includes zeros and may have either sign
    }
}

/// Checks attention with 16 keys of equal weight: each number of o is the mean of its column of v, at a multiple of a
/// sixteenth of the way between two neighbours. All multiplications and sums are exact.
void check_attention(const std::string& implementation) {
    constexpr std::int64_t rows = 16, width = 16;
    std::vector<float> v(rows * width), wanted(width), zeros(rows * width);
    for (std::size_t d = 0; d < width; ++d) {
        const auto lower = static_cast<std::uint16_t>(d % 2 == 0 ? 0x3c00 + 37 * d : 3 * d);
        const float below = from_half(lower), above = from_half(static_cast<std::uint16_t>(lower + 1));
        const std::size_t ups = (5 * d + 8) % 16;
        for (std::size_t j = 0; j < rows; ++j) v[j * width + d] = j < ups ? above : below;
        wanted[d] = below + (above - below) * static_cast<float>(ups) / 16;
    }
    Graph graph;
    const TensorType type{DType::f32, {1, rows, width}};
    const auto kept = [&](const char* name) { return scale(graph.input(name, type), 1.0f); };
    const Tensor o = attention(kept("q"), kept("k"), kept("v"), {.heads = 1, .kv_heads = 1});
    const std::vector<float> found = unpacked(graph, o, {{"q", zeros}, {"k", zeros}, {"v", v}}, implementation);
    for (std::size_t i = 0; i < found.size(); ++i) expect_packed(found[i], wanted[i % width], implementation);
}

TEST(DeviceHalfRounding, OfProductsIsThatOfTheHost) {
    for (const char* implementation : {"subgroup", "tile 64"}) check_product(implementation);
    if (shared_device().info().max_group >= 256) check_product("tile 128");
}

TEST(DeviceHalfRounding, OfAttentionIsThatOfTheHost) {
    for (const char* implementation : {"subgroup", "tile"}) check_attention(implementation);
}

TEST(DeviceCooperativeHalfRounding, IsThatOfTheHost) {
    const DeviceTraits has = traits_with_group_matrices(shared_device());
    if (!has.matrices || has.matrices->element != MatrixElement::fp16)
        GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices of fp16";
    check_product("coopmat 64");
    check_attention("coopmat");
    if (has.workgroup_matrices == has.subgroup_size) {
        check_product("coopmat2 16");
        check_attention("coopmat2 8");
    }
}

}  // namespace
}  // namespace vkf::test

// Beams of a search reordered in a cache, and rows of one tensor appended. tests/program/state_test.cpp has the other
// ops of caches.
#include "ops/movement/kv_cache.h"

#include <array>
#include <cstring>

#include "base/error.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "program/program.h"
#include "program/state.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

Operand exactly(Shape shape, std::vector<double> values) {
    return {.type = {DType::i32, std::move(shape)}, .differentiate = false, .values = std::move(values)};
}

/// A case of groups of `beams` sequences, of which group g holds lengths[g] rows. Parents are drawn, so that most
/// groups have one twice. The op overwrites a copy of its operand, so that a second run begins with the same numbers.
OpCase beams_of(std::string name, std::int64_t beams, std::int64_t capacity, std::int64_t width,
                std::vector<double> lengths, std::vector<double> parents = {}) {
    const std::int64_t groups = std::ssize(lengths), rows = groups * beams;
    return {.name = std::move(name),
            .operands = {fixed({rows, capacity, width}),
                         parents.empty() ? integers({rows}, 0, beams) : exactly({rows}, std::move(parents)),
                         exactly({groups}, std::move(lengths))},
            .build = [=](Inputs x) { return std::vector{kv_cache_reorder(scale(x[0], 1.0f), x[1], x[2], beams)}; },
            .ulps = 0};
}

const std::vector<OpCase> reorder_cases{
    beams_of("one beam", 1, 3, 4, {2, 3}),
    beams_of("two beams", 2, 5, 6, {4}, {1, 0}),
    beams_of("two beams from one", 2, 5, 6, {4, 5}, {1, 1, 0, 0}),
    beams_of("five beams", 5, 7, 8, {7, 3, 0, 1}),
    beams_of("five beams and odd rows", 5, 7, 9, {2, 7, 4}),
    beams_of("sixteen beams", 16, 3, 10, {3, 2}),
    beams_of("sixteen beams of one number", 16, 3, 1, {2, 3}),
    beams_of("a cycle", 4, 3, 5, {3}, {1, 2, 3, 0}),
    beams_of("a group that stays", 3, 4, 12, {4, 4, 4}, {2, 0, 1, 0, 1, 2, 0, 0, 2}),
    beams_of("long rows and many positions", 4, 70, 600, {70, 33}),
    beams_of("many short rows", 2, 300, 2, {299, 1, 300}),
    beams_of("parents that are none", 3, 4, 6, {3, 3}, {-1, 1, 3, 9, -9, 1}),
    beams_of("lengths outside the cache", 2, 4, 6, {9, -1}, {1, 0, 1, 0}),
};
VKF_OP_TABLE(KvCacheReorder, reorder_cases);

/// Rows appended to one cache, which is a copy of an operand.
OpCase appended(std::string name, Shape cache, Shape rows, std::vector<double> lengths, std::int64_t behind = 0) {
    const std::int64_t count = std::ssize(lengths);
    return {.name = std::move(name),
            .operands = {fixed(std::move(cache)), fixed(std::move(rows)), exactly({count}, std::move(lengths))},
            .build = [=](Inputs x) { return std::vector{kv_cache_append(scale(x[0], 1.0f), x[1], x[2], behind)}; },
            .ulps = 0};
}

const std::vector<OpCase> append_cases{
    appended("one row of each", {3, 5, 6}, {3, 1, 6}, {1, 5, 3}),
    appended("rows of one length", {2, 4, 7}, {2, 2, 7}, {3}),
    appended("rows outside of the cache", {4, 1, 8}, {4, 1, 8}, {1, 2, 0, 1}),
    appended("a first row of five", {3, 1, 6}, {3, 1, 6}, {5, 6, 0}, 4),
    appended("rows behind", {2, 4, 5}, {2, 2, 5}, {6, 3}, 2),
};
VKF_OP_TABLE(KvCacheAppend, append_cases);

/// Bytes of a state in which row r is what row rows[r] was before.
std::vector<std::byte> with_rows(const std::vector<std::byte>& before, const std::vector<std::size_t>& rows) {
    std::vector<std::byte> made(before.size());
    const std::size_t bytes = before.size() / rows.size();
    for (std::size_t row = 0; row < rows.size(); ++row)
        std::memcpy(&made[row * bytes], &before[rows[row] * bytes], bytes);
    return made;
}

/// Two groups of three sequences of two rows, in every format of a state: the second group holds only one row.
TEST(DeviceKvCacheReorder, MovesTheBitsOfAState) {
    for (const std::int64_t width : {1, 2, 3, 6, 8, 70})
        for (const Format format : {Format::f32, Format::bf16, Format::f16}) {
            if (format != Format::f32 && width % 2 != 0) continue;
            Graph graph;
            const Tensor state = graph.state("state", {DType::f32, {6, 2, width}}, format);
            kv_cache_reorder(state, graph.input("parents", {DType::i32, {6}}),
                             graph.input("lengths", {DType::i32, {2}}), 3);
            State memory(shared_device());
            Program program(shared_device(), graph, memory, {.guarded = true});
            std::vector<float> values(static_cast<std::size_t>(12 * width));
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f + static_cast<float>(i) / 3.0f;
            memory.write("state", values);
            const std::vector<std::byte> before = memory.read_bytes("state");
            program.write("parents", std::array{2, 0, 0, 1, 1, 0});
            program.write("lengths", std::array{2, 1});
            program.run();
            const std::vector<std::size_t> rows{4, 5, 0, 1, 0, 1, 8, 7, 8, 9, 6, 11};
            EXPECT_EQ(memory.read_bytes("state"), with_rows(before, rows)) << "width " << width;
            EXPECT_EQ(program.damaged_guards(), "");
        }
}

TEST(HostKvCacheReorder, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor state = graph.state("state", {DType::f32, {34, 5, 4}});
    const auto whole = [&](const char* name, std::int64_t count) { return graph.input(name, {DType::i32, {count}}); };
    const Tensor parents = whole("parents", 34), lengths = whole("lengths", 17), two = whole("two", 2);
    EXPECT_THROW(kv_cache_reorder(state, parents, two, 17), InputError);
    EXPECT_THROW(kv_cache_reorder(state, parents, lengths, 0), InputError);
    EXPECT_THROW(kv_cache_reorder(state, parents, lengths, 4), InputError);
    EXPECT_THROW(kv_cache_reorder(state, lengths, lengths, 2), InputError);
    EXPECT_THROW(kv_cache_reorder(state, parents, parents, 2), InputError);
    EXPECT_THROW(kv_cache_reorder(graph.state("flat", {DType::f32, {34, 20}}), parents, lengths, 2), InputError);
    EXPECT_THROW(kv_cache_reorder(state, graph.input("real", {DType::f32, {34}}), lengths, 2), InputError);
    EXPECT_NO_THROW(kv_cache_reorder(state, parents, lengths, 2));
}

}  // namespace
}  // namespace vkf::test

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

/// Row 4 of five is needed for a sixth position, so a position is dropped; words of 16-bit numbers move as they are.
TEST(DeviceKvCacheRoll, MovesTheBitsOfAState) {
    for (const std::int64_t width : {1, 2, 3, 6, 70})
        for (const Format format : {Format::f32, Format::bf16, Format::f16}) {
            if (format != Format::f32 && width % 2 != 0) continue;
            Graph graph;
            const Tensor keys = graph.state("keys", {DType::f32, {2, 5, width}}, format);
            const Tensor values = graph.state("values", {DType::f32, {2, 5, 2 * width}}, format);
            const RolledCache rolled =
                kv_cache_roll({keys, values}, graph.input("lengths", {DType::i32, {2}}), {.first = 1, .step = 2}, 1);
            graph.output("rows", rolled.lengths);
            State memory(shared_device());
            Program program(shared_device(), graph, memory, {.guarded = true});
            std::vector<float> numbers(static_cast<std::size_t>(20 * width));
            for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0f + static_cast<float>(i) / 3.0f;
            memory.write("keys", std::span(numbers).first(numbers.size() / 2));
            memory.write("values", numbers);
            const auto before = memory.read_bytes("keys"), before_values = memory.read_bytes("values");
            program.write("lengths", std::array{6, 5});
            program.run();
            const std::vector<std::size_t> rows{0, 3, 4, 3, 4, 5, 6, 7, 8, 9};
            EXPECT_EQ(memory.read_bytes("keys"), with_rows(before, rows)) << "width " << width;
            EXPECT_EQ(memory.read_bytes("values"), with_rows(before_values, rows)) << "width " << width;
            EXPECT_EQ(program.read_ints("rows"), (std::vector{4, 5}));
            EXPECT_EQ(program.damaged_guards(), "");
        }
}

TEST(HostKvCacheRoll, RefusesWhatDoesNotFit) {
    Graph graph;
    const Tensor keys = graph.state("keys", {DType::f32, {2, 9, 4}}),
                 values = graph.state("values", {DType::f32, {2, 9, 6}});
    const Tensor lengths = graph.input("lengths", {DType::i32, {2}});
    EXPECT_NO_THROW(kv_cache_roll({keys, values}, lengths, {.first = 3, .step = 4}, 2));
    EXPECT_THROW(kv_cache_roll({keys, values}, lengths, {.first = 3, .step = 4}, 3), InputError);
    EXPECT_THROW(kv_cache_roll({keys, values}, lengths, {.first = -1, .step = 4}, 1), InputError);
    EXPECT_THROW(kv_cache_roll({keys, values}, lengths, {.step = 0}, 1), InputError);
    EXPECT_THROW(kv_cache_roll({keys, values}, lengths, {}, 0), InputError);
    EXPECT_THROW(kv_cache_roll({keys, values}, graph.input("one", {DType::i32, {1}}), {}, 1), InputError);
    EXPECT_THROW(kv_cache_roll({keys, graph.state("other", {DType::f32, {2, 8, 4}})}, lengths, {}, 1), InputError);
}

}  // namespace
}  // namespace vkf::test

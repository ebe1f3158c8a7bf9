// States and outputs that are not stored as 32-bit floats.
#include "program/state.h"
#include "passes/run_passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/files/safetensors.h"
#include "base/half.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "models/files/weights.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/embedding.h"
#include "ops/movement/kv_cache.h"
#include "program/program.h"
#include "scratch.h"

namespace vkf::test {
namespace {

constexpr std::array FORMATS{Format::f32, Format::bf16, Format::f16};

/// Numbers that neither 16-bit format represents.
std::vector<float> odd_numbers(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i) + 1.0f) * 3.0f;
    return values;
}

float rounded(float x, Format format) {
    return format == Format::f32 ? x : format == Format::bf16 ? from_bfloat16(to_bfloat16(x)) : from_half(to_half(x));
}

TEST(HostState, AFormatIsPartOfAskingForAState) {
    Graph graph;
    const TensorType type{DType::f32, {3, 4}};
    const Tensor s = graph.state("s", type, Format::bf16);
    EXPECT_EQ(graph.state("s", type, Format::bf16), s);
    EXPECT_EQ(s.format(), Format::bf16);
    EXPECT_THROW(graph.state("s", type), InputError);
    EXPECT_THROW(graph.state("odd", {DType::f32, {4, 3}}, Format::f16), InputError);
    EXPECT_THROW(graph.state("i", {DType::i32, {4}}, Format::f16), InputError);
}

TEST(DeviceState, IsKeptInItsFormat) {
    const TensorType type{DType::f32, {6, 10}};
    const std::vector<float> values = odd_numbers(60);
    for (const Format format : FORMATS) {
        Graph graph;
        const Tensor s = graph.state("s", type, format);
        graph.output("y", scale(s, 2.0f));
        State state(shared_device());
        Program program(shared_device(), graph, state);
        EXPECT_EQ(program.memory().states, format == Format::f32 ? 240 : 120);
        state.write("s", values);
        program.run();
        const std::vector<float> kept = state.read("s"), found = program.read("y");
        for (std::size_t i = 0; i < values.size(); ++i) {
            ASSERT_EQ(kept[i], rounded(values[i], format));
            ASSERT_EQ(found[i], 2 * kept[i]);
        }
        EXPECT_THROW(state.read_ints("s"), InputError);
        EXPECT_THROW(state.write("s", std::vector<std::int32_t>(60)), InputError);
        EXPECT_THROW(state.write("s", std::vector<float>(59)), InputError);
        Graph other;
        other.state("s", type, format == Format::f16 ? Format::bf16 : Format::f16);
        EXPECT_THROW(Program(shared_device(), other, state), InputError);
    }
}

TEST(DeviceState, MayBeOfIntegers) {
    Graph graph;
    const Tensor places = graph.state("places", {DType::i32, {3}});
    graph.output("y", embedding(graph.input("table", {DType::f32, {4, 2}}), places));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    state.write("places", std::array{3, 0, 2});
    EXPECT_EQ(state.read_ints("places"), (std::vector<std::int32_t>{3, 0, 2}));
    EXPECT_THROW(state.read("places"), InputError);
    program.write("table", std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
    program.run();
    EXPECT_EQ(program.read("y"), (std::vector<float>{6, 7, 0, 1, 4, 5}));
}

TEST(DeviceState, AKernelThatDoesNotTakeItsFormatIsRefused) {
    Graph graph;
    const Tensor table = graph.state("s", {DType::f32, {6, 10}}, Format::bf16);
    graph.output("y", embedding(table, graph.input("places", {DType::i32, {3}})));
    State state(shared_device());
    try {
        Program(shared_device(), graph, state);
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "embedding: input 0 is f32[6, 10] in bf16, which its kernels do not take");
    }
}

TEST(DeviceOutput, OfAnyFormatIsReadAsFloats) {
    const std::vector<float> values = odd_numbers(24);
    for (const Format format : FORMATS) {
        Graph graph;
        const Tensor y = scale(graph.input("x", {DType::f32, {4, 6}}), 0.5f);
        graph.output("y", y);
        graph.set_format(graph.value(y).storage, format);
        State state(shared_device());
        Program program(shared_device(), graph, state);
        EXPECT_EQ(program.memory().outputs, one_run_at_a_time.outputs * 256);
        program.write("x", values);
        program.run();
        const std::vector<float> found = program.read("y");
        for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(found[i], rounded(values[i] / 2, format));
        EXPECT_THROW(program.read_ints("y"), InputError);
    }
}

/// Appends two rows to each of two sequences of a cache of five rows, which then holds `length` rows; in every format
/// of the cache and of the new rows.
TEST(DeviceCache, RowsAreRoundedAsTheyAreAppended) {
    for (const std::int64_t width : {1, 7, 8, 70})
        for (const Format format : FORMATS)
            for (const Format activations : FORMATS) {
                if ((format != Format::f32 || activations != Format::f32) && width % 2 != 0) continue;
                Graph graph;
                const std::int64_t wider = width + 2;  // width of values
                const Tensor keys = graph.state("keys", {DType::f32, {2, 5, width}}, format);
                const Tensor values = graph.state("values", {DType::f32, {2, 5, wider}}, format);
                const Tensor k = scale(graph.input("k", {DType::f32, {2, 2, width}}), 1.0f);
                const Tensor v = scale(graph.input("v", {DType::f32, {2, 2, wider}}), 1.0f);
                kv_cache_append({keys, values}, {k, v}, graph.input("length", {DType::i32, {1}}));
                graph.activations = activations;
                run_passes(graph);
                EXPECT_EQ(k.format(), activations);
                EXPECT_EQ(v.format(), activations);
                State state(shared_device());
                Program program(shared_device(), graph, state, {.guarded = true});
                Arrays leaves;
                for (const auto& [cache, rows, columns] : {std::tuple{"keys", "k", width}, {"values", "v", wider}}) {
                    const std::vector<float> fresh = odd_numbers(static_cast<std::size_t>(4 * columns));
                    program.write(rows, fresh);
                    leaves[rows] = {{2, 2, columns}, {fresh.begin(), fresh.end()}};
                    leaves[cache] = {{2, 5, columns}, std::vector<double>(static_cast<std::size_t>(10 * columns))};
                }
                for (const std::int32_t length : {2, 4, 1, 7}) {  // the last two reach outside the cache
                    program.write("length", std::array{length});
                    leaves["length"] = {{1}, {static_cast<double>(length)}};
                    const auto wanted = interpret(graph, leaves);
                    program.run();
                    for (const char* cache : {"keys", "values"}) {
                        leaves[cache] = wanted.at(cache);
                        const std::vector<float> found = state.read(cache);
                        ASSERT_EQ(std::vector<double>(found.begin(), found.end()), leaves[cache].at)
                            << cache << ", width " << width << ", length " << length;
                    }
                }
                EXPECT_EQ(program.damaged_guards(), "");
            }
}

/// Sequences of a cache hold different numbers of rows after an append; one holds none.
TEST(DeviceCache, EverySequenceHasItsOwnLength) {
    Graph graph;
    const Tensor whole = graph.state("whole", {DType::f32, {3, 5, 6}});
    const Tensor values = graph.state("values", {DType::f32, {3, 5, 6}}),
                 rows = graph.input("rows", {DType::f32, {3, 2, 6}});
    kv_cache_append({whole, values}, {rows, rows}, graph.input("lengths", {DType::i32, {3}}));
    State state(shared_device());
    Program program(shared_device(), graph, state, {.guarded = true});
    const std::vector<float> fresh = odd_numbers(3 * 2 * 6);
    program.write("rows", fresh);
    program.write("lengths", std::array{5, 0, 2});
    program.run();
    const Arrays leaves{{"whole", {{3, 5, 6}, std::vector<double>(3 * 5 * 6)}},
                        {"values", {{3, 5, 6}, std::vector<double>(3 * 5 * 6)}},
                        {"rows", {{3, 2, 6}, {fresh.begin(), fresh.end()}}},
                        {"lengths", {{3}, {5, 0, 2}}}};
    const std::vector<float> found = state.read("whole");
    EXPECT_EQ(std::vector<double>(found.begin(), found.end()), interpret(graph, leaves).at("whole").at);
    EXPECT_EQ(state.read("values"), found);
    EXPECT_EQ(found[3 * 6], fresh[0]);       // row 3 of the first sequence
    EXPECT_EQ(found[2 * 5 * 6], fresh[24]);  // row 0 of the last
    EXPECT_EQ(std::count(found.begin() + 5 * 6, found.begin() + 2 * 5 * 6, 0.0f), 5 * 6);
    EXPECT_EQ(program.damaged_guards(), "");
}

/// Copies the first rows of a sequence to one of several sequences, in every format.
TEST(DeviceCache, ASequenceIsCopiedAsFarAsItIsFilled) {
    for (const std::int64_t width : {1, 7, 8, 70})
        for (const Format format : FORMATS) {
            if (format != Format::f32 && width % 2 != 0) continue;
            Graph graph;
            const Tensor whole = graph.state("whole", {DType::f32, {3, 5, width}}, format);
            const Tensor one = graph.state("one", {DType::f32, {1, 5, width}}, format);
            kv_cache_copy(whole, one, graph.input("place", {DType::i32, {2}}));
            State state(shared_device());
            Program program(shared_device(), graph, state, {.guarded = true});
            state.write("one", odd_numbers(static_cast<std::size_t>(5 * width)));
            const std::vector<float> from = state.read("one");
            Arrays leaves{{"whole", {{3, 5, width}, std::vector<double>(static_cast<std::size_t>(15 * width))}},
                          {"one", {{1, 5, width}, {from.begin(), from.end()}}}};
            for (const auto& [row, count] : {std::pair{1, 3}, {2, 5}, {0, 9}, {1, 0}, {3, 2}, {-1, 2}}) {
                program.write("place", std::array{row, count});
                leaves["place"] = {{2}, {static_cast<double>(row), static_cast<double>(count)}};
                leaves["whole"] = interpret(graph, leaves).at("whole");
                program.run();
                const std::vector<float> found = state.read("whole");
                ASSERT_EQ(std::vector<double>(found.begin(), found.end()), leaves["whole"].at)
                    << "width " << width << ", " << count << " to row " << row;
            }
            EXPECT_EQ(program.damaged_guards(), "");
        }
}

TEST(DeviceState, LookingForWhatIsNotFiniteLeavesItAsItWas) {
    Graph graph;
    const Tensor whole = graph.state("whole", {DType::f32, {1, 2, 4}}, Format::bf16);
    const Tensor values = graph.state("values", {DType::f32, {1, 2, 4}}),
                 rows = graph.input("rows", {DType::f32, {1, 1, 4}});
    kv_cache_append({whole, values}, {rows, rows}, graph.input("length", {DType::i32, {1}}));
    State state(shared_device());
    Program program(shared_device(), graph, state);
    state.write("whole", odd_numbers(8));
    const std::vector<std::byte> before = state.read_bytes("whole");
    program.write("rows", std::vector<float>{1, std::numeric_limits<float>::infinity(), 2, 3});
    program.write("length", std::array{1});
    EXPECT_EQ(program.find_non_finite(), "kv_cache_append: output 0, element 1 of [1, 2, 4] is inf");
    EXPECT_EQ(state.read_bytes("whole"), before);
}

TEST(DeviceState, IsSavedAsWhatItIs) {
    const Scratch scratch;
    const std::vector<std::string> names{"a", "b", "c", "d"};
    Graph graph;
    for (std::size_t i = 0; i < 3; ++i) graph.state(names[i], {DType::f32, {3, 4}}, FORMATS[i]);
    graph.state("d", {DType::i32, {2}});
    State state(shared_device());
    state.reserve(graph);
    for (std::size_t i = 0; i < 3; ++i) state.write(names[i], odd_numbers(12));
    state.write("d", std::array{-5, 70000});
    const auto path = scratch.path() / "s.safetensors";
    write_safetensors(path, state_sources(state, names));
    const Safetensors file = Safetensors::open(path);
    EXPECT_EQ(file.at("a").type, StoredType::F32);
    EXPECT_EQ(file.at("b").type, StoredType::BF16);
    EXPECT_EQ(file.at("c").type, StoredType::F16);
    EXPECT_EQ(file.at("d").type, StoredType::I32);
    State again(shared_device());
    again.reserve(graph);
    for (const std::string& name : names) {
        load_state(file, name, again);
        EXPECT_EQ(again.read_bytes(name), state.read_bytes(name)) << name;
    }
    EXPECT_EQ(find_non_finite(state, names), "");
    state.write("c", std::vector<float>(12, 1e9f));  // outside its range
    EXPECT_EQ(find_non_finite(state, names), "c: element 0 of [3, 4] is inf");
    EXPECT_THROW(write_safetensors(path, state_sources(state, names)), NotFinite);
}

}  // namespace
}  // namespace vkf::test

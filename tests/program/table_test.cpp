// Arguments in rows: tables that a program writes into memory for its kernels, and tables that it refuses.

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "apps/inspect/analysis.h"
#include "base/error.h"
#include "device_fixture.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/optimizer/optimize.h"
#include "program/program.h"

namespace vkf::test {
namespace {

/// y ← y + x by shaders/optimizer/accumulate.comp, whose rows are { y, x }, with any argument in their place.
class AddRowsOp : public Op {
public:
    explicit AddRowsOp(std::function<ArgValue(std::span<const Tensor>)> rows) : rows_(std::move(rows)) {}

    std::string_view name() const override { return "add_rows"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[0]}; }
    std::optional<std::size_t> updates(std::size_t) const override { return 0; }
    void lower(Lowering& lowering) const override {
        const Table parts{{{"row", std::vector{0u}}, {"first", std::vector{0u}}, {"end", std::vector{3u}}}};
        lowering.dispatch({.kernel = "accumulate",
                           .constants = {{"GROUP", lowering.device.subgroup_size}},
                           .args = {{"rows", rows_(lowering.in)}, {"parts", parts}, {"groups", 1u}, {"factor", 1.0f}}});
    }

private:
    std::function<ArgValue(std::span<const Tensor>)> rows_;
};

/// Result of AddRowsOp, or the message if compiling it fails.
std::string add_rows(std::function<ArgValue(std::span<const Tensor>)> rows) {
    Graph graph;
    const TensorType type{DType::f32, {3}};
    const Tensor y = graph.state("y", type), x = graph.input("x", type);
    add_one(graph, AddRowsOp(std::move(rows)), {y, x});
    State state(shared_device());
    try {
        Program program(shared_device(), graph, state);
        state.write("y", std::vector<float>{1, 2, 3});
        program.write("x", std::vector<float>{10, 20, 30});
        program.run();
        std::string found;
        for (const float sum : state.read("y")) found += text(sum, ' ');
        return found;
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(DeviceTable, HasColumnsByTheNamesOfTheKernelsRows) {
    using In = std::span<const Tensor>;
    using Tensors = std::vector<Tensor>;
    EXPECT_EQ(add_rows([](In in) { return Table{{{"x", Tensors{in[1]}}, {"y", Tensors{in[0]}}}}; }), "11 22 33 ");
    const std::string kernel = "add_rows: kernel accumulate: ";
    EXPECT_EQ(add_rows([](In in) {
                  return Table{{{"y", Tensors{in[0]}}, {"z", Tensors{in[1]}}}};
              }),
              kernel + "no argument 'x' was given");
    EXPECT_EQ(add_rows([](In in) {
                  return Table{{{"y", Tensors{in[0]}}, {"x", std::vector{1.0f}}}};
              }),
              kernel + "argument 'x' is an address, given something else");
    EXPECT_EQ(add_rows([](In in) {
                  return Table{{{"y", Tensors{in[0]}}}};
              }),
              kernel + "rows of 'rows' have 16 bytes, the 1 given 8");
    EXPECT_EQ(add_rows([](In in) { return in[0]; }), kernel + "argument 'rows' was given as another type");
    EXPECT_EQ(add_rows([](In in) {
                  return Table{{{"y", Tensors{in[0]}}, {"x", Tensors{}}}};
              }),
              "a table's column 'x' has 0 rows, the first 1");
}

TEST(DeviceTable, LetsAKernelWaitForWhatItsTensorsNeed) {
    Graph graph;
    const TensorType type{DType::f32, {5}};
    const Tensor sum = graph.state("sum", type), other = graph.state("other", type);
    const Tensor x = scale(graph.input("x", type), 2.0f);
    vkf::accumulate(std::array{sum, other}, std::array{x, x}, 1.0f);  // waits for x
    graph.output("y", scale(graph.state("sum", type), 1.0f));         // waits for the sum
    State state(shared_device());
    Program program(shared_device(), graph, state);
    EXPECT_EQ(program.dispatches(), 3u);
    EXPECT_EQ(program.barriers(), 2u);
    program.write("x", std::vector<float>{1, 2, 3, 4, 5});
    program.run();
    EXPECT_EQ(program.read("y"), (std::vector<float>{2, 4, 6, 8, 10}));
}

// Kernels assume that a table's first address is a multiple of eight, after a table of any size.
TEST(HostTable, LeavesTheNextAtAMultipleOfEight) {
    for (std::uint32_t count = 0; count < 9; ++count) {
        const std::vector<std::uint32_t> numbers(count);
        const Table table{{{"a", numbers}, {"b", numbers}, {"c", numbers}}};
        EXPECT_EQ(table.padded_bytes() % 8, 0);
        EXPECT_GE(table.padded_bytes(), table.bytes());
    }
}

TEST(DeviceTable, IsCountedAmongAProgramsMemory) {
    Graph graph;
    std::vector<Tensor> tensors;
    for (int k = 0; k < 100; ++k) tensors.push_back(graph.state(text('x', k), {DType::f32, {k}}));
    zero(tensors);
    State state(shared_device());
    const Program program(shared_device(), graph, state);
    // Two addresses per tensor; a chunk, of three numbers, per tensor that has elements; then twelve bytes.
    EXPECT_EQ(program.memory().tables, 100 * 16 + 99 * 12 + 12);
    EXPECT_EQ(analyse(graph, traits(shared_device())).tables, program.memory().tables);
}

}  // namespace
}  // namespace vkf::test

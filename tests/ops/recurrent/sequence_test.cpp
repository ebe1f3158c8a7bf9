#include "ops/recurrent/sequence.h"

#include <array>
#include <map>

#include "base/error.h"
#include "checks/recurrent/named_layers.h"
#include "device_fixture.h"
#include "golden.h"
#include "op_check.h"
#include "ops/backward.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"
#include "program/program.h"

namespace vkf::test {
namespace {

TEST(HostRecurrentSequenceShapes, RefusesOperandsThatDoNotFit) {
    Graph graph;
    const auto input = [&](std::string name, Shape shape) { return graph.input(std::move(name), {DType::f32, shape}); };
    const Tensor a = input("a", {2, 5, 12}), w = input("w", {12, 4}), b = input("b", {12}), h = input("h", {2, 4}),
                 lengths = graph.input("lengths", {DType::i32, {3}});
    EXPECT_NO_THROW(gru(a, w, b, {.initial = {.h = h}}));
    EXPECT_THROW(gru(h, w, b), InputError);
    EXPECT_THROW(lstm(a, w, b), InputError);
    EXPECT_THROW(gru(a, input("w3", {12, 3}), b), InputError);
    EXPECT_THROW(gru(a, w, input("b4", {4})), InputError);
    EXPECT_THROW(gru(a, w, b, {.initial = {.h = input("h3", {2, 3})}}), InputError);
    EXPECT_THROW(gru(a, w, b, {.initial = {.h = h, .c = h}}), InputError);
    EXPECT_THROW(gru(a, w, b, {.lengths = lengths}), InputError);
    EXPECT_THROW(gru(a, w, b, {.lengths = b}), InputError);
}

/// A bidirectional layer of PyTorch, in float64: tests/golden/make_recurrent_golden.py. Builds it, and returns the
/// results by their names in the file.
std::map<std::string, Tensor> build_golden(Graph& graph, const NamedLayer& of, const Safetensors& file,
                                           std::vector<std::string>& leaves) {
    const auto leaf = [&](const std::string& name) {
        for (const StoredTensor& stored : file.tensors())
            if (stored.name == name) {
                leaves.push_back(name);
                return graph.input(name, {DType::f32, Shape(stored.shape)});
            }
        return Tensor();
    };
    const Tensor x = leaf("x"), lengths = graph.input("lengths", {DType::i32, {x.shape()[0]}});
    std::map<std::string, Tensor> made;
    std::vector<Tensor> outputs, d_outputs;
    for (const std::string direction : {"forward", "reverse"}) {
        const auto own = [&](const std::string& name) { return leaf(direction + "." + name); };
        const Tensor a = matmul(x, own("weight_ih"), {.transpose_b = true, .bias = own("bias_ih")});
        const RecurrentSequence y = of.layer(
            a, own("weight_hh"), own("bias_hh"),
            {.lengths = lengths, .reverse = direction == "reverse", .initial = {.h = own("h"), .c = own("c")}});
        for (const auto& [name, tensor] :
             {std::pair{"outputs", y.outputs}, {"last_h", y.last.h}, {"last_c", y.last.c}}) {
            if (!tensor) continue;
            made[direction + "." + name] = tensor;
            outputs.push_back(tensor);
            d_outputs.push_back(own(std::string("d_") + name));
        }
    }
    std::vector<Tensor> wrt;
    for (const std::string& name : leaves) wrt.push_back(graph.input_named(name));
    const std::vector<Tensor> found = gradients(outputs, d_outputs, wrt);
    for (std::size_t i = 0; i < leaves.size(); ++i)
        if (file.contains("grad." + leaves[i])) made["grad." + leaves[i]] = found[i];
    for (const auto& [name, tensor] : made) graph.output(name, contiguous(tensor));
    return made;
}

/// Compares all results and gradients with the file's. The file's numbers are rounded once.
void expect_golden(const Safetensors& file, const std::map<std::string, Tensor>& made, double limit,
                   const std::function<std::vector<float>(const std::string&)>& read) {
    std::size_t compared = 0;
    for (const StoredTensor& stored : file.tensors()) {
        const std::string& name = stored.name;
        if (!name.starts_with("grad.") && name.find(".outputs") == std::string::npos &&
            name.find(".last_") == std::string::npos)
            continue;
        ++compared;
        ASSERT_TRUE(made.contains(name)) << name;
        EXPECT_LE(difference(read(name), file.read_f32(name)), limit) << name;
    }
    EXPECT_EQ(compared, made.size());
}

TEST(HostRecurrentGolden, EqualsPyTorch) {
    for (const NamedLayer& of : recurrent_layers()) {
        SCOPED_TRACE(of.name);
        const Safetensors file = Safetensors::open(golden / "recurrent" / text(of.name, ".safetensors"));
        Graph graph;
        std::vector<std::string> leaves;
        const std::map<std::string, Tensor> made = build_golden(graph, of, file, leaves);
        Arrays arrays;
        for (const std::string& name : leaves) {
            const std::vector<float> values = file.read_f32(name);
            arrays[name] = {graph.input_named(name).shape(), {values.begin(), values.end()}};
        }
        const std::vector<std::int32_t> lengths = integers(file, "lengths");
        arrays["lengths"] = {graph.input_named("lengths").shape(), {lengths.begin(), lengths.end()}};
        const Arrays found = interpret(graph, arrays);
        // Each number of the file is rounded once.
        expect_golden(file, made, std::ldexp(1.0, -24), [&](const std::string& name) {
            const std::vector<double>& values = found.at(name).at;
            return std::vector<float>(values.begin(), values.end());
        });
    }
}

TEST(DeviceRecurrentGolden, EqualsPyTorch) {
    for (const NamedLayer& of : recurrent_layers()) {
        SCOPED_TRACE(of.name);
        const Safetensors file = Safetensors::open(golden / "recurrent" / text(of.name, ".safetensors"));
        Graph graph;
        std::vector<std::string> leaves;
        const std::map<std::string, Tensor> made = build_golden(graph, of, file, leaves);
        State state(shared_device());
        Program program(shared_device(), graph, state);
        for (const std::string& name : leaves) program.write(name, file.read_f32(name));
        program.write("lengths", integers(file, "lengths"));
        program.run();
        // About 20 roundings of a number from one step to the next, over 7 steps, each of 2^-24, of random sign.
        expect_golden(file, made, 12.0 * std::ldexp(1.0, -24),
                      [&](const std::string& name) { return program.read(name); });
    }
}

}  // namespace
}  // namespace vkf::test

// Tuners of products: all kernels are right, and those in fp32 give the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/matmul/matmul.h"
#include "program/twice.h"

namespace vkf::test {
namespace {

/// Chooses one candidate, without trials.
class Named : public Autotuner {
public:
    explicit Named(std::string name) : name_(std::move(name)) {}
    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        const auto found = std::ranges::find(problem.candidates, name_);
        require(found != problem.candidates.end(), "there is no candidate ", name_);
        return static_cast<std::size_t>(found - problem.candidates.begin());
    }

private:
    std::string name_;
};

/// y = op(a) · op(b), lowered as for a GPU; k is cut.
std::vector<float> product(Autotuner& autotuner, bool transpose_a, bool transpose_b, std::int64_t odd,
                           DeviceTraits lowering = traits(shared_device())) {
    Device& device = shared_device();
    lowering.cpu = false;
    lowering.autotuner = &autotuner;
    lowering.flops_per_second = 1e9;  // small timing cases
    const std::int64_t m = 70 + odd, n = 66 + odd, k = 600 + odd;
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, transpose_a ? Shape{k, m} : Shape{m, k}});
    const Tensor b = graph.input("b", {DType::f32, transpose_b ? Shape{n, k} : Shape{k, n}});
    graph.output("y", matmul(a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b}));
    State state(device);
    Program program(device, graph, state, {.traits = lowering});
    std::vector<float> left(static_cast<std::size_t>(m * k)), right(static_cast<std::size_t>(k * n));
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = std::sin(static_cast<float>(i));
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = std::cos(static_cast<float>(i));
    program.write("a", left);
    program.write("b", right);
    program.run();
    return program.read("y");
}

TEST(DeviceAutotuner, AllImplementationsInFp32GiveTheSameBits) {
    const auto by = [](const std::string& name, bool transpose_a, std::int64_t odd) {
        Named named(name);
        return product(named, transpose_a, !transpose_a, odd);
    };
    for (const bool transpose_a : {false, true}) {
        const std::vector<float> lanes = by("subgroup", transpose_a, transpose_a);
        std::vector<std::string> tiles{"tile 64"};
        if (shared_device().info().max_group >= 256) tiles.emplace_back("tile 128");  // else it is not a candidate
        for (const std::string& name : tiles)
            EXPECT_EQ(std::memcmp(lanes.data(), by(name, transpose_a, transpose_a).data(), lanes.size() * 4), 0)
                << name << (transpose_a ? " TN odd" : " NT");
    }
}

TEST(DeviceAutotuner, FindsAllKernelsOfProductsRight) {
    std::string told;
    DeviceAutotuner tuner(shared_device(),
                          {.tell = [&](const std::string& line) { told += line; }, .budget_s = 1e6, .hopeless = 1e6});
    product(tuner, false, false, 0);
    EXPECT_NE(told.find("trying out kernels"), std::string::npos);
    EXPECT_EQ(told.find("left out"), std::string::npos) << told;
}

TEST(DeviceCooperativeAutotuner, FindsMatricesRight) {
    const DeviceTraits has = traits_with_matrices(shared_device());
    if (!has.matrices) GTEST_SKIP() << shared_device().info().name << " has no cooperative matrices";
    const Folder folder;
    std::string told;
    DeviceAutotuner tuner(shared_device(), {.implementation = "coopmat",
                                            .cache = place(folder.path),
                                            .tell = [&](const std::string& line) { told += line; },
                                            .budget_s = 1e6,
                                            .hopeless = 1e6});
    product(tuner, false, true, 1, has);
    EXPECT_EQ(told.find("left out"), std::string::npos) << told;
    const TuningCache kept = read_tuning_cache(shared_device().info(), place(folder.path));
    ASSERT_EQ(kept.chosen.size(), 1u);
    EXPECT_TRUE(kept.chosen.begin()->second.kernel.starts_with("coopmat ")) << kept.chosen.begin()->second.kernel;
}

TEST(HostRounding, OfProductsGoesWithTheActivations) {
    Graph graph;
    const auto may = [&](Format activations, bool differentiated, MatrixElement element) {
        graph.activations = activations;
        graph.differentiated = differentiated;
        return may_round(graph, element);
    };
    for (const bool gradients : {false, true}) {
        EXPECT_FALSE(may(Format::f32, gradients, MatrixElement::fp16));
        EXPECT_FALSE(may(Format::f32, gradients, MatrixElement::bf16));
        EXPECT_TRUE(may(Format::bf16, gradients, MatrixElement::bf16));
        EXPECT_TRUE(may(Format::f16, gradients, MatrixElement::fp16));
        EXPECT_FALSE(may(Format::f16, gradients, MatrixElement::bf16));
        EXPECT_EQ(may(Format::bf16, gradients, MatrixElement::fp16), !gradients);
    }
}

}  // namespace
}  // namespace vkf::test

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "base/error.h"
#include "device_fixture.h"
#include "graph/reference.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"
#include "ops/optimizer/optimizers.h"
#include "program/program.h"

#include <gtest/gtest.h>

namespace vkf::test {
namespace {

using Numbers = std::vector<double>;

constexpr double rate = 0.1, clip_factor = 0.25;
const std::vector<std::int64_t> sizes{1, 7, 4099, 0, 130, 64};
const std::vector<double> decays{0.0, 0.125, 0.25, 0.25, 0.0, 0.5};

/// An optimiser in two forms: as ops, and as a plain reference for one tensor in double.
struct Rule {
    std::string name;
    int moments;
    std::function<void(std::span<const Slot>, Tensor rates, Tensor clip)> build;
    std::function<void(Numbers& p, const Numbers& g, Numbers& m, Numbers& v, int t, double decay)> step;
    double beta1 = 0.9, beta2 = 0.999;
    double gradients = 1.0;  // spread of the gradients
};

void step_adamw(Numbers& p, const Numbers& g, Numbers& m, Numbers& v, int t, double decay, double eps) {
    for (std::size_t i = 0; i < p.size(); ++i) {
        p[i] *= 1 - rate * decay;
        m[i] = 0.9 * m[i] + 0.1 * g[i];
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
        const double m_hat = m[i] / (1 - std::pow(0.9, t)), v_hat = v[i] / (1 - std::pow(0.999, t));
        p[i] -= rate * m_hat / (std::sqrt(v_hat) + eps);
    }
}

void step_setadam(Numbers& p, const Numbers& gradient, Numbers& m, Numbers& v, int t, double decay, double eps) {
    if (p.empty()) return;
    const auto n = static_cast<double>(p.size());
    double length2 = 0, along_ones = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double g = gradient[i] + decay * p[i];
        m[i] = 0.9 * m[i] + 0.1 * g;
        v[i] = 0.999 * v[i] + 0.001 * g * g;
        length2 += v[i] * v[i];
        along_ones += v[i] / std::sqrt(n);
    }
    const double cosine2 = along_ones * along_ones / (length2 + 1e-20);
    Numbers w;
    for (const double x : v) w.push_back(std::sqrt(cosine2 * x / (1 - std::pow(0.999, t)) + eps));
    const double least = *std::min_element(w.begin(), w.end());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= rate / (1 - std::pow(0.9, t)) * m[i] / (w[i] - 0.5 * least);
}

void step_sgd(Numbers& p, const Numbers& gradient, Numbers& b, int t, double decay, double momentum, bool nesterov) {
    for (std::size_t i = 0; i < p.size(); ++i) {
        double g = gradient[i] + decay * p[i];
        if (momentum != 0) {
            b[i] = t == 1 ? g : momentum * b[i] + g;
            g = nesterov ? g + momentum * b[i] : b[i];
        }
        p[i] -= rate * g;
    }
}

Rule adam_rule(std::string name, bool set, double eps, double gradients) {
    const AdamOptions options{.eps = eps};
    return {std::move(name),
            2,
            [=](std::span<const Slot> slots, Tensor rates, Tensor clip) {
                set ? setadam(slots, rates, clip, options) : adamw(slots, rates, clip, options);
            },
            [=](Numbers& p, const Numbers& g, Numbers& m, Numbers& v, int t, double decay) {
                set ? step_setadam(p, g, m, v, t, decay, eps) : step_adamw(p, g, m, v, t, decay, eps);
            },
            0.9,
            0.999,
            gradients};
}

Rule sgd_rule(std::string name, float momentum, bool nesterov) {
    return {std::move(name), momentum != 0.0f ? 1 : 0,
            [=](std::span<const Slot> slots, Tensor rates, Tensor clip) {
                sgd(slots, rates, clip, {momentum, nesterov});
            },
            [=](Numbers& p, const Numbers& g, Numbers& m, Numbers&, int t, double decay) {
                step_sgd(p, g, m, t, decay, static_cast<double>(momentum), nesterov);
            }};
}

const std::vector<Rule> rules{
    adam_rule("adamw", false, 1e-8, 1.0),
    adam_rule("adamw_large_eps", false, 0.5, 1.0),
    adam_rule("adamw_small_gradients", false, 1e-8, 1e-5),
    adam_rule("setadam", true, 1e-8, 1.0),
    adam_rule("setadam_attentionx", true, 1e-18, 1e-3),
    adam_rule("setadam_guarded", true, 1e-8, 1e-4),  // Σv² is of the order of the guard
    sgd_rule("sgd", 0.0f, false),
    sgd_rule("sgd_momentum", 0.875f, false),
    sgd_rule("sgd_nesterov", 0.875f, true),
};

Numbers drawn(std::size_t count, unsigned seed, double spread) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Numbers numbers(count);
    for (double& x : numbers) x = static_cast<double>(static_cast<float>(spread * normal(random)));
    return numbers;
}

std::vector<float> floats(const Numbers& numbers) {
    return {numbers.begin(), numbers.end()};
}

/// Runs both forms of a rule step by step from the same start; `run` executes the ops' graph once on the named arrays.
class Race {
public:
    using Run = std::function<void(const Graph&, const Arrays& inputs, Arrays& states)>;

    Race(const Rule& rule, bool clipped) : rule_(rule), clipped_(clipped) {
        std::vector<Slot> slots;
        for (std::size_t s = 0; s < sizes.size(); ++s) {
            const TensorType type{DType::f32, {sizes[s]}};
            const auto state = [&](const char* name, const Numbers& start) {
                states_[text(name, s)] = {type.shape, start};
                return graph.state(text(name, s), type);
            };
            const std::size_t count = static_cast<std::size_t>(sizes[s]);
            p_.push_back(drawn(count, static_cast<unsigned>(s), 1.0));
            m_.emplace_back(count, 0.0);
            v_.emplace_back(count, 0.0);
            slots.push_back({.parameter = state("p", p_[s]),
                             .gradient = graph.input(text('g', s), type),
                             .m = rule.moments > 0 ? state("m", m_[s]) : Tensor(),
                             .v = rule.moments > 1 ? state("v", v_[s]) : Tensor(),
                             .weight_decay = static_cast<float>(decays[s])});
        }
        rule.build(slots, graph.input("rates", {DType::f32, {4}}),
                   clipped ? graph.input("clip", {DType::f32, {}}) : Tensor());
    }

    void check(const Run& run, double ulps) {
        for (int t = 1; t <= 6; ++t) {
            Arrays inputs;
            const std::array<float, 4> rates = step_rates(rate, rule_.beta1, rule_.beta2, t);
            inputs["rates"] = {{4}, Numbers(rates.begin(), rates.end())};
            if (clipped_) inputs["clip"] = {{}, {clip_factor}};
            for (std::size_t s = 0; s < sizes.size(); ++s) {
                Numbers g =
                    drawn(p_[s].size(), static_cast<unsigned>(100 * t) + static_cast<unsigned>(s), rule_.gradients);
                inputs[text('g', s)] = {{sizes[s]}, g};
                if (clipped_)
                    for (double& x : g) x *= clip_factor;
                rule_.step(p_[s], g, m_[s], v_[s], t, decays[s]);
            }
            run(graph, inputs, states_);
            for (std::size_t s = 0; s < sizes.size(); ++s) {
                compare(text('p', s), p_[s], t, ulps);
                if (rule_.moments > 0) compare(text('m', s), m_[s], t, ulps);
                if (rule_.moments > 1) compare(text('v', s), v_[s], t, ulps);
            }
        }
    }

    Graph graph;
    const Arrays& states() const { return states_; }

private:
    void compare(const std::string& name, const Numbers& wanted, int t, double ulps) {
        double scale = 0;
        for (const double w : wanted) scale = std::max(scale, std::abs(w));
        const Numbers& found = states_.at(name).at;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            ASSERT_NEAR(found[i], wanted[i], ulps * std::ldexp(scale, -24))
                << rule_.name << ": " << name << ", element " << i << ", step " << t;
    }

    const Rule& rule_;
    bool clipped_;
    Arrays states_;
    std::vector<Numbers> p_, m_, v_;
};

std::string rule_name(const ::testing::TestParamInfo<std::tuple<Rule, bool>>& info) {
    return std::get<0>(info.param).name + (std::get<1>(info.param) ? "_clipped" : "");
}

class HostOptimizer : public ::testing::TestWithParam<std::tuple<Rule, bool>> {};
class DeviceOptimizer : public ::testing::TestWithParam<std::tuple<Rule, bool>> {};

TEST_P(HostOptimizer, ReferenceStepsAsWrittenOut) {
    const auto& [rule, clipped] = GetParam();
    Race(rule, clipped)
        .check(
            [](const Graph& graph, const Arrays& inputs, Arrays& states) {
                Arrays leaves = states;
                leaves.insert(inputs.begin(), inputs.end());
                for (auto& [name, array] : interpret(graph, leaves)) states.at(name) = array;
            },
            4);  // the rates are rounded to float
}

TEST_P(DeviceOptimizer, KernelsStepAsWrittenOut) {
    const auto& [rule, clipped] = GetParam();
    Race race(rule, clipped);
    State state(shared_device());
    Program program(shared_device(), race.graph, state);
    for (const auto& [name, array] : race.states()) state.write(name, floats(array.at));
    race.check(
        [&](const Graph&, const Arrays& inputs, Arrays& states) {
            for (const auto& [name, array] : inputs) program.write(name, floats(array.at));
            program.run();
            for (auto& [name, array] : states) {
                const std::vector<float> found = state.read(name);
                array.at.assign(found.begin(), found.end());
            }
        },
        64);  // about ten roundings a step, six steps; SET-Adam also sums over the tensor
}

INSTANTIATE_TEST_SUITE_P(Rules, HostOptimizer, ::testing::Combine(::testing::ValuesIn(rules), ::testing::Bool()),
                         rule_name);
INSTANTIATE_TEST_SUITE_P(Rules, DeviceOptimizer, ::testing::Combine(::testing::ValuesIn(rules), ::testing::Bool()),
                         rule_name);

class DeviceSkippedStep : public ::testing::TestWithParam<Rule> {};

TEST_P(DeviceSkippedStep, LeavesEveryBitWhateverTheGradient) {
    Race race(GetParam(), true);
    Arrays inputs{{"rates", {{4}, {1, 1, 1, 1}}}, {"clip", {{}, {-1}}}}, states = race.states();
    for (std::size_t s = 0; s < sizes.size(); ++s) {
        const double nothing = s % 2 ? std::nan("") : std::numeric_limits<double>::infinity();
        inputs[text('g', s)] = {{sizes[s]}, Numbers(static_cast<std::size_t>(sizes[s]), nothing)};
    }
    for (auto& [name, array] : states)  // includes subnormal numbers, which a step would flush
        for (std::size_t i = 0; i < array.at.size(); ++i) array.at[i] = i % 3 ? 0x1p-130 : 0.75 + std::abs(array.at[i]);
    Arrays leaves = states;
    leaves.insert(inputs.begin(), inputs.end());
    const Arrays kept = interpret(race.graph, leaves);
    State state(shared_device());
    Program program(shared_device(), race.graph, state);
    for (const auto& [name, array] : states) state.write(name, floats(array.at));
    for (const auto& [name, array] : inputs) program.write(name, floats(array.at));
    program.run();
    for (const auto& [name, array] : states) {
        EXPECT_EQ(kept.at(name).at, array.at) << name;
        EXPECT_EQ(state.read(name), floats(array.at)) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Rules, DeviceSkippedStep, ::testing::ValuesIn(rules),
                         [](const auto& test) { return test.param.name; });

class DeviceManyParameters : public ::testing::TestWithParam<Rule> {};

/// All outputs of a step, numbered in order, with `per_node` parameters per node.
std::map<std::string, std::vector<float>> stepped(const Rule& rule, std::size_t per_node) {
    constexpr std::size_t count = 100;
    Graph graph;
    Arrays inputs;
    const auto input = [&](const std::string& name, std::int64_t size, double spread) {
        const auto seed = static_cast<unsigned>(inputs.size());
        inputs[name] = {{size}, drawn(static_cast<std::size_t>(size), seed, spread)};
        return graph.input(name, {DType::f32, {size}});
    };
    std::vector<Slot> slots;
    for (std::size_t s = 0; s < count; ++s) {
        // Sizes: none, one, many; odd and even; several workgroups.
        const auto size = static_cast<std::int64_t>(s % 10 == 3    ? 0
                                                    : s % 10 == 7  ? 1
                                                    : s % 25 == 24 ? 5000 + s
                                                                   : 3 * s);
        // In the arena, between guard bands. One gradient starts at an odd element.
        const auto made = [&](const char* name) { return scale(input(text(name, s), size, 1.0), 1.0f); };
        Slot slot{.parameter = made("p"), .gradient = made("g"), .weight_decay = s % 2 ? 0.0f : 0.125f};
        if (s == 42)
            slot.gradient = reshape(slice(reshape(input("wide", size + 2, 1.0), {size + 2, 1}), 0, 1, size), {size});
        if (rule.moments > 0) slot.m = made("m");
        if (rule.moments > 1) {
            const Tensor root = made("v");
            slot.v = mul(root, root);
        }
        slots.push_back(slot);
    }
    const Tensor rates = graph.input("rates", {DType::f32, {4}}), clip = graph.input("clip", {DType::f32, {}});
    std::size_t outputs = 0;
    for (std::size_t first = 0; first < count; first += per_node) {
        rule.build(std::span(slots).subspan(first, per_node), rates, clip);
        for (const Tensor& out : graph.nodes().back().out) {
            const std::string name = text("output ", outputs++);
            if (out.elements() > 0) graph.output(name, out);
        }
    }
    State state(shared_device());
    DeviceTraits many_units = traits(shared_device());
    many_units.compute_units = 1024;  // all chunks have their smallest size: SET-Adam's sums are the same
    Program program(shared_device(), graph, state, {.guarded = true, .traits = many_units});
    for (const auto& [name, array] : inputs) program.write(name, floats(array.at));
    program.write("rates", step_rates(rate, 0.9, 0.999, 3));
    program.write("clip", std::vector<float>{0.25f});
    program.run();
    EXPECT_EQ(program.damaged_guards(), "");
    std::map<std::string, std::vector<float>> found;
    for (const NamedTensor& output : graph.outputs()) found[output.name] = program.read(output.name);
    return found;
}

TEST_P(DeviceManyParameters, StepTogetherAsEachByItself) {
    const auto in_one = stepped(GetParam(), 100), one_by_one = stepped(GetParam(), 1);
    EXPECT_EQ(in_one, one_by_one);
}

INSTANTIATE_TEST_SUITE_P(Rules, DeviceManyParameters, ::testing::ValuesIn(rules),
                         [](const auto& test) { return test.param.name; });

TEST(HostOptimizerRates, AreExactToTheLastBitOfAFloat) {
    for (const std::int64_t t : {1, 2, 10, 1000, 1000000}) {
        const long double beta1 = 0.9, beta2 = 0.95;  // as doubles
        const auto power = static_cast<long double>(t);
        const std::array<float, 4> rates = step_rates(6e-4, 0.9, 0.95, t);
        EXPECT_EQ(rates[0], 6e-4f);
        EXPECT_FLOAT_EQ(rates[1], static_cast<float>(6e-4L / (1 - std::pow(beta1, power))));
        EXPECT_FLOAT_EQ(rates[2], static_cast<float>(1 / (1 - std::pow(beta2, power))));
        EXPECT_FLOAT_EQ(rates[3], static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, power))));
    }
    EXPECT_THROW(step_rates(1e-3, 0.9, 0.999, 0), InputError);
}

TEST(HostOptimizerShapes, RefusesWhatDoesNotFit) {
    Graph graph;
    const TensorType type{DType::f32, {3}};
    const Tensor rates = graph.input("rates", {DType::f32, {4}});
    Slot slot{graph.state("p", type), graph.input("g", type), graph.state("m", type), graph.state("v", type)};
    Slot other = slot;
    other.gradient = graph.input("wide", {DType::f32, {4}});
    EXPECT_THROW(adamw(std::span(&other, 1), rates, {}), InputError);
    other = slot;
    other.v = {};
    EXPECT_THROW(adamw(std::span(&other, 1), rates, {}), InputError);
    EXPECT_THROW(adamw(std::span(&slot, 1), graph.input("few", {DType::f32, {3}}), {}), InputError);
    EXPECT_THROW(adamw(std::span(&slot, 1), rates, graph.input("clips", {DType::f32, {2}})), InputError);
    EXPECT_THROW(setadam(std::span(&slot, 1), rates, {}, {.eps = 0}), InputError);
    EXPECT_EQ(sgd({}, rates, {}).size(), 0u);
    EXPECT_EQ(sgd(std::span(&slot, 1), rates, {}).size(), 1u);
    slot.parameter = graph.state("another", type);
    EXPECT_THROW(sgd(std::array{slot, slot}, rates, {}), InputError);
}

TEST(DeviceOptimizer, MomentsOfADeadParameterReachZeroInsteadOfSubnormals) {
    Graph graph;
    const TensorType type{DType::f32, {5}};
    const Slot slot{graph.state("p", type), graph.input("g", type), graph.state("m", type), graph.state("v", type)};
    adamw(std::span(&slot, 1), graph.input("rates", {DType::f32, {4}}), {});
    State state(shared_device());
    Program program(shared_device(), graph, state);
    state.write("m", std::vector<float>(5, 1.05e-30f));
    state.write("v", std::vector<float>(5, 1.0005e-30f));
    const std::array<float, 4> rates = step_rates(1.0, 0.9, 0.999, 1000);
    program.write("rates", rates);
    program.run();
    EXPECT_EQ(state.read("m"), std::vector<float>(5, 0.0f));
    EXPECT_EQ(state.read("v"), std::vector<float>(5, 0.0f));
}

}  // namespace
}  // namespace vkf::test

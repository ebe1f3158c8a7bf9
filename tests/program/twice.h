// An op with right and wrong kernels, and an autotuner that chooses between them.
#pragma once

#include <stdlib.h>

#include <bit>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/elementwise.h"
#include "ops/tuning.h"
#include "program/autotuner.h"
#include "program/program.h"

namespace vkf::test {

/// A temporary folder, which the destructor removes.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "tuner.XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    Folder(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path;
};

/// Place of tuning caches in the folder, for all tuned kernels.
inline TuningCachePlace place(const std::filesystem::path& folder) {
    return {folder, tuned_kernels()};
}

/// y = 2 x by kernels that are not all right. Constants and arguments decide which mistake a kernel makes.
class TwiceOp : public Op {
public:
    TwiceOp(std::vector<std::string> candidates, std::string family)
        : candidates_(std::move(candidates)), family_(std::move(family)) {}

    std::string_view name() const override { return "twice"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[0]}; }
    void lower(Lowering& lowering) const override {
        const std::string how = candidates_[lowering.device.autotuner->choose(lowering.device, problem())];
        const std::uint32_t count = checked_u32(lowering.in[0].elements());
        const auto dispatch = [&](ElementStep::Kind kind, std::uint32_t elements, float number,
                                  std::uint64_t groups = 1) {
            Dispatch made{.kernel = how == "tile missing" ? "nonesuch" : "elementwise",
                          .constants = {{"GROUP", lowering.device.subgroup_size},
                                        {"EACH", 1u},
                                        {"INPUTS", kind == ElementStep::Kind::fill ? 0u : 1u},
                                        {"STEP0", static_cast<std::uint32_t>(kind)}},
                          .args = {{"x0", kind == ElementStep::Kind::fill ? Tensor() : lowering.in[0]},
                                   {"y", lowering.out[0]},
                                   {"count", elements},
                                   {"per_group", elements},
                                   {"w0", std::bit_cast<std::uint32_t>(number)}},
                          .groups = groups,
                          .flops = 1};
            for (const char* name : {"x1", "x2", "x3", "x4", "x5", "seed"}) made.args.emplace_back(name, ArgValue{});
            for (const char* name : {"div", "mod", "w1", "w2", "w3", "w4", "w5"}) made.args.emplace_back(name, 0u);
            lowering.dispatch(std::move(made));
        };
        const bool cpu = shared_device().info().kind == DeviceKind::cpu;
        if (how == "coopmat slow") dispatch(ElementStep::Kind::scale, count, 2.0f, std::uint64_t{1} << (cpu ? 21 : 27));
        if (how == "coopmat endless")
            dispatch(ElementStep::Kind::scale, count, 2.0f,
                     cpu ? std::uint64_t{1} << 26 : std::uint64_t{65535} * 65535);
        if (how == "coopmat greedy") dispatch(ElementStep::Kind::fill, count + 16, 5.0f);
        dispatch(ElementStep::Kind::scale, count, how == "coopmat wrong" ? 0.0f : 2.0f);
    }

private:
    TuningProblem problem() const {
        const auto made = [list = candidates_, family = family_] {
            auto of = std::make_unique<TuningCase>();
            const Tensor x = scale(of->graph.input("x", {DType::f32, {100}}), 1.0f);
            of->graph.output("y", add_one(of->graph, TwiceOp(list, family), {x}));
            of->op = "twice";
            of->operands = [] {
                TuningOperands tried{.inputs = {{"x", std::vector<float>(100, 3.0f)}}, .expected = {}};
                for (std::size_t i = 0; i < 100; ++i) tried.expected.at.push_back(i);
                tried.expected.values.assign(100, 6.0);
                tried.expected.bounds.assign(100, 0.0);
                return tried;
            };
            return of;
        };
        return {family_, family_, candidates_, made, made};
    }

    std::vector<std::string> candidates_;
    std::string family_;
};

/// Runs TwiceOp with an autotuner on the test's device, lowered as for a GPU; holds the result, the error and the lines
/// that the autotuner told.
struct Asked {
    std::vector<float> y;
    std::string error;
    bool hung = false;
    std::string told;

    Asked(const std::vector<std::string>& candidates, AutotunerOptions options, const std::string& family = "twice",
          Device& device = shared_device()) {
        if (options.budget_s > 0) options.budget_s = 1e6;  // so that slow machines pass too
        options.tell = [this](const std::string& line) { told += line + '\n'; };
        try {
            DeviceAutotuner tuner(device, options);
            DeviceTraits lowering = traits(device);
            lowering.cpu = false;
            lowering.autotuner = &tuner;
            Graph graph;
            graph.output("y", add_one(graph, TwiceOp(candidates, family), {graph.input("x", {DType::f32, {3}})}));
            State state(device);
            Program program(device, graph, state, {.traits = lowering});
            program.write("x", std::vector{1.0f, 2.0f, 3.0f});
            program.run();
            y = program.read("y");
        } catch (const Error& caught) {
            error = caught.what();
            hung = dynamic_cast<const DeviceHang*>(&caught) != nullptr;
        }
    }
};

inline const std::vector<float> doubled{2, 4, 6};

}  // namespace vkf::test

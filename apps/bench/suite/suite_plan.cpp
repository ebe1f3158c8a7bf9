#include "apps/bench/suite/suite_plan.h"

#include <algorithm>
#include <array>

#include "apps/bench/bench_cases.h"
#include "apps/bench/bench_models.h"
#include "apps/bench/bench_timing.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

/// Sentences on what the plan of each version changed, the first version first.
constexpr std::array<const char*, SUITE_VERSION> SUITE_CHANGES = {"the first plan"};

constexpr std::int64_t CALLS = 3;  // repetitions of a whole model that are timed at least

struct StepSize {
    int step;
    const char* model;
    BatchSize size;
};

/// Batches of training steps. SmolLM2's first size is the one that other programs are compared at.
constexpr StepSize STEP_SIZES[] = {
    {0, "small-gpt", {12, 64}},   {0, "vit-small", {1, 0}},   {0, "gpt2", {1, 64}},    {0, "smollm2", {1, 128}},
    {1, "small-gpt", {128, 64}},  {1, "vit-small", {16, 0}},  {1, "gpt2", {1, 1024}},  {1, "smollm2", {4, 512}},
    {2, "small-gpt", {1024, 64}}, {2, "vit-small", {128, 0}}, {2, "gpt2", {16, 1024}}, {2, "smollm2", {16, 1024}},
};

struct TextSize {
    int step;
    const char* model;
    GenerationSize size;
};

/// Prompts, and texts that are written at once.
constexpr TextSize TEXT_SIZES[] = {
    {0, "small-gpt", {32, 1}}, {0, "gpt2", {128, 1}},      {0, "smollm2", {128, 1}}, {1, "gpt2", {512, 1}},
    {1, "smollm2", {512, 1}},  {1, "small-gpt", {32, 16}}, {2, "gpt2", {512, 16}},   {2, "smollm2", {512, 16}},
};

/// Kernels by family and name: products and attention of the models, at the sizes of a CPU's batches, then a GPU's.
struct KernelSize {
    int step;
    CaseSizes sizes;
    const char* pattern;
};

constexpr KernelSize KERNEL_SIZES[] = {
    {0, CaseSizes::small, "^matmul (square|small GPT c_fc|GPT-2 c_fc)"},
    {0, CaseSizes::small, "^attention (small GPT|ViT|GPT-2) (forward|backward)"},
    {1, CaseSizes::large, "^matmul (square 4096x|GPT-2 c_fc .*16384)"},
    {1, CaseSizes::large, "^attention (GPT-2|wide heads)"},
    {2, CaseSizes::large, "^matmul (square 8192x|GPT-2 c_fc .*65536)"},
};

std::string precision_name(Format activations) {
    return activations == Format::f32 ? "fp32" : activations == Format::bf16 ? "bf16" : "fp16";
}

SuiteItem kernel_item(int step, const Case& c, Format activations) {
    return {.step = step,
            .what = {c.family, c.name, c.layout.empty() ? c.shape : c.shape + ' ' + c.layout,
                     precision_name(activations), ""},
            .prepare = [=](Device& device) -> PreparedItem {
                return {analyse_case(device, c, activations), [=, &device](double seconds) {
                            std::string reason;
                            const auto made =
                                time_case(device, c, {.seconds = seconds, .activations = activations}, reason);
                            if (!made) throw Error(c.name, ' ', c.shape, ": ", reason);
                            return std::vector{*made};
                        }};
            }};
}

SuiteItem step_item(const StepSize& at, const std::string& attention, Format activations, const std::string& kernels) {
    BenchModel model = chosen_models(at.model, attention, at.size).front();
    model.trainer.activations = activations;
    return {.step = at.step,
            .what = {"step", model.measured_name(), model.shape, precision_name(activations), ""},
            .prepare = [=](Device& device) -> PreparedItem {
                BenchModel here = model;
                here.trainer = with_device_defaults(here.trainer, device);
                const Analysis analysis = analyse_step(device, here);
                return {analysis, [=, &device](double seconds) {
                            return std::vector{time_step(device, here, analysis, kernels, seconds, CALLS)};
                        }};
            }};
}

SuiteItem text_item(const TextSize& at, const std::string& attention, Format activations) {
    const BenchModel model = chosen_models(at.model, attention).front();
    const GenerationSize size = at.size;
    const std::int64_t length = size.length(model.config);
    return {.step = at.step,
            .what = {"generate", model.measured_name(),
                     text(size.rows > 1 ? text(size.rows, " texts, ") : "", "prompt of ", length, " tokens"),
                     precision_name(activations), ""},
            .prepare = [=](Device& device) -> PreparedItem {
                return {analyse_generation(device, model.config, activations, size), [=, &device](double seconds) {
                            auto made = time_generation(device, model, activations, size, seconds, CALLS);
                            made.back().shape += text(" after ", length);  // a token's time depends on the prompt
                            return made;
                        }};
            }};
}

}  // namespace

std::vector<std::string> suite_changes_since(int older) {
    std::vector<std::string> made;
    for (int version = std::max(older, 0) + 1; version <= SUITE_VERSION; ++version)
        made.push_back(text("version ", version, ": ", SUITE_CHANGES[static_cast<std::size_t>(version - 1)]));
    return made;
}

std::vector<SuiteItem> suite_plan(Format half, const std::string& kernels) {
    const std::array precisions{Format::f32, half};
    std::vector<SuiteItem> plan;
    for (const KernelSize& at : KERNEL_SIZES)
        for (const Case& c : chosen_cases(at.pattern, at.sizes))
            for (const Format activations : precisions) plan.push_back(kernel_item(at.step, c, activations));
    for (const char* attention : {"standard", "belief-star"})
        for (const Format activations : precisions) {
            for (const StepSize& at : STEP_SIZES) plan.push_back(step_item(at, attention, activations, kernels));
            for (const TextSize& at : TEXT_SIZES) plan.push_back(text_item(at, attention, activations));
        }
    std::ranges::stable_sort(plan, {}, &SuiteItem::step);
    return plan;
}

std::vector<ReportModel> suite_models() {
    std::vector<ReportModel> made;
    for (const StepSize& at : STEP_SIZES) {
        if (at.step > 0) continue;
        const BenchModel model = chosen_models(at.model).front();
        std::int64_t parameters = 0;
        const Parameters all = model.parameters();
        for (const Parameter& p : all.list()) parameters += p.shape.elements();
        made.push_back({model.name, model.title, parameters});
    }
    return made;
}

}  // namespace vkf

// vkformer bench compile: compiles every kernel that the device may choose and reports the driver's figures; runs none.

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/bench/bench_cases.h"
#include "apps/bench/bench_models.h"
#include "apps/bench/compile_report.h"
#include "apps/cli/command.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "apps/inspect/analysis.h"
#include "base/files/file.h"
#include "base/os/os.h"
#include "base/text/json_text.h"
#include "graph/kernel_variants.h"
#include "models/train/step_graphs.h"
#include "passes/run_passes.h"
#include "program/kernel_constants.h"
#include "vulkan/device/device.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

struct BenchCompileOptions {
    std::string only, model, out, markdown, isa;
    bool every_precision = true;
};

struct Precision {
    const char* name;
    Format activations;
};
constexpr Precision PRECISIONS[] = {{"fp32", Format::f32}, {"bfloat16", Format::bf16}, {"float16", Format::f16}};

/// A row of the report before its kernel is compiled, and the kernel's constants.
struct Work {
    CompiledKernel row;
    KernelConstants constants;
};

nlohmann::ordered_json constants_document(const KernelVariant& variant) {
    nlohmann::ordered_json made = nlohmann::ordered_json::object();
    for (const auto& [name, value] : variant.constants) std::visit([&](auto v) { made[name] = v; }, value);
    return made;
}

/// List of kernels with their constants, each once, with the first node that may run it; only kernels of the
/// implementation that --kernels names.
class WorkList {
public:
    WorkList(const Device& device, std::string implementation)
        : device_(device), implementation_(std::move(implementation)) {}

    /// Adds kernels of a graph's nodes [begin, end); `row` describes a node.
    void add(const Graph& graph, std::size_t begin, std::size_t end,
             const std::function<CompiledKernel(const Node&)>& row) {
        for (const KernelVariant& variant : kernel_variants(graph, traits(device_, graph))) {
            if (variant.node < begin || variant.node >= end || !wanted(variant)) continue;
            KernelConstants constants = kernel_constants(variant.constants);
            const auto [at, fresh] = known_.try_emplace({variant.kernel, constants}, list.size());
            if (fresh) {
                list.push_back({row(graph.nodes()[variant.node]), std::move(constants)});
                list.back().row.kernel = variant.kernel;
                list.back().row.implementation = variant.implementation;
                list.back().row.constants = constants_document(variant);
            }
            ++list[at->second].row.uses;
        }
    }

    std::vector<Work> list;

private:
    bool wanted(const KernelVariant& variant) const {
        return implementation_ == "auto" || (variant.implementation + ' ').starts_with(implementation_ + ' ');
    }

    const Device& device_;
    std::string implementation_;
    std::map<std::pair<std::string, KernelConstants>, std::size_t> known_;
};

void add_case(WorkList& list, const Case& c, const Precision& precision) {
    const CaseGraph made(c, 1, precision.activations);
    list.add(made.graph, made.begins[0], made.ends[0], [&](const Node&) {
        return CompiledKernel{
            .precision = precision.name, .family = c.family, .name = c.name, .shape = c.shape, .layout = c.layout};
    });
}

/// Adds the kernels of a training step.
void add_model(WorkList& list, const Device& device, const BenchModel& model, const Precision& precision) {
    TrainerConfig config = model.trainer;
    config.activations = precision.activations;
    StepGraphs graphs(model.loss, with_device_defaults(config, device));
    run_passes(graphs.step, passes_for(traits(device, graphs.step)));
    list.add(graphs.step, 0, graphs.step.nodes().size(), [&](const Node& node) {
        const std::string part = part_of(node.scope);
        return CompiledKernel{.precision = precision.name,
                              .family = "step",
                              .name = text(model.title, ' ', part, part.empty() ? "" : " ", node.op->name()),
                              .shape = text(node.out[0].shape())};
    });
}

std::vector<Work> work_of(const Device& device, const Common& common, const BenchCompileOptions& o) {
    WorkList made(device, common.kernels);
    for (const Precision& precision : PRECISIONS) {
        if (!o.every_precision && precision.activations != common.activations()) continue;
        if (o.model.empty())
            for (const Case& c : chosen_cases(o.only)) add_case(made, c, precision);
        else
            for (const BenchModel& model : chosen_models(o.model)) add_model(made, device, model, precision);
    }
    require(!made.list.empty(), "--kernels is ", common.kernels, ", which computes none of this on ",
            device.info().name);
    return std::move(made.list);
}

/// Fills in the driver's figures; writes the machine code into `folder` unless the name is empty.
void compile(const Device& device, Work& work, const std::string& folder, int number) {
    CompiledKernel& row = work.row;
    DriverStatistics made;
    try {
        made = driver_statistics(device, {row.kernel, work.constants});
    } catch (const std::exception& error) {
        row.error = error.what();
        return;
    }
    row.compile_ms = made.compile_ms;
    row.figures = kernel_figures(made);
    row.statistics = std::move(made.numbers);
    if (folder.empty() || made.texts.empty()) return;
    row.isa = text(row.kernel, '-', number, ".isa");
    write_atomically(fs::path(folder) / row.isa,
                     text("; ", row.kernel, ' ', constants_text(row), '\n', made.texts.back().second));
}

void require_outputs(const BenchCompileOptions& o) {
    for (const std::string& file : {o.out, o.markdown})
        if (!file.empty()) require_directory_of(file);
    require(o.out.empty() || o.out != o.markdown, "two reports are to be written to ", o.out,
            ": wanted a file for each");
    if (o.isa.empty()) return;
    require_directory_of(o.isa);
    std::error_code ignored;
    require(!fs::exists(o.isa, ignored) || (fs::is_directory(o.isa, ignored) && fs::is_empty(o.isa, ignored)), "--isa ",
            o.isa, " is there already, wanted a new or an empty directory");
}

void bench_compile(const Common& common, const BenchCompileOptions& o) {
    require_outputs(o);
    // Times compilers, not the caches of drivers.
    os::set_environment("MESA_SHADER_CACHE_DISABLE", os::environment("MESA_SHADER_CACHE_DISABLE").value_or("1"));
    os::set_environment("__GL_SHADER_DISK_CACHE", os::environment("__GL_SHADER_DISK_CACHE").value_or("0"));
    catch_interrupts();
    with_device(common, [&](Device& device) {
        require(has_driver_statistics(device), device.info().name,
                " has no VK_KHR_pipeline_executable_properties: its driver says nothing of the kernels it compiles");
        std::vector<Work> list = work_of(device, common, o);
        if (!o.isa.empty()) fs::create_directory(o.isa);
        Progress progress(common, "bench compile", "kernels", std::ssize(list));
        CompileReport report{.head = report_head(device), .kernels = {}};
        std::map<std::string, int> numbers;
        std::int64_t failed = 0;
        for (Work& work : list) {
            stop_if_interrupted();
            compile(device, work, o.isa, ++numbers[work.row.kernel]);
            if (!work.row.error.empty()) {
                ++failed;
                progress.line(text(work.row.kernel, ' ', constants_text(work.row), ": ", work.row.error));
            }
            report.kernels.push_back(std::move(work.row));
            progress.update(std::ssize(report.kernels), report.kernels.back().kernel);
        }
        const auto rows = rows_of(report);
        if (!o.out.empty()) write_atomically(o.out, document_text(document(report)));
        if (!o.markdown.empty()) write_atomically(o.markdown, heading(report.head) + "\n\n" + markdown(rows));
        if (common.json)
            print_json(document(report));
        else
            print(heading(report.head) + "\n\n" + table(rows));
        if (failed > 0) throw Error(failed, " of ", list.size(), " kernels were not compiled");
    });
}

}  // namespace

void add_bench_compile(cli::Command& bench, Common& common) {
    auto o = std::make_shared<BenchCompileOptions>();
    cli::Command& command =
        bench.add_subcommand("compile", "What the driver makes of every kernel the device may choose: none is run");
    add_common(command, common);
    command.add_option("--only", o->only, "Only cases of bench kernels whose family, name, shape and layout match")
        .type_name("PATTERN");
    command.add_option("--model", o->model, text("A training step of ", listed(bench_model_names()), " instead"))
        .type_name("NAME")
        .excludes("--only");
    command.add_option("--isa", o->isa, "Write the machine code into a new directory").type_name("DIR");
    command.add_option("--out", o->out, "Write the JSON document here too").type_name("FILE.json");
    command.add_option("--markdown", o->markdown, "Write the table as Markdown").type_name("FILE.md");
    command.footer(
        "Examples:\n"
        "  vkformer bench compile --only matmul --kernels tile --isa isa\n"
        "  vkformer bench compile --model vit --precision mixed --out mixed.json --markdown mixed.md\n"
        "\n"
        "Without --precision in all of them, and without --kernels by every implementation. Each kernel with its\n"
        "constants is compiled once, for the first case that may run it. A dash: the driver does not say. Spills "
        "count\n"
        "registers or instructions, as the driver does; cycles are the compiler's estimate.");
    command.callback([o, &command, &common] {
        o->every_precision = command.count("--precision") == 0;
        bench_compile(common, *o);
    });
}

}  // namespace vkf

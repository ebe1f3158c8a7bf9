// What a driver made of kernels: on paper, in a file, and read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench_report.h"
#include "vulkan/kernel_figures.h"

namespace vkf {

/// A kernel with its constants, and the first of the computations that may run it.
struct CompiledKernel {
    std::string kernel, implementation;  // the latter is empty where there is no choice
    std::string precision;
    std::string family, name, shape, layout;
    std::int64_t uses = 0;  // nodes of graphs that may run it
    nlohmann::ordered_json constants = nlohmann::ordered_json::object();
    double compile_ms = 0;
    KernelFigures figures = {};
    std::vector<std::pair<std::string, double>> statistics = {};  // the driver's own
    std::string isa = {};                                         // the file with its instructions, if there is one
    std::string error = {};                                       // why it was not compiled
};

struct CompileReport {
    ReportHead head;
    std::vector<CompiledKernel> kernels;
};

nlohmann::ordered_json document(const CompileReport& report);
/// Whether the document is one of these, and not of something that was measured.
bool is_compile_report(const nlohmann::json& root);
/// Throws InputError naming the file if it is no such document.
CompileReport read_compile_report(const std::filesystem::path& path);

/// "TILE_M=64 TILE_N=64"
std::string constants_text(const CompiledKernel& of);
std::string figure_text(const std::optional<double>& figure);                 // "-" where there is none
nlohmann::ordered_json figure_document(const std::optional<double>& figure);  // null where there is none

/// Columns of text for people; the first row is the heading.
std::vector<std::vector<std::string>> rows_of(const CompileReport& report);

/// Kernels that both have compiled, in A's order, and how many only one has.
struct CompileComparison {
    std::vector<std::pair<const CompiledKernel*, const CompiledKernel*>> pairs;
    std::int64_t only_a = 0, only_b = 0;
};
/// They are the same if the same computation runs them by the same implementation in the same precision; where that
/// has several of one name, by their order.
CompileComparison compare(const CompileReport& a, const CompileReport& b);

}  // namespace vkf

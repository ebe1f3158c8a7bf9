// Report of kernels that a driver compiled: as a table, as a file, and read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/bench_report.h"
#include "vulkan/kernel/kernel_figures.h"

namespace vkf {

/// A kernel with its constants, and the first computation that may run it.
struct CompiledKernel {
    std::string kernel, implementation;  // implementation is empty if there is no choice
    std::string precision;
    std::string family, name, shape, layout;
    std::int64_t uses = 0;  // nodes of graphs that may run it
    nlohmann::ordered_json constants = nlohmann::ordered_json::object();
    double compile_ms = 0;
    KernelFigures figures = {};
    std::vector<std::pair<std::string, double>> statistics = {};  // as the driver names them
    std::string isa = {};                                         // file with its instructions; empty if there is none
    std::string error = {};                                       // reason if it was not compiled
};

struct CompileReport {
    ReportHead head;
    std::vector<CompiledKernel> kernels;
};

nlohmann::ordered_json document(const CompileReport& report);
/// True if the document is a compile report, not a report of measurements.
bool is_compile_report(const nlohmann::json& root);
/// Reads a compile report. Throws InputError naming the file if it is not one.
CompileReport read_compile_report(const std::filesystem::path& path);

/// "TILE_M=64 TILE_N=64"
std::string constants_text(const CompiledKernel& kernel);
std::string figure_text(const std::optional<double>& figure);                 // "-" if there is none
nlohmann::ordered_json figure_document(const std::optional<double>& figure);  // null if there is none

/// Table of a report, as rows of text; the first row is the heading.
std::vector<std::vector<std::string>> rows_of(const CompileReport& report);

/// Kernels that both reports have, in A's order, and the number that only one has.
struct CompileComparison {
    std::vector<std::pair<const CompiledKernel*, const CompiledKernel*>> pairs;
    std::int64_t only_a = 0, only_b = 0;
};
/// Pairs kernels of one name that the same computation runs by the same implementation in the same precision; several
/// such kernels are paired in their order.
CompileComparison compare(const CompileReport& a, const CompileReport& b);

}  // namespace vkf

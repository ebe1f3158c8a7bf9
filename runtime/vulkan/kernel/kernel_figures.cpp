#include "vulkan/kernel/kernel_figures.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace vkf {

namespace {

struct Statistic {
    std::string_view name;
    Figure figure;
    double scale = 1;
};

/// Statistics' names: Mesa's, by driver, and the known one of NVIDIA's own driver.
constexpr Statistic STATISTICS[] = {
    // RADV
    {"VGPRs", Figure::registers},
    {"Spilled VGPRs", Figure::spills},
    {"Spilled SGPRs", Figure::spills},
    {"Scratch size", Figure::scratch_bytes},
    {"LDS size", Figure::shared_bytes},
    {"Subgroups per SIMD", Figure::occupancy},
    {"Instructions", Figure::instructions},
    {"Latency", Figure::cycles},
    // NVK
    {"Number of GPRs", Figure::registers},
    {"Spills to memory", Figure::spills},
    {"SLM size", Figure::scratch_bytes},
    {"Max warps/SM", Figure::occupancy},
    {"Instruction count", Figure::instructions},
    {"Static cycle count", Figure::cycles},
    // ANV, whose number of instructions has RADV's name
    {"Max live registers", Figure::registers},
    {"Spills", Figure::spills},
    {"Scratch Memory Size", Figure::scratch_bytes},
    {"Workgroup Memory Size", Figure::shared_bytes},
    {"Cycles", Figure::cycles},
    // Turnip, whose registers have four 32-bit words
    {"Registers used", Figure::registers, 4},
    {"STP Count", Figure::spills},
    {"Max Waves Per Core", Figure::occupancy},
    {"Instruction Count", Figure::instructions},
    // NVIDIA
    {"Register Count", Figure::registers},
};

/// Beginnings of an assembly's instructions.
using Mnemonics = std::span<const std::string_view>;
constexpr std::string_view AMD_MATRIX[] = {"v_wmma_", "v_swmmac_", "v_mfma_"};
constexpr std::string_view AMD_TRUNCATING[] = {"v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"};
constexpr std::string_view NVIDIA_MATRIX[] = {"hmma."};
constexpr std::string_view NVIDIA_TRUNCATING[] = {"f2f.f16.f32.rz", "f2fp.f16.f32.rz"};
constexpr std::string_view INTEL_MATRIX[] = {"dpas."};

struct Assembly {
    std::string_view name;  // name of the text
    Mnemonics matrix;
    std::optional<Mnemonics> truncating;  // empty: rounding is a mode that instructions do not show
};
const Assembly ASSEMBLIES[] = {
    {"Assembly", AMD_MATRIX, AMD_TRUNCATING},
    {"NAK assembly", NVIDIA_MATRIX, NVIDIA_TRUNCATING},
    {"GEN Assembly", INTEL_MATRIX, {}},
};

/// Number of words of the text that begin with a mnemonic.
double count(std::string_view text, Mnemonics mnemonics) {
    constexpr std::string_view space = " \t\n";
    double found = 0;
    for (std::size_t begin = 0; (begin = text.find_first_not_of(space, begin)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(space, begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        if (std::ranges::any_of(mnemonics, [&](std::string_view at) { return word.starts_with(at); })) ++found;
        begin = end;
    }
    return found;
}

}  // namespace

KernelFigures kernel_figures(const DriverStatistics& statistics) {
    KernelFigures made;
    for (const auto& [name, value] : statistics.numbers)
        if (const auto known = std::ranges::find(STATISTICS, name, &Statistic::name); known != std::end(STATISTICS)) {
            std::optional<double>& sum = at(made, known->figure);
            sum = sum.value_or(0) + known->scale * value;
        }
    if (statistics.texts.empty()) return made;
    const auto& [form, text] = statistics.texts.back();
    if (const auto known = std::ranges::find(ASSEMBLIES, form, &Assembly::name); known != std::end(ASSEMBLIES)) {
        at(made, Figure::matrix_instructions) = count(text, known->matrix);
        if (known->truncating) at(made, Figure::truncations) = count(text, *known->truncating);
    }
    return made;
}

}  // namespace vkf

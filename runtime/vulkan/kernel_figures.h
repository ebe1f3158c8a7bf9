// What drivers say of a compiled kernel, under common names.
#pragma once

#include <array>
#include <optional>

#include "vulkan/driver_statistics.h"

namespace vkf {

enum class Figure : std::size_t {
    registers,            // of 32 bits, of an invocation; Intel's: those of a subgroup that are live at once
    spills,               // registers that lie in memory, or instructions that put them there
    scratch_bytes,        // what an invocation has of such memory, for arrays too
    shared_bytes,         // of a workgroup
    occupancy,            // subgroups that a SIMD (AMD), multiprocessor (NVIDIA) or core (Adreno) has room for
    instructions,         // of the text
    matrix_instructions,  // of these, counted in the text
    truncations,          // conversions to fp16 that round toward zero, counted likewise
    cycles,               // by the compiler's estimate
};
constexpr std::array figure_names{"registers",           "spills",      "scratch_bytes",
                                  "shared_bytes",        "occupancy",   "instructions",
                                  "matrix_instructions", "truncations", "cycles"};

/// In the order of their names; nothing where the driver does not say.
using KernelFigures = std::array<std::optional<double>, figure_names.size()>;

inline std::optional<double>& at(KernelFigures& of, Figure figure) {
    return of[static_cast<std::size_t>(figure)];
}

/// Statistics that mean one figure are added up; those that mean none are left out.
KernelFigures kernel_figures(const DriverStatistics& of);

}  // namespace vkf

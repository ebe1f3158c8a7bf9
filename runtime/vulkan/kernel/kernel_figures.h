// Drivers' statistics of a compiled kernel, under common names.
#pragma once

#include <array>
#include <optional>

#include "vulkan/device/driver_statistics.h"

namespace vkf {

enum class Figure : std::size_t {
    registers,            // of 32 bits, per invocation; Intel: live at once, per subgroup
    spills,               // registers kept in memory, or instructions that store them there
    scratch_bytes,        // memory for spills and arrays, per invocation
    shared_bytes,         // shared memory, per workgroup
    occupancy,            // subgroups that fit on a SIMD (AMD), multiprocessor (NVIDIA) or core (Adreno)
    instructions,         // number of all instructions
    matrix_instructions,  // number of them that multiply matrices, counted in the assembly text
    truncations,          // conversions to fp16 that round toward zero, counted in the assembly text
    cycles,               // the compiler's estimate
};
constexpr std::array figure_names{"registers",           "spills",      "scratch_bytes",
                                  "shared_bytes",        "occupancy",   "instructions",
                                  "matrix_instructions", "truncations", "cycles"};

/// Values in the order of figure_names; empty where the driver reports none.
using KernelFigures = std::array<std::optional<double>, figure_names.size()>;

inline std::optional<double>& at(KernelFigures& figures, Figure figure) {
    return figures[static_cast<std::size_t>(figure)];
}

/// Maps a driver's statistics to figures. Statistics of the same figure are added; unknown ones are left out.
KernelFigures kernel_figures(const DriverStatistics& statistics);

}  // namespace vkf

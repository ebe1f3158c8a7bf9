// Statistics of all drivers, under common names. The numbers are invented, their names are the drivers'.

#include "vulkan/kernel/kernel_figures.h"

#include <gtest/gtest.h>

namespace vkf {

namespace {

using Numbers = std::vector<std::pair<std::string, double>>;

/// Figures with these values; all others are unknown.
KernelFigures figures(const std::vector<std::pair<Figure, double>>& known) {
    KernelFigures made;
    for (const auto& [figure, value] : known) at(made, figure) = value;
    return made;
}

TEST(HostKernelFigures, OfAmd) {
    const DriverStatistics said{
        .numbers = Numbers{{"Driver pipeline hash", -7},
                           {"SGPRs", 108},
                           {"VGPRs", 96},
                           {"Spilled SGPRs", 2},
                           {"Spilled VGPRs", 3},
                           {"Code size", 900},
                           {"LDS size", 1024},
                           {"Scratch size", 16},
                           {"Subgroups per SIMD", 16},
                           {"Instructions", 70},
                           {"Latency", 500},
                           {"Pre-Sched VGPRs", 92}},
        .texts = {{"NIR Shader(s)", "v_wmma_in_vain"},
                  {"Assembly",
                   "BB0:\n\tv_wmma_f32_16x16x16_f16 v[4:7], v[0:1] ; cc40\n\tv_cvt_pk_rtz_f16_f32 v1, v2, v3\n"
                   "\tv_mfma_f32 a\n\tv_cvt_pkrtz_f16_f32_e32 v1\n\tv_cvt_f16_f32 v1, v2\n\ts_endpgm ; v_wmm"}}};
    EXPECT_EQ(kernel_figures(said), figures({{Figure::registers, 96},
                                             {Figure::spills, 5},
                                             {Figure::scratch_bytes, 16},
                                             {Figure::shared_bytes, 1024},
                                             {Figure::occupancy, 16},
                                             {Figure::instructions, 70},
                                             {Figure::matrix_instructions, 2},
                                             {Figure::truncations, 2},
                                             {Figure::cycles, 500}}));
}

TEST(HostKernelFigures, OfNvidiaByMesa) {
    const DriverStatistics said{.numbers = Numbers{{"Instruction count", 70},
                                                   {"Static cycle count", 900},
                                                   {"Max warps/SM", 12},
                                                   {"Spills to memory", 4},
                                                   {"Fills from memory", 5},
                                                   {"Spills to reg", 6},
                                                   {"Code size", 1120},
                                                   {"Number of GPRs", 168},
                                                   {"SLM size", 256}},
                                .texts = {{"NAK assembly",
                                           "block 0 [] -> {\n r1..5 = hmma.m16n8k16.f32 r1..5 r6..8 r9 // delay=1\n r4 "
                                           "= f2f.f16.f32.rz r1\n r5 = f2f.f16.f32.rz r2\n"
                                           " r4 = f2f.f16.f32.re r1\n} -> []"}}};
    EXPECT_EQ(kernel_figures(said), figures({{Figure::registers, 168},
                                             {Figure::spills, 4},
                                             {Figure::scratch_bytes, 256},
                                             {Figure::occupancy, 12},
                                             {Figure::instructions, 70},
                                             {Figure::matrix_instructions, 1},
                                             {Figure::truncations, 2},
                                             {Figure::cycles, 900}}));
}

/// Rounding is a mode on Intel, so the text does not show truncations.
TEST(HostKernelFigures, OfIntel) {
    const DriverStatistics said{
        .numbers = Numbers{{"Instructions", 80},
                           {"SENDs", 9},
                           {"Loops", 1},
                           {"Cycles", 700},
                           {"Spills", 7},
                           {"Fills", 8},
                           {"GRF registers", 0},
                           {"Max live registers", 353},
                           {"Scratch Memory Size", 0},
                           {"Workgroup Memory Size", 8448}},
        .texts = {{"Final NIR", "@dpas_intel"}, {"GEN Assembly", "(W) dpas.8x8(16) g10<1>F\nmov(16) g1<1>HF g2\n"}}};
    EXPECT_EQ(kernel_figures(said), figures({{Figure::registers, 353},
                                             {Figure::spills, 7},
                                             {Figure::scratch_bytes, 0},
                                             {Figure::shared_bytes, 8448},
                                             {Figure::instructions, 80},
                                             {Figure::matrix_instructions, 1},
                                             {Figure::cycles, 700}}));
}

TEST(HostKernelFigures, OfAdreno) {
    const DriverStatistics said{.numbers = Numbers{{"Max Waves Per Core", 4},
                                                   {"Instruction Count", 90},
                                                   {"Registers used", 24},
                                                   {"Half-registers used", 2},
                                                   {"STP Count", 3},
                                                   {"LDP Count", 2}},
                                .texts = {{"IR3 Assembly", "stg.u32 g[r0.y], r2.w, 1"}}};
    EXPECT_EQ(
        kernel_figures(said),
        figures({{Figure::registers, 96}, {Figure::spills, 3}, {Figure::occupancy, 4}, {Figure::instructions, 90}}));
}

/// Statistics of unknown drivers, and unknown statistics, are ignored.
TEST(HostKernelFigures, OfNobody) {
    EXPECT_EQ(kernel_figures({}), KernelFigures());
    EXPECT_EQ(kernel_figures({.numbers = Numbers{{"Vgprs", 3}}, .texts = {{"Machine code", "hmma.x"}}}),
              KernelFigures());
}

}  // namespace

}  // namespace vkf

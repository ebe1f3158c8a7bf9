// Choice of a product's kernel, for devices that are not available.
#include "ops/matmul/gemm_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "graph/autotuner.h"
#include "graph/lower.h"
#include "ops/gpu_traits.h"
#include "ops/matmul/gemm_shape.h"
#include "ops/matmul/matmul.h"
#include "ops/matmul/matmul_tuning.h"
#include "vulkan/kernel/reflect.h"
#include "vulkan/kernel/spirv.h"

namespace vkf::test {
namespace {

TEST(HostGemmConfig, MatricesFillTheirTileAndFitInSharedMemory) {
    for (const std::uint32_t subgroup : {8u, 16u, 32u, 64u, 128u})
        for (const std::uint32_t m : {8u, 16u})
            for (const std::uint32_t n : {8u, 16u})
                for (const std::uint32_t k : {8u, 16u})
                    for (const std::uint32_t shared : {16384u, 20480u, 49152u, 65536u})
                        for (const std::int64_t extent : {100, 4096}) {
                            DeviceTraits device = gpu(subgroup, MatrixShape{m, n, k, MatrixElement::fp16});
                            device.shared_bytes = shared;
                            const KernelConfig made = best(device, size(extent, extent, extent));
                            ASSERT_EQ(made.kernel, "matmul_coopmat");
                            auto of = constants(made);
                            SCOPED_TRACE(::testing::Message()
                                         << "subgroup " << subgroup << ", matrix " << m << "x" << n << "x" << k
                                         << ", extent " << extent << ", shared memory " << shared);
                            const std::uint32_t tile = extent > 1000 ? 128 : 64;
                            EXPECT_EQ(of["DOWN"] * of["ROWS"] * m, tile);
                            EXPECT_EQ(of["ACROSS"] * of["COLUMNS"] * n, tile);
                            const std::uint32_t slice = of["STEPS"] * k;
                            EXPECT_EQ(slice, tile == 64 || shared >= 20480 ? 32u : 16u);
                            EXPECT_EQ(of["DOWN"] * of["ACROSS"] * subgroup, of["GROUP"]);
                            EXPECT_LE(of["GROUP"], device.max_group);
                            // Patches of 16 numbers of both slices, equally many per invocation.
                            EXPECT_EQ(2 * tile * slice / 16 % of["GROUP"], 0u);
                            // A slice of both operands; later, one finished matrix per subgroup.
                            EXPECT_LE(2 * tile * (slice + 8) * 2, device.shared_bytes);
                            EXPECT_LE(of["DOWN"] * of["ACROSS"] * m * n * 4, device.shared_bytes);
                        }
}

TEST(HostGemmConfig, SubgroupsOf32HaveBlocksOf64By64OfALargeTile) {
    DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, MatrixElement::fp16});
    device.shared_bytes = 49152;
    auto of = constants(best(device, size(4096, 4096, 4096)));
    EXPECT_EQ(of["GROUP"], 128u);
    EXPECT_EQ(of["ROWS"] * 16, 64u);
    EXPECT_EQ(of["COLUMNS"] * 16, 64u);
}

TEST(HostGemmConfig, TilesFitInSharedMemory) {
    for (const std::uint32_t group : {128u, 256u, 1024u})
        for (const std::uint32_t shared : {16384u, 32768u, 49152u}) {
            DeviceTraits device = gpu(32);
            device.shared_bytes = shared;
            device.max_group = group;
            for (const KernelConfig& made : gemm_configs(device, size(512, 512, 512))) {
                if (made.kernel != "matmul_tile") continue;
                SCOPED_TRACE(::testing::Message() << made.name << ", " << group << " invocations, " << shared);
                auto of = constants(made);
                EXPECT_EQ(of["GROUP"] * of["THREAD"] * of["THREAD"], of["TILE"] * of["TILE"]);
                EXPECT_LE(of["GROUP"], group);
                EXPECT_EQ(of["TILE"] * of["SLICE"] / 4 % of["GROUP"], 0u);  // words of an operand's slice
                EXPECT_LE(2 * 2 * of["SLICE"] * (of["TILE"] + 4) * 4, shared);
            }
        }
}

TEST(HostGemmConfig, HasLargeTilesOnlyWhereRegistersHoldThem) {
    DeviceTraits device = gpu(16, MatrixShape{8, 16, 16, MatrixElement::fp16});
    device.shared_bytes = 65536;
    const auto large = [&] {
        return std::ranges::count_if(gemm_configs(device, size(4096, 4096, 4096)),
                                     [](const KernelConfig& at) { return at.name.ends_with(" 128"); });
    };
    EXPECT_EQ(large(), 2);  // tile, coopmat
    device.registers = 128;
    EXPECT_EQ(large(), 0);
    device.registers = 256;
    device.max_group = 128;
    EXPECT_EQ(large(), 0);
}

TEST(HostGemmConfig, SharesATileOfMatricesAmongMoreInvocationsWhereRegistersAreFew) {
    DeviceTraits device = gpu(16, MatrixShape{8, 16, 16, MatrixElement::fp16});
    EXPECT_EQ(constants(best(device, size(512, 512, 512)))["GROUP"], 128u);
    device.registers = 128;
    KernelConfig made = best(device, size(512, 512, 512));
    EXPECT_EQ(made.name, "coopmat 64");
    EXPECT_EQ(constants(made)["GROUP"], 256u);
    device.max_group = 128;
    EXPECT_EQ(constants(best(device, size(512, 512, 512)))["GROUP"], 128u);
}

/// The GPU has 64 multiprocessors.
TEST(HostGemmConfig, PrefersLargeTilesWhereTheyAreDoneSooner) {
    const auto prefers = [](std::int64_t m, std::int64_t n) { return best(gpu(32), size(m, n, 512)).name; };
    EXPECT_EQ(prefers(1024, 896), "tile 64");    // 56 large tiles: some multiprocessors would idle
    EXPECT_EQ(prefers(1024, 1024), "tile 128");  // one per multiprocessor
    EXPECT_EQ(prefers(1024, 1152), "tile 64");   // 72: the last 8 would take as long as the first 64
    EXPECT_EQ(prefers(1024, 2048), "tile 128");
    EXPECT_EQ(prefers(4096, 4224), "tile 128");  // with so many rounds the last one matters little
}

TEST(HostGemmConfig, HasNoTilesWhereRowsAreTooFarApart) {
    const auto chosen = [](std::int64_t pitch, std::uint32_t subgroup, std::optional<MatrixShape> matrices = {}) {
        GemmCall call{.shape = size(64, 64, 64),
                      .layout_a = 0,
                      .layout_b = 0,
                      .layout_y = 0,
                      .a_at = {0, pitch},
                      .b_at = {0, 64},
                      .y_pitch = 64};
        return gemm_config(gpu(subgroup, matrices), call).kernel;
    };
    EXPECT_EQ(chosen(1 << 23, 32), "matmul_tile");
    EXPECT_EQ(chosen((1 << 23) + 1, 32), "matmul");
    const MatrixShape matrices{16, 16, 16, MatrixElement::fp16};
    EXPECT_EQ(chosen(1 << 23, 32, matrices), "matmul_coopmat");
    EXPECT_EQ(chosen((1 << 23) + 1, 32, matrices), "matmul");
    EXPECT_THROW(chosen((1 << 23) + 1, 128), Error);
}

TEST(HostGemmConfig, ChoosesMatricesOnlyWhereTheyAreGivenAndPayOff) {
    const MatrixShape shape{16, 16, 16, MatrixElement::bf16};
    DeviceTraits device = gpu(32, shape);
    EXPECT_EQ(best(device, size(512, 512, 512)).kernel, "matmul_coopmat_bf16");
    EXPECT_EQ(best(device, size(1, 512, 512)).kernel, "matmul_decode");
    EXPECT_EQ(best(device, size(15, 512, 512)).kernel, "matmul_tile");
    EXPECT_EQ(best(device, size(512, 15, 512)).kernel, "matmul_tile");
    EXPECT_EQ(best(device, size(512, 512, 31)).kernel, "matmul_tile");
    device.cpu = true;
    EXPECT_EQ(best(device, size(512, 512, 512)).kernel, "matmul");
    device = gpu(32, shape);
    device.matrices.reset();  // fp32
    EXPECT_EQ(best(device, size(512, 512, 512)).kernel, "matmul_tile");
}

TEST(HostGemmConfig, CandidatesAreOfAllImplementationsAndInFp32CutAlike) {
    DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, MatrixElement::fp16});
    device.workgroup_matrices = 256;
    const auto names = [&](const GemmShape& shape) {
        std::string list;
        for (const KernelConfig& made : gemm_configs(device, shape)) list += made.name + ", ";
        return list;
    };
    const std::string group = "coopmat2 128, ";
    EXPECT_EQ(names(size(512, 512, 512)), "coopmat 64, coopmat 128, " + group + "tile 64, tile 128, subgroup, ");
    EXPECT_EQ(names(size(4096, 4096, 64)), "coopmat 128, coopmat 64, " + group + "tile 128, tile 64, subgroup, ");
    EXPECT_EQ(names(size(512, 512, 31)), group + "tile 64, tile 128, subgroup, ");
    EXPECT_EQ(names(size(64, 512, 31)), "tile 64, tile 128, subgroup, ") << "half of a tile would be padding";
    EXPECT_EQ(names(size(2, 512, 512)), "decode, ");
    GemmShape packed = size(512, 512, 512);
    packed.packed_factors = true;
    EXPECT_EQ(names(packed), names(size(512, 512, 512)));
    GemmShape scaled = size(512, 512, 512);
    scaled.row_scale = true;
    EXPECT_EQ(names(scaled), names(size(512, 512, 512)));
    scaled.transpose_a = true;  // terms are scaled, which coopmat2 does not support
    EXPECT_EQ(names(scaled), "coopmat 64, coopmat 128, tile 64, tile 128, subgroup, ");
    device.cpu = true;
    EXPECT_TRUE(names(size(512, 512, 512)).starts_with("subgroup, "));
    for (const bool cpu : {false, true}) {
        device.cpu = cpu;
        for (const GemmShape& of : {size(40, 40, 3000), size(70, 300, 999), size(4096, 64, 256)}) {
            const std::vector<KernelConfig> list = gemm_configs(device, of);
            for (const KernelConfig& made : list) {
                EXPECT_EQ(made.most_splits, std::ranges::max(list, {}, &KernelConfig::splits).splits) << made.name;
                if (made.name.starts_with("coopmat")) continue;
                EXPECT_EQ(made.splits, list.back().splits) << made.name;
                EXPECT_EQ(made.chunk, list.back().chunk) << made.name;
            }
        }
    }
}

/// Answers with the first candidate or the last one.
class AtOneEnd : public Autotuner {
public:
    explicit AtOneEnd(bool last) : last_(last) {}
    std::size_t choose(const DeviceTraits&, const TuningProblem& problem) override {
        return last_ ? problem.candidates.size() - 1 : 0;
    }

private:
    bool last_;
};

TEST(HostGemmConfig, ThereIsRoomForThePartsOfAnyCandidate) {
    DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, MatrixElement::fp16});
    device.shared_bytes = 49152;
    Graph graph;
    const Tensor a = graph.input("a", {DType::f32, {8192, 768}}), b = graph.input("b", {DType::f32, {8192, 768}});
    graph.output("y", matmul(a, b, {.transpose_a = true}));
    std::vector<std::int64_t> rooms;
    for (const bool last : {false, true}) {
        AtOneEnd chooses(last);
        device.autotuner = &chooses;
        rooms.push_back(lower(graph, live_nodes(graph), graph.nodes().back(), device).scratches.at(0));
    }
    // 36 large tiles are split for 64 multiprocessors; small tiles are not.
    EXPECT_EQ(rooms, (std::vector<std::int64_t>{2 * 768 * 768, 2 * 768 * 768}));
}

/// Weights' gradients of GPT-2 on the 132 multiprocessors of an H100.
TEST(HostGemmConfig, MatricesCutSumsByTheirOwnTiles) {
    DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, MatrixElement::bf16});
    device.shared_bytes = 49152;
    device.compute_units = 132;
    device.workgroup_matrices = 256;
    const std::vector<KernelConfig> list = gemm_configs(device, size(768, 768, 65536));
    EXPECT_EQ(list.front().name, "coopmat 128") << "4 parts of 36 tiles are done sooner than 144 small tiles";
    for (const KernelConfig& made : list) {
        const bool large = made.name == "coopmat 128" || made.name == "coopmat2 128";
        EXPECT_EQ(made.splits, large ? 4 : 1) << made.name;
        EXPECT_EQ(made.most_splits, 4) << made.name;
        EXPECT_LE((made.splits - 1) * made.chunk, 65536) << made.name;
        EXPECT_GE(made.splits * made.chunk, 65536) << made.name;
    }
    EXPECT_EQ(best(device, size(1024, 1024, 1024)).splits, 1) << "a pass over the parts takes longer than it saves";
}

TEST(HostGemmConfig, CandidatesSetConstantsThatTheirKernelsHave) {
    DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, MatrixElement::fp16});
    device.workgroup_matrices = 256;
    for (const MatrixElement element : {MatrixElement::fp16, MatrixElement::bf16}) {
        device.matrices->element = element;
        for (const KernelConfig& made : gemm_configs(device, size(512, 512, 512))) {
            const auto module = std::ranges::find(embedded_spirv(), made.kernel, &SpirvModule::name);
            if (module == embedded_spirv().end()) continue;  // this glslc lacks an extension
            const Reflection kernel = reflect(module->words);
            for (const auto& [name, value] : made.constants)
                EXPECT_NE(std::ranges::find(kernel.constants, name, &SpecConstant::name), kernel.constants.end())
                    << made.kernel << " has no " << name;
        }
    }
}

}  // namespace
}  // namespace vkf::test

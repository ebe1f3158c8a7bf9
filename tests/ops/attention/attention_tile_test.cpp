// Choice of attention kernels and their tiles, also for devices that are not available; and every mask in the tiles of
// shared memory.
#include "ops/attention/attention_tiling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks/attention/mask_cases.h"
#include "device_fixture.h"
#include "op_check.h"
#include "ops/gpu_traits.h"
#include "vulkan/kernel/reflect.h"
#include "vulkan/kernel/spirv.h"

namespace vkf::test {
namespace {

constexpr std::array passes{AttentionPass::forward, AttentionPass::query_gradient, AttentionPass::key_gradient};

/// Tile for a kernel's own rows, `own.q_len`, and the rows that they visit, `own.kv_len`. If the own rows are keys,
/// both are swapped, because attention_tile() expects the queries' view.
AttentionTile tile_of(const DeviceTraits& device, std::string_view way, AttentionPass pass, AttentionSize own) {
    if (pass == AttentionPass::key_gradient) std::swap(own.q_len, own.kv_len);
    return attention_tile(device, way, pass, own);
}

/// Tile of the implementation that the device prefers without tuning.
AttentionTile preferred(const DeviceTraits& device, AttentionPass pass, const AttentionSize& size) {
    return tile_of(device, attention_implementations(device, size).front(), pass, size);
}

/// Pairs of D and D_V.
const std::vector<std::pair<std::uint32_t, std::uint32_t>> widths{{1, 1},     {64, 64}, {100, 100},
                                                                  {128, 128}, {128, 1}, {33, 128}};

TEST(HostAttentionTile, OfMatricesCoversAllRowsAndFitsInSharedMemory) {
    for (const std::uint32_t subgroup : {8u, 16u, 32u, 64u})
        for (const std::uint32_t m : {8u, 16u})
            for (const std::uint32_t n : {8u, 16u})
                for (const std::uint32_t k : {8u, 16u})
                    for (const AttentionPass pass : passes)
                        for (const std::int64_t rows : {16, 65, 1000})
                            for (const auto& [d, d_v] : widths) {
                                if (subgroup > 4 * m) continue;
                                const DeviceTraits device = gpu(subgroup, MatrixShape{m, n, k, MatrixElement::fp16});
                                const AttentionTile made = preferred(device, pass, {96, rows, 300, d, d_v});
                                SCOPED_TRACE(::testing::Message()
                                             << "subgroup " << subgroup << ", matrix " << m << "x" << n << "x" << k
                                             << ", rows " << rows << ", widths " << d << ", " << d_v);
                                ASSERT_TRUE(made.kernel.starts_with("attention_coopmat"));
                                auto of = constants(made);
                                const std::uint32_t block_k = of["BLOCK_K"],
                                                    group_rows = of["GROUP"] / subgroup * of["STACK"] * m;
                                EXPECT_LE(of["GROUP"], 128u);
                                EXPECT_EQ(made.groups,
                                          96 * ((static_cast<std::uint64_t>(rows) + group_rows - 1) / group_rows));
                                // As in attention/coopmat/attention_coopmat.glsl: columns in whole matrices, 16 bytes
                                // between lines, which are rows or, transposed, columns; then numbers per row and per
                                // staged row.
                                const auto line = [](std::uint32_t numbers) { return numbers * 2 + 16; };
                                const auto block = [&](std::uint32_t width) {
                                    width = (width + std::max(n, k) - 1) / std::max(n, k) * std::max(n, k);
                                    return std::max(block_k * line(width), width * line(block_k));
                                };
                                const std::uint32_t staged = block(d) + block(d_v);
                                const std::uint32_t own = group_rows * (block_k * 4 + 16);
                                EXPECT_LE(staged + own + (group_rows + 3 * block_k) * 4, device.shared_bytes);
                            }
}

TEST(HostAttentionTile, ChoosesMatricesOnlyWhereTheyAreGivenAndPayOff) {
    const MatrixShape shape{16, 16, 16, MatrixElement::bf16};
    const auto kernel = [](const DeviceTraits& device, const AttentionSize& size) {
        return preferred(device, AttentionPass::key_gradient, size).kernel;
    };
    DeviceTraits device = gpu(32, shape);
    EXPECT_EQ(kernel(device, {12, 64, 64, 64}), "attention_coopmat_backward_kv_bf16");
    EXPECT_EQ(kernel(device, {12, 15, 64, 64}), "attention_tile_backward_kv");
    EXPECT_EQ(kernel(device, {12, 64, 15, 64}), "attention_tile_backward_kv");
    EXPECT_EQ(kernel(device, {12, 64, 64, 129}), "attention_tile_backward_kv");
    device.shared_bytes = 16384;  // too little for lines of 128 columns
    EXPECT_EQ(kernel(device, {12, 64, 64, 128}), "attention_tile_backward_kv");
    EXPECT_EQ(kernel(device, {12, 64, 64, 64}), "attention_coopmat_backward_kv_bf16");
    device.cpu = true;
    EXPECT_EQ(kernel(device, {12, 64, 64, 64}), "attention_backward_kv");
    device = gpu(32, shape);
    device.registers = 128;
    EXPECT_EQ(kernel(device, {12, 64, 64, 16}), "attention_tile_backward_kv");
    device = gpu(32, shape);
    device.matrices.reset();  // fp32
    EXPECT_EQ(kernel(device, {12, 64, 64, 64}), "attention_tile_backward_kv");
    device = gpu(128, MatrixShape{8, 8, 8, MatrixElement::fp16});  // a lane would have fewer than 8 columns
    EXPECT_EQ(kernel(device, {12, 64, 64, 64}), "attention_tile_backward_kv");
}

/// Bytes of shared memory that attention/attention_tile.glsl and the kernel declare: words of 16 bytes, and numbers.
std::uint32_t shared_bytes(std::map<std::string, std::uint32_t> of, AttentionPass pass, std::uint32_t width,
                           std::uint32_t value_width) {
    const auto pitch = [](std::uint32_t columns) { return (columns + 3) / 4 | 1; };
    const std::uint32_t values = pass == AttentionPass::forward ? 0 : pitch(value_width);
    const std::uint32_t own = of["WHOLE"] == 0 ? pitch(of["SLICE"]) : pitch(width) + values;
    const std::uint32_t weights = pitch(of["BLOCK_K"]);  // in place of a slice, or in addition to whole rows
    const std::uint32_t words =
        of["ROWS"] * (of["WHOLE"] == 0 ? std::max(own, weights) : own + weights) + of["BLOCK_K"] * pitch(of["SLICE"]);
    const std::uint32_t numbers = pass == AttentionPass::forward          ? of["ROWS"] + of["BLOCK_K"]
                                  : pass == AttentionPass::query_gradient ? of["BLOCK_K"]
                                                                          : 3 * of["BLOCK_K"];
    return 16 * words + 4 * numbers;
}

// Checks the assumptions of the kernels.
TEST(HostAttentionTile, OfSharedMemoryFitsEveryGpu) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> head_widths{{16, 1}, {64, 129}, {1, 256}, {256, 3}, {128, 31}};
    for (const std::uint32_t width : {1u, 3u, 16u, 31u, 64u, 80u, 128u, 129u, 256u})
        head_widths.emplace_back(width, width);
    for (const std::uint32_t subgroup : {4u, 8u, 16u, 32u, 64u})
        for (const std::uint32_t bytes : {16384u, 32768u, 49152u})
            for (const AttentionPass pass : passes)
                for (const std::int64_t rows : {5, 16, 33, 65, 1000})
                    for (const auto& [width, value_width] : head_widths) {
                        DeviceTraits device = gpu(subgroup);
                        device.shared_bytes = bytes;
                        device.max_group = 128;
                        SCOPED_TRACE(::testing::Message()
                                     << "subgroup " << subgroup << ", " << bytes << " bytes, rows " << rows
                                     << ", head_widths " << width << " and " << value_width);
                        const AttentionTile made = preferred(device, pass, {96, rows, 300, width, value_width});
                        ASSERT_TRUE(made.kernel.starts_with("attention_tile"));
                        auto of = constants(made);
                        const std::uint32_t across = of["BLOCK_K"] / 4, slice_words = of["SLICE"] / 4;
                        EXPECT_LE(of["GROUP"], 128u);
                        EXPECT_EQ(of["GROUP"] % subgroup, 0u);
                        EXPECT_EQ(subgroup % across, 0u) << "lanes that share a row are of one subgroup";
                        EXPECT_EQ(of["GROUP"] % across, 0u);
                        EXPECT_EQ(of["ROWS"] % (of["GROUP"] / across), 0u);
                        EXPECT_GE(of["SLICE"], 8u);
                        EXPECT_EQ(of["GROUP"] % slice_words, 0u);
                        EXPECT_EQ(of["ROWS"] % (of["GROUP"] / slice_words), 0u);
                        EXPECT_LE(shared_bytes(of, pass, width, value_width), bytes);
                        const auto group_rows = static_cast<std::uint64_t>(of["ROWS"]);
                        EXPECT_EQ(made.groups, 96 * ((static_cast<std::uint64_t>(rows) + group_rows - 1) / group_rows));
                    }
}

TEST(HostAttentionTile, OfSharedMemoryHasAsManyRowsAsPayOff) {
    DeviceTraits device = gpu(32);
    const auto rows = [&](const AttentionSize& size, AttentionPass pass = AttentionPass::forward) {
        return constants(preferred(device, pass, size))["ROWS"];
    };
    EXPECT_EQ(rows({96, 1024, 1024, 64}), 64u);
    EXPECT_EQ(rows({96, 1024, 1024, 64}, AttentionPass::key_gradient), 64u);
    EXPECT_EQ(rows({96, 1024, 1024, 256}, AttentionPass::key_gradient), 32u) << "its sums take twice the invocations";
    EXPECT_EQ(rows({96, 1024, 1024, 16, 160}, AttentionPass::key_gradient), 64u);
    EXPECT_EQ(rows({96, 1024, 1024, 100, 160}, AttentionPass::key_gradient), 32u) << "both widths count";
    EXPECT_EQ(rows({96, 65, 65, 16}), 32u) << "two blocks of 64 are half empty";
    EXPECT_EQ(rows({96, 5, 300, 64}), 16u);
    EXPECT_EQ(rows({12, 128, 128, 64}), 16u) << "24 workgroups of 64 rows leave multiprocessors idle";
    device.subgroup_size = 64;
    EXPECT_EQ(rows({96, 5, 300, 64}), 32u) << "a workgroup is a subgroup at least";
    const auto whole = [&](std::int64_t width, AttentionPass pass) {
        return constants(preferred(device, pass, {96, 1024, 1024, width}))["WHOLE"] == 1;
    };
    EXPECT_TRUE(whole(32, AttentionPass::forward));
    EXPECT_FALSE(whole(33, AttentionPass::forward)) << "half as many workgroups at once";
    EXPECT_TRUE(whole(32, AttentionPass::key_gradient));
    EXPECT_FALSE(whole(64, AttentionPass::key_gradient));
}

TEST(HostAttentionTile, OfSharedMemoryLeavesRegistersForAllElse) {
    const auto rows = [](std::uint32_t registers, AttentionPass pass, std::int64_t width) {
        DeviceTraits device = gpu(32);
        device.registers = registers;
        auto of = constants(preferred(device, pass, {96, 1024, 1024, width}));
        return of["ROWS"] * of["BLOCK_K"] / 4 / of["GROUP"];  // rows of a tile per invocation
    };
    EXPECT_EQ(rows(256, AttentionPass::key_gradient, 128), 4u);
    EXPECT_EQ(rows(256, AttentionPass::key_gradient, 129), 2u);
    EXPECT_EQ(rows(128, AttentionPass::forward, 64), 4u);
    EXPECT_EQ(rows(128, AttentionPass::forward, 65), 2u);
    EXPECT_EQ(rows(128, AttentionPass::query_gradient, 32), 4u);
    EXPECT_EQ(rows(128, AttentionPass::query_gradient, 33), 2u);
    EXPECT_EQ(rows(128, AttentionPass::key_gradient, 16), 4u);
    EXPECT_EQ(rows(128, AttentionPass::key_gradient, 17), 2u);
}

TEST(HostAttentionTile, LeavesDecodingAndCpusAlone) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(attention_implementations(gpu(32), {12, 5, 64, 64}), (Names{"tile", "subgroup"}));
    EXPECT_EQ(attention_implementations(gpu(32), {12, 4, 64, 64}), Names{"subgroup"});
    EXPECT_EQ(preferred(gpu(32), AttentionPass::forward, {12, 4, 64, 64}).kernel, "attention_decode");
    EXPECT_EQ(attention_implementations(DeviceTraits{}, {12, 64, 64, 64}), (Names{"subgroup", "tile"}));
}

TEST(HostAttentionTile, DecodesHeadsThatShareKeysTogether) {
    const auto tile = [](const DeviceTraits& device, const AttentionSize& size) {
        const AttentionTile made = preferred(device, AttentionPass::forward, size);
        return std::pair(constants(made)["ROWS"], made.groups);
    };
    using Tile = std::pair<std::uint32_t, std::uint64_t>;  // rows of a subgroup, workgroups
    const auto size = [](std::int64_t heads, std::int64_t queries, std::int64_t group) {
        return AttentionSize{heads, queries, 300, 64, 64, group};
    };
    EXPECT_EQ(tile({}, size(12, 1, 1)), Tile(1, 12));
    EXPECT_EQ(tile({}, size(12, 4, 1)), Tile(4, 12));
    EXPECT_EQ(tile({}, size(9, 1, 3)), Tile(3, 3)) << "a key is loaded once for three heads";
    EXPECT_EQ(tile({}, size(9, 3, 3)), Tile(3, 9));
    EXPECT_EQ(tile({}, size(9, 4, 3)), Tile(4, 9)) << "rows of all three heads";
    EXPECT_EQ(tile({}, size(10, 1, 5)), Tile(3, 4)) << "three and two";
    EXPECT_EQ(tile({}, size(64, 1, 64)), Tile(4, 16));
    EXPECT_EQ(tile(gpu(32), size(64, 1, 64)), Tile(4, 4)) << "of four subgroups each";
}

TEST(HostAttentionTile, OfSharedMemoryIsForEveryWidth) {
    for (const std::int64_t value_width : {1, 64, 256}) {
        const AttentionSize size{
            .batch_heads = 12, .q_len = 64, .kv_len = 64, .head_width = 64, .value_width = value_width};
        const std::vector<std::string> ways =
            attention_implementations(gpu(32, MatrixShape{16, 16, 16, MatrixElement::bf16}), size);
        EXPECT_NE(std::ranges::find(ways, "tile"), ways.end());
    }
}

// A second matrix below the first needs registers, and enough workgroups.
TEST(HostAttentionTile, StacksMatricesWhereThatIsCheap) {
    const DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, MatrixElement::bf16});
    const auto stack = [&](AttentionPass pass, const AttentionSize& size) {
        return constants(preferred(device, pass, size))["STACK"];
    };
    EXPECT_EQ(stack(AttentionPass::forward, {96, 1024, 1024, 64}), 2u);
    EXPECT_EQ(stack(AttentionPass::query_gradient, {96, 1024, 1024, 64}), 2u);
    EXPECT_EQ(stack(AttentionPass::key_gradient, {96, 1024, 1024, 64}), 1u);
    EXPECT_EQ(stack(AttentionPass::key_gradient, {96, 1024, 1024, 32}), 2u);
    EXPECT_EQ(stack(AttentionPass::forward, {96, 1024, 1024, 96}), 1u);
    EXPECT_EQ(stack(AttentionPass::forward, {96, 1024, 1024, 128}), 1u);
    EXPECT_EQ(stack(AttentionPass::forward, {12, 128, 128, 64}), 1u);
    EXPECT_EQ(stack(AttentionPass::forward, {96, 1024, 1024, 96, 64}), 2u) << "its sums are as wide as values";
    EXPECT_EQ(stack(AttentionPass::forward, {96, 1024, 1024, 64, 128}), 1u);
    EXPECT_EQ(stack(AttentionPass::key_gradient, {96, 1024, 1024, 64, 8}), 2u);
    const DeviceTraits rdna = gpu(64, MatrixShape{16, 16, 16, MatrixElement::fp16});  // holds a factor four times
    EXPECT_EQ(constants(preferred(rdna, AttentionPass::query_gradient, {96, 1024, 1024, 64}))["STACK"], 2u);
    EXPECT_EQ(constants(preferred(rdna, AttentionPass::key_gradient, {96, 1024, 1024, 64}))["STACK"], 1u);
}

TEST(HostAttentionTile, OffersMatricesOfAWorkgroupAfterWhatIsProved) {
    using Names = std::vector<std::string>;
    DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, MatrixElement::bf16});
    device.workgroup_matrices = 256;
    EXPECT_EQ(attention_implementations(device, {12, 64, 64, 64}),
              (Names{"coopmat", "tile", "coopmat2 64", "coopmat2 128", "subgroup"}));
    EXPECT_EQ(attention_implementations(device, {12, 63, 64, 64}),
              (Names{"coopmat", "tile", "coopmat2 64", "subgroup"}));
    EXPECT_EQ(attention_implementations(device, {12, 31, 64, 64}), (Names{"coopmat", "tile", "subgroup"}));
    EXPECT_EQ(attention_implementations(device, {12, 64, 64, 129}), (Names{"tile", "subgroup"}));
    device.shared_bytes = 16384;
    EXPECT_EQ(attention_implementations(device, {12, 64, 64, 128}),
              (Names{"tile", "coopmat2 64", "coopmat2 128", "subgroup"}));
    device.workgroup_matrices = 0;
    EXPECT_EQ(attention_implementations(device, {12, 64, 64, 128}), (Names{"tile", "subgroup"}));
}

TEST(HostAttentionTile, OffersMatricesForValuesOfEveryWidthThatTheyHold) {
    using Names = std::vector<std::string>;
    DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, MatrixElement::bf16});
    device.workgroup_matrices = 256;
    EXPECT_EQ(attention_implementations(device, {12, 64, 64, 64, 48}),
              (Names{"coopmat", "tile", "coopmat2 64", "coopmat2 128", "subgroup"}));
    EXPECT_EQ(attention_implementations(device, {12, 64, 64, 64, 129}), (Names{"tile", "subgroup"}));
}

TEST(HostAttentionTile, OfAWorkgroupSetsConstantsThatItsKernelsHave) {
    struct Case {
        MatrixElement element;
        std::uint32_t group;
        const char *suffix, *way;
        std::uint32_t rows, width, value_width;
    };
    const Case cases[]{{MatrixElement::fp16, 256, "", "coopmat2 64", 64, 128, 64},
                       {MatrixElement::bf16, 256, "_bf16", "coopmat2 128", 128, 128, 64},
                       {MatrixElement::fp16, 32, "_subgroup", "coopmat2 8", 8, 104, 40}};
    const std::string names[]{"attention_coopmat2", "attention_coopmat2_backward_q", "attention_coopmat2_backward_kv"};
    for (const Case& c : cases)
        for (const std::uint32_t pass : {0u, 1u, 2u}) {
            DeviceTraits device = gpu(32, MatrixShape{16, 16, 16, c.element});
            device.workgroup_matrices = c.group;
            const AttentionSize size{96, 1000, 300, 100, 36};
            const AttentionTile made = tile_of(device, c.way, static_cast<AttentionPass>(pass), size);
            EXPECT_EQ(made.kernel, names[pass] + c.suffix);
            auto of = constants(made);
            EXPECT_EQ(of["GROUP"], c.group);
            EXPECT_EQ(of["ROWS"], c.rows);
            EXPECT_EQ(of["WIDTH"], c.width);
            EXPECT_EQ(of["WIDTH_V"], c.value_width);
            EXPECT_EQ(made.groups, 96 * ((1000 + c.rows - 1) / c.rows));
            const auto module = std::ranges::find(embedded_spirv(), made.kernel, &SpirvModule::name);
            if (module == embedded_spirv().end()) continue;  // this glslc lacks an extension
            const Reflection kernel = reflect(module->words);
            for (const auto& [name, value] : made.constants)
                EXPECT_NE(std::ranges::find(kernel.constants, name, &SpecConstant::name), kernel.constants.end())
                    << made.kernel << " has no " << name;
        }
}

/// Traits of a GPU without cooperative matrices.
DeviceTraits lowering_to_tiles() {
    DeviceTraits made = traits_of_gpu(shared_device());
    made.matrices.reset();
    return made;
}

/// All masks, except those with so few queries that the decoding kernel computes them.
std::vector<OpCase> tile_cases() {
    std::vector<MaskCase> cases = mask_cases();
    std::erase_if(cases, [](const MaskCase& c) { return c.queries < 5; });
    return op_cases(cases);
}

class DeviceImplementationsAttentionTile : public ::testing::TestWithParam<OpCase> {};

TEST_P(DeviceImplementationsAttentionTile, Kernels) {
    check_kernels(GetParam(), lowering_to_tiles());
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceImplementationsAttentionTile, ::testing::ValuesIn(tile_cases()), case_name);

TEST(DeviceImplementationsAttentionTileSlices, OfKeysAndValuesMayDifferInNumber) {
    const std::vector<MaskCase> cases{{.name = "values of more slices",
                                       .mask = {.causal = true, .window_left = 40},
                                       .queries = 81,
                                       .keys = 70,
                                       .width = 10,
                                       .value_width = 70},
                                      {.name = "values of fewer slices",
                                       .queries = 33,
                                       .keys = 70,
                                       .width = 101,
                                       .value_width = 20,
                                       .kv_heads = 1,
                                       .query_lengths = {30},
                                       .key_lengths = {50}}};
    DeviceTraits lowering = lowering_to_tiles();
    for (const OpCase& c : op_cases(cases)) check_kernels(c, lowering);
    lowering.compute_units = 1;  // workgroups have so many rows that wide ones are read in slices
    for (const OpCase& c : op_cases(cases)) check_kernels(c, lowering);
}

/// If shared memory is small, weights take the place of a slice, although their lines are longer.
TEST(DeviceImplementationsAttentionTileSlices, MayBeNarrowerThanTheWeightsInTheirPlace) {
    DeviceTraits lowering = lowering_to_tiles();
    lowering.compute_units = 1;
    lowering.shared_bytes = 16384;
    auto of = constants(attention_tile(lowering, "tile", AttentionPass::forward, {2, 120, 70, 16}));
    ASSERT_EQ(of["WHOLE"], 0u);
    ASSERT_LT(of["SLICE"], of["BLOCK_K"]);
    for (const OpCase& c : op_cases({{.name = "narrow", .queries = 120, .keys = 70, .width = 16, .value_width = 16}}))
        check_kernels(c, lowering);
}

}  // namespace
}  // namespace vkf::test

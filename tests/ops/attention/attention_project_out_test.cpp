// Attention that projects its rows in the same kernel: subgroups compute all heads of a row. Kernels that compute one
// head at a time are tested in tests/ops/attention/attention_epilogue_test.cpp.
#include "ops/attention/attention_project_out.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/half.h"
#include "checks/attention/mask_cases.h"
#include "device_fixture.h"
#include "graph/lower.h"
#include "op_check.h"
#include "ops/attention/attention_epilogue.h"

namespace vkf::test {
namespace {

using Inputs = std::span<const Tensor>;

enum class Kept { rows, heads, both };
constexpr std::array all_kept{Kept::rows, Kept::heads, Kept::both};
constexpr std::array names{"rows", "heads", "both"};

std::vector<Tensor> results(Kept kept, const AttentionInputs& in, const AttentionOptions& options) {
    if (kept == Kept::rows) return {attention_project_out_rows(in, options)};
    if (kept == Kept::heads) return {attention_project_out_heads(in, options)};
    const Projections both = attention_project_out_both(in, options);
    return {both.rows, both.heads};
}

/// Number of blocks of rows for one core from which on a subgroup takes all heads of a block.
constexpr std::int64_t enough_blocks = 8;

/// A case whose own values are a separate operand, or, with `own_is_value`, the values of attention.
OpCase projected_case(const MaskCase& c, Kept kept, bool own_is_value) {
    OpCase made = op_case(c);
    made.name += text(", ", names.at(static_cast<std::size_t>(kept)), own_is_value ? ", one value" : "");
    if (!own_is_value) made.operands.push_back(normal({c.batch, c.queries, c.kv_heads * c.value_width}, 0.5, 1.0));
    // In 16 bits attention's gradients use the stored values of o and d_o, which adds two roundings to delta.
    made.gradient_roundings = 2;
    made.build = [c, kept, own_is_value](Inputs x) {
        return results(kept, {x[0], x[1], x[2], own_is_value ? x[2] : x[6]}, options_of(c, x));
    };
    return made;
}

const MaskCase plain{.name = "three heads",
                     .mask = {.causal = true},
                     .batch = enough_blocks + 1,
                     .queries = 5,
                     .keys = 5,
                     .width = 6,
                     .value_width = 10,
                     .heads = 3,
                     .kv_heads = 3};

std::vector<OpCase> cases() {
    MaskCase lengths = plain, many = plain, wide = plain, grouped = plain, blocks = plain;
    lengths.name = "lengths, dropout";
    lengths.query_lengths = lengths.key_lengths = {0, 1, 5, 3, 2, 4, 5, 5, 1};
    lengths.dropout = 0.3f;
    many.name = "more heads than lanes";
    many.width = many.value_width = 2;
    many.heads = many.kv_heads = 19;
    wide.name = "wide heads";
    wide.value_width = 130;
    grouped.name = "shared heads, window, more keys";
    grouped.mask = {.window_left = 2, .window_right = 1};
    grouped.keys = 8;
    grouped.heads = 6;
    grouped.kv_heads = 2;
    blocks.name = "several blocks to a batch row";
    blocks.batch = enough_blocks / 2;
    blocks.queries = blocks.keys = 97;
    blocks.value_width = 32;
    blocks.heads = blocks.kv_heads = 2;
    std::vector<OpCase> made;
    for (const Kept kept : all_kept) {
        for (const MaskCase& c : {plain, lengths, many, wide, grouped}) made.push_back(projected_case(c, kept, false));
        for (const MaskCase& c : {plain, blocks}) made.push_back(projected_case(c, kept, true));
    }
    return made;
}

class DeviceAttentionProjectOut : public ::testing::TestWithParam<OpCase> {};

TEST_P(DeviceAttentionProjectOut, Kernels) {
    DeviceTraits lowering = traits(shared_device());
    lowering.compute_units = 1;
    check_kernels(GetParam(), lowering);
}

INSTANTIATE_TEST_SUITE_P(Table, DeviceAttentionProjectOut, ::testing::ValuesIn(cases()), case_name);

/// Gradient of one tensor that is both value and own value. The table of epilogues tests two tensors.
TEST(HostAttentionProjectOut, OfOneValue) {
    MaskCase small = plain;
    small.batch = 2;
    for (const Kept kept : all_kept) check_mathematics(projected_case(small, kept, true));
}

/// Names of the kernels of attention, of projections and of both, in order, for a CPU with one core.
std::string kernels(const MaskCase& c, Kept kept) {
    const CaseGraph made(projected_case(c, kept, true), true, format_under_test());
    DeviceTraits device;
    device.compute_units = 1;
    std::string list;
    for (const Node& node : made.graph.nodes()) {
        if (node.is_view()) continue;
        for (const Dispatch& launch : lower(made.graph, live_nodes(made.graph), node, device).dispatches)
            if (launch.kernel.starts_with("attention") || launch.kernel.starts_with("project"))
                list += launch.kernel + " ";
    }
    return list;
}

TEST(HostAttentionProjectOut, TakesAllHeadsWhereEnoughBlocksRemain) {
    const std::string together = "attention_project_out attention_project_out_backward_q attention_backward_kv ";
    EXPECT_EQ(kernels(plain, Kept::rows), together);
    EXPECT_EQ(kernels(plain, Kept::both), together);
    EXPECT_EQ(kernels(plain, Kept::heads), "attention attention_project_out_backward_q attention_backward_kv ")
        << "heads by themselves are projected before they are written";
    MaskCase few = plain, odd = plain;
    few.batch = enough_blocks - 1;
    odd.value_width = 9;
    const std::string apart = "attention project_out project_out_backward attention_backward_q attention_backward_kv ";
    EXPECT_EQ(kernels(few, Kept::rows), apart);
    EXPECT_EQ(kernels(odd, Kept::rows), apart);
}

}  // namespace
}  // namespace vkf::test

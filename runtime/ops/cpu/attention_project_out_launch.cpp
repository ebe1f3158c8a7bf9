#include "ops/cpu/attention_project_out_launch.h"

#include <array>
#include <span>
#include <utility>

#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// True if a subgroup keeps a device busy that computes all heads of its rows, so that it has whole rows: on CPUs,
/// whose subgroups are workgroups, if enough workgroups remain to be shared out evenly.
bool takes_all_heads(const DeviceTraits& device, const AttentionTile& tile, std::int64_t heads) {
    const bool in_registers = tile.kernel == "attention" || tile.kernel == "attention_backward_q";
    return device.cpu && in_registers &&
           tile.groups / static_cast<std::uint64_t>(heads) >= std::uint64_t{device.compute_units} * 8;
}

/// True if a kernel can and should compute all heads of its rows; operands must be in pairs of one format.
bool computes_rows(const DeviceTraits& device, const AttentionTile& tile, const AttentionExtents& e,
                   std::span<const Tensor> operands) {
    const Format format = operands[0].format();
    for (const Tensor& x : operands)
        if (x && x.format() != format) return false;
    return e.D % 2 == 0 && e.D_V % 2 == 0 && all_even(operands) && takes_all_heads(device, tile, e.M);
}

/// Launch of a kernel that takes all heads, with the constants of shaders/attention/head_rows.glsl.
Dispatch of_all_heads(const Lowering& lowering, AttentionTile tile, const AttentionOptions& options,
                      const AttentionExtents& e, const char* kernel, const Projection& projection) {
    tile.kernel = kernel;
    tile.groups /= static_cast<std::uint64_t>(e.M);
    Dispatch made = attention_dispatch(tile, options, e, lowering.in);
    const HeadRows rows = head_rows(lowering.device, e.B * e.T, e.M, e.D_V);
    made.constants.insert(made.constants.end(), {{"STRIP", rows.strip},
                                                 {"LANES_PER_ROW", rows.lanes},
                                                 {"OF_ROWS", projection.of_rows},
                                                 {"OF_HEADS", projection.of_heads}});
    return made;
}

/// Column of a table with one row.
Table::Column one(Tensor x) {
    return std::vector{x};
}
Table::Column pitch(Tensor x) {
    return std::vector{x ? checked_u32(x.pitch()) : 0U};
}

}  // namespace

bool projects_in_one_launch(const Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                            Tensor query_values, const Projected& into) {
    const AttentionExtents e(options, lowering.in[query].shape(), lowering.in[key].shape(), lowering.in[value].shape());
    const std::array all{lowering.in[query], lowering.in[key], lowering.in[value], query_values, into.rows, into.heads};
    return computes_rows(lowering.device, tile, e, all);
}

void lower_attention_project_out(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                                 const Projection& projection, Tensor query_values, const Projected& into, Tensor lse) {
    const AttentionExtents e(options, lowering.in[query].shape(), lowering.in[key].shape(), lowering.in[value].shape());
    Dispatch made = of_all_heads(lowering, tile, options, e, "attention_project_out", projection);
    const bool in_place = into.rows && into.rows.format() == Format::f32;
    const ArgValue o = in_place ? ArgValue{into.rows} : ArgValue{lowering.scratch(query_values.elements())};
    made.constants.insert(made.constants.end(), {{"KEEP_A_ROWS", static_cast<bool>(into.row_coefficients)},
                                                 {"KEEP_A_HEADS", static_cast<bool>(into.head_coefficients)}});
    Table results{{{"v", one(query_values)},
                   {"y_rows", one(into.rows)},
                   {"y_heads", one(into.heads)},
                   {"a_rows", one(into.row_coefficients)},
                   {"a_heads", one(into.head_coefficients)},
                   {"v_pitch", pitch(query_values)}}};
    made.args.insert(made.args.end(), {{"o", o}, {"lse", lse}, {"projection", std::move(results)}});
    const auto count = static_cast<double>(query_values.elements());
    const int count_of_results = (projection.of_rows ? 1 : 0) + (projection.of_heads ? 1 : 0);
    made.flops =
        2.0 * attention_pairs(options, e) * static_cast<double>(e.D + e.D_V) + (4.0 + 2.0 * count_of_results) * count;
    made.bytes = 8.0 * static_cast<double>(lowering.in[query].elements() + lowering.in[key].elements()) +
                 (8.0 + 4.0 * count_of_results) * count;
    lowering.dispatch(std::move(made));
}

bool lower_attention_project_out_backward(Lowering& lowering, const AttentionTile& tile,
                                          const AttentionOptions& options, const ProjectOutOperands& operands,
                                          Tensor lse) {
    const AttentionExtents e(options, lowering.in[query].shape(), lowering.in[key].shape(), lowering.in[value].shape());
    const std::array all{lowering.in[query], lowering.in[key], lowering.in[value], operands.residual, operands.v,
                         operands.g_rows,    operands.g_heads, lowering.out[0],    lowering.out[3],   lowering.out[4]};
    if (!computes_rows(lowering.device, tile, e, all)) return false;
    Dispatch made = of_all_heads(lowering, tile, options, e, "attention_project_out_backward_q",
                                 operands.projection(options.heads));
    made.constants.insert(made.constants.end(), {{"GIVEN_DELTA", true}, {"DELTA", true}});
    Table gradient{{{"y", one(operands.residual)},
                    {"v", one(operands.v)},
                    {"a_rows", one(operands.a_rows)},
                    {"a_heads", one(operands.a_heads)},
                    {"g_rows", one(operands.g_rows)},
                    {"g_heads", one(operands.g_heads)},
                    {"d_o", one(lowering.out[3])},
                    {"d_v", one(lowering.out[4])},
                    {"delta", one(lowering.out[5])},
                    {"queries", std::vector{checked_u32(e.T)}},
                    {"v_pitch", pitch(operands.v)},
                    {"g_rows_pitch", pitch(operands.g_rows)},
                    {"g_heads_pitch", pitch(operands.g_heads)}}};
    made.args.insert(made.args.end(), {{"o", ArgValue{}},
                                       {"lse", lse},
                                       {"d_o", lowering.out[3]},
                                       {"delta", lowering.out[5]},
                                       {"dq", lowering.out[0]},
                                       {"gradient", std::move(gradient)},
                                       {"dq_pitch", checked_u32(lowering.out[0].pitch())}});
    const int gradients = (operands.g_rows ? 1 : 0) + (operands.g_heads ? 1 : 0);
    const auto count = static_cast<double>(operands.residual.elements());
    made.flops =
        2.0 * attention_pairs(options, e) * static_cast<double>(2 * e.D + e.D_V) + (6.0 + 10.0 * gradients) * count;
    made.bytes = 4.0 * static_cast<double>(2 * lowering.in[query].elements() + lowering.in[key].elements() +
                                           lowering.in[value].elements()) +
                 (16.0 + 4.0 * gradients) * count;
    lowering.dispatch(std::move(made));
    return true;
}

}  // namespace vkf

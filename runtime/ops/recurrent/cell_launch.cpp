#include "ops/recurrent/cell_launch.h"

#include <array>

#include "ops/rows/policy.h"
#include "ops/vector_layout.h"

namespace vkf {

namespace {

/// Rows by the work of their gates, invocations along pairs of units.
RowSweep unit_rows(const DeviceTraits& device, const CellStep& step) {
    RowSweep grid = row_sweep(device, step.rows, gates_of(step.cell) * step.width);
    grid.group = row_group(device, (step.width + 1) / 2);
    return grid;
}

std::uint32_t layout_of(std::int64_t width, std::span<const StepRows> list) {
    bool aligned = width % 2 == 0;
    for (const StepRows& rows : list) aligned = aligned && (!rows || in_multiples(rows.at, rows.pitch, 2));
    return vector_layout(aligned);
}

/// Constants and arguments that both directions have.
Dispatch launch(std::string kernel, const RowSweep& grid, const CellStep& step, std::uint32_t layout) {
    const ArgValue lengths = step.lengths ? ArgValue{step.lengths} : ArgValue{};
    return {.kernel = std::move(kernel),
            .constants = {{"GROUP", grid.group},
                          {"CELL", static_cast<std::uint32_t>(step.cell)},
                          {"WIDTH", checked_u32(step.width)},
                          {"LAYOUT", layout},
                          {"SUMMED", !step.u},
                          {"LENGTHS", static_cast<bool>(step.lengths)}},
            .args = {{"a", step.a.at},
                     {"u", step.u.at},
                     {"h", step.h.at},
                     {"c", step.c.at},
                     {"lengths", lengths},
                     {"rows", checked_u32(step.rows)},
                     {"per_group", grid.per_group},
                     {"step", static_cast<std::int32_t>(checked_u32(step.step))},
                     {"a_pitch", checked_u32(step.a.pitch)}},
            .groups = grid.groups};
}

double units(const CellStep& step) {
    return static_cast<double>(step.rows * step.width);
}

}  // namespace

StepRows::StepRows(Tensor x) {
    if (x) *this = {x, x.pitch()};
}

StepRows step_of(Tensor x, std::int64_t t) {
    const std::int64_t batch = x.shape()[0], length = x.shape()[1], pitch = x.pitch();
    return {Section{x, t * pitch, (batch - 1) * length * pitch + x.width()}, length * pitch};
}

StepRows dense_step_of(Tensor x, std::int64_t t) {
    const std::int64_t size = x.shape()[1] * x.width();
    return {Section{x, t * size, size}, x.width()};
}

Dispatch cell_launch(const DeviceTraits& device, const CellStep& step, const CellOutputs& outputs) {
    const std::array all{step.a, step.u, step.h, step.c, outputs.h_next, outputs.c_next, outputs.y};
    Dispatch made = launch("recurrent_cell", unit_rows(device, step), step, layout_of(step.width, all));
    made.constants.emplace_back("OUTPUT", static_cast<bool>(outputs.y));
    made.args.insert(made.args.end(), {{"h_next", outputs.h_next.at},
                                       {"c_next", outputs.c_next.at},
                                       {"y", outputs.y.at},
                                       {"u_pitch", checked_u32(step.u.pitch)},
                                       {"h_pitch", checked_u32(step.h.pitch)},
                                       {"c_pitch", checked_u32(step.c.pitch)},
                                       {"h_next_pitch", checked_u32(outputs.h_next.pitch)},
                                       {"c_next_pitch", checked_u32(outputs.c_next.pitch)},
                                       {"y_pitch", checked_u32(outputs.y.pitch)}});
    const auto gates = static_cast<double>(gates_of(step.cell));
    made.flops = units(step) * 40.0 * gates;
    made.bytes = units(step) * 4.0 * ((step.u ? 2.0 : 1.0) * gates + 4.0);
    return made;
}

Dispatch cell_backward_launch(const DeviceTraits& device, const CellStep& step, const CellUpstream& upstream,
                              const CellGradients& gradients) {
    const std::array all{step.a,       step.u,        step.h,        step.c,        upstream.d_y, upstream.d_h,
                         upstream.d_c, gradients.d_a, gradients.d_u, gradients.d_h, gradients.d_c};
    Dispatch made = launch("recurrent_cell_backward", unit_rows(device, step), step, layout_of(step.width, all));
    const std::array<std::pair<const char*, bool>, 7> present{{{"WITH_D_Y", static_cast<bool>(upstream.d_y)},
                                                               {"WITH_D_H", static_cast<bool>(upstream.d_h)},
                                                               {"WITH_D_C", static_cast<bool>(upstream.d_c)},
                                                               {"MAKES_D_A", static_cast<bool>(gradients.d_a)},
                                                               {"MAKES_D_U", static_cast<bool>(gradients.d_u)},
                                                               {"MAKES_D_H", static_cast<bool>(gradients.d_h)},
                                                               {"MAKES_D_C", static_cast<bool>(gradients.d_c)}}};
    for (const auto& [name, value] : present) made.constants.emplace_back(name, value);
    made.args.insert(made.args.end(), {{"d_y", upstream.d_y.at},
                                       {"d_h", upstream.d_h.at},
                                       {"d_c", upstream.d_c.at},
                                       {"d_a", gradients.d_a.at},
                                       {"d_u", gradients.d_u.at},
                                       {"d_h_before", gradients.d_h.at},
                                       {"d_c_before", gradients.d_c.at},
                                       {"u_pitch", checked_u32(step.u ? step.u.pitch : gradients.d_u.pitch)},
                                       {"state_pitch", checked_u32(step.h ? step.h.pitch : step.c.pitch)},
                                       {"d_y_pitch", checked_u32(upstream.d_y.pitch)},
                                       {"d_a_pitch", checked_u32(gradients.d_a.pitch)}});
    const auto gates = static_cast<double>(gates_of(step.cell));
    made.flops = units(step) * 50.0 * gates;
    made.bytes = units(step) * 4.0 * ((step.u ? 4.0 : 2.0) * gates + 6.0);
    return made;
}

}  // namespace vkf

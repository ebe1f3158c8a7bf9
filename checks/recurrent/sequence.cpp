#include "ops/recurrent/sequence.h"

#include <array>

#include "base/error.h"
#include "checks/op_tables.h"
#include "checks/recurrent/named_layers.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/matmul/matmul.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

struct Extents {
    std::int64_t batch, steps, width;
};

/// Results of a layer: outputs, last h and, of an LSTM, last c.
std::vector<Tensor> results(const RecurrentSequence& made) {
    std::vector<Tensor> list{made.outputs, made.last.h};
    if (made.last.c) list.push_back(made.last.c);
    return list;
}

/// All operands: a, weight_h, bias_h, the state before, and lengths if there are any. Sums of `steps` products, each of
/// rounded numbers, so the limits grow with them.
OpCase whole(const NamedLayer& of, std::string name, Extents size, bool reverse, std::vector<double> lengths = {},
             std::int64_t padding = 0) {
    const auto [batch, steps, width] = size;
    const std::int64_t columns = gates_of(of.cell) * width;
    Operand a = padded({batch, steps, columns}, padding);
    std::vector<Operand> operands{a, normal({columns, width}, 0.5), normal({columns}), normal({batch, width})};
    const bool has_c = of.cell == Cell::lstm, ends = !lengths.empty();
    if (has_c) operands.push_back(normal({batch, width}));
    if (ends) {
        operands.push_back(integers({batch}, 0, steps + 1));
        operands.back().values = std::move(lengths);
    }
    return {.name = text(of.name, " ", name),
            .operands = std::move(operands),
            .build =
                [layer = of.layer, reverse, has_c, ends](Inputs x) {
                    return results(layer(x[0], x[1], x[2],
                                         {.lengths = ends ? x.back() : Tensor(),
                                          .reverse = reverse,
                                          .initial = {x[3], has_c ? x[4] : Tensor()}}));
                },
            .ulps = 16.0 * static_cast<double>(steps),
            .gradient_ulps = 64.0 * static_cast<double>(steps),
            .finite_differences = batch * steps * columns < 1000};
}

/// Without bias, state before and gradients: states are not kept.
OpCase forward_only(const NamedLayer& of, bool reverse) {
    const std::int64_t columns = gates_of(of.cell) * 6;
    OpCase made = whole(of, reverse ? "forward only, reverse" : "forward only", {3, 4, 6}, reverse);
    made.operands = {fixed({3, 4, columns}), fixed({columns, 6}), integers({3}, 1, 5)};
    made.build = [layer = of.layer, reverse](Inputs x) {
        return results(layer(x[0], x[1], {}, {.lengths = x[2], .reverse = reverse}));
    };
    return made;
}

/// Both directions of one product. Outputs and gradients are made as slices of wider rows.
OpCase both_directions(const NamedLayer& of) {
    const std::int64_t columns = gates_of(of.cell) * 4;
    OpCase made = whole(of, "in both directions", {3, 4, 4}, false);
    made.operands = {normal({3, 4, 2 * columns}), normal({columns, 4}), integers({3}, 1, 5)};
    made.build = [layer = of.layer, columns](Inputs x) {
        const std::vector<std::int64_t> widths{columns, columns};
        const std::vector<Tensor> a = split(x[0], widths);
        const RecurrentSequence to = layer(a[0], x[1], {}, {.lengths = x[2]}),
                                fro = layer(a[1], x[1], {}, {.lengths = x[2], .reverse = true});
        return std::vector{concat(std::array{to.outputs, fro.outputs}), add(to.last.h, fro.last.h)};
    };
    return made;
}

}  // namespace

std::vector<OpCase> recurrent_sequence_cases() {
    std::vector<OpCase> cases;
    for (const NamedLayer& of : recurrent_layers()) {
        cases.push_back(whole(of, "of one step", {1, 1, 1}, false));
        cases.push_back(whole(of, "of one row", {1, 5, 6}, false));
        cases.push_back(whole(of, "of odd extents", {3, 4, 5}, false));
        cases.push_back(whole(of, "in reverse", {3, 4, 5}, true));
        cases.push_back(whole(of, "with lengths", {5, 4, 6}, false, {4, 1, 3, 0, 9}));
        cases.push_back(whole(of, "with lengths in reverse", {5, 4, 6}, true, {4, 1, 3, 0, 9}));
        cases.push_back(whole(of, "of slices", {2, 3, 6}, false, {}, 5));
        cases.push_back(whole(of, "of many rows", {67, 3, 40}, true, std::vector<double>(67, 2)));
        cases.push_back(forward_only(of, false));
        cases.push_back(forward_only(of, true));
        cases.push_back(both_directions(of));
    }
    return cases;
}

}  // namespace vkf::checks

#include "ops/attention/project_out.h"

#include <array>

#include "base/error.h"
#include "checks/op_tables.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf::checks {
namespace {

/// Values of v that are not near 0, because a short row of v would have gradients that dwarf all others.
Operand direction(Shape shape) {
    return normal(std::move(shape), 0.5, 1.0);
}

OpCase projection(std::string name, std::int64_t rows, std::int64_t groups, std::int64_t width) {
    const Shape shape{rows, groups * width};
    return {std::move(name),
            {normal(shape), direction(shape)},
            // For groups of one element, result and gradients are 0; adding o and v gives a scale to compare with.
            [groups](Inputs x) { return std::vector{add(add(project_out(x[0], x[1], groups), x[0]), x[1])}; },
            16,
            64,
            rows * groups * width <= 4096,
            true};
}

}  // namespace

std::vector<OpCase> project_out_cases() {
    std::vector<OpCase> cases;
    for (const std::int64_t width : {1, 2, 3, 5, 16, 17, 32, 64, 100, 768}) {
        cases.push_back(projection(text("rows of ", width), 5, 1, width));
        cases.push_back(projection(text("heads of ", width), 3, 4, width));
    }
    cases.push_back(projection("one row", 1, 1, 128));
    cases.push_back(projection("many rows", 1031, 1, 33));
    cases.push_back(projection("many heads", 257, 7, 16));
    cases.push_back(projection("long rows", 2, 1, 5003));
    cases.push_back({"slices", {padded({7, 24}, 3), padded({7, 24}, 5)}, [](Inputs x) {
                         return std::vector{project_out(x[0], x[1], 2)};
                     }});
    cases.push_back({"values in a packed row", {normal({2, 3, 16}), direction({2, 3, 48})}, [](Inputs x) {
                         const std::array<std::int64_t, 3> widths{16, 16, 16};
                         return std::vector{project_out(x[0], split(x[1], widths)[2], 4)};
                     }});
    cases.push_back({"values that start at an odd element", {normal({4, 6}), direction({4, 10})}, [](Inputs x) {
                         const std::array<std::int64_t, 3> widths{3, 6, 1};
                         return std::vector{project_out(x[0], split(x[1], widths)[1], 1)};
                     }});
    cases.push_back({"heads sharing values", {normal({5, 24}), direction({5, 8})}, [](Inputs x) {
                         return std::vector{project_out(x[0], x[1], 6, 2)};
                     }});
    cases.push_back({"rows sharing values", {normal({5, 24}), padded({5, 8}, 4)}, [](Inputs x) {
                         return std::vector{project_out(x[0], x[1], 1, 2)};
                     }});
    cases.push_back({"very short v",
                     {normal({3, 40}), normal({3, 40}, 1e-17)},
                     [](Inputs x) { return std::vector{project_out(x[0], x[1], 2)}; },
                     16,
                     64,
                     false});
    cases.push_back({"very long v",
                     {normal({3, 40}), normal({3, 40}, 1e17)},
                     [](Inputs x) { return std::vector{project_out(x[0], x[1], 2)}; },
                     16,
                     64,
                     false});
    return cases;
}

namespace {

OpCase both(std::string name, std::int64_t rows, std::int64_t heads, std::int64_t width) {
    const Shape shape{rows, heads * width};
    return {std::move(name),
            {normal(shape), direction(shape)},
            [heads](Inputs x) {
                const Projections left = project_out_both(x[0], x[1], heads);
                return std::vector{add(add(left.rows, x[0]), x[1]), add(left.heads, x[0])};
            },
            16,
            64,
            rows * heads * width <= 4096,
            true};
}

}  // namespace

/// 1 to 40 heads per row, so that subgroups hold several rows, one row, or a part of one.
std::vector<OpCase> project_out_both_cases() {
    std::vector<OpCase> cases;
    for (const std::int64_t heads : {1, 2, 3, 4, 5, 12, 16, 17, 40})
        for (const std::int64_t width : {1, 2, 7, 16, 32})
            cases.push_back(both(text(heads, " heads of ", width), heads < 5 ? 11 : 3, heads, width));
    cases.push_back(both("wide heads", 5, 3, 64));
    cases.push_back(both("many rows", 1031, 4, 8));
    cases.push_back({"slices", {padded({7, 24}, 3), padded({7, 24}, 5)}, [](Inputs x) {
                         const Projections left = project_out_both(x[0], x[1], 3);
                         return std::vector{left.rows, left.heads};
                     }});
    cases.push_back({"only rows are used", {normal({7, 24}), direction({7, 24})}, [](Inputs x) {
                         return std::vector{project_out_both(x[0], x[1], 3).rows};
                     }});
    cases.push_back({"only heads are used", {normal({7, 24}), direction({7, 24})}, [](Inputs x) {
                         return std::vector{project_out_both(x[0], x[1], 3).heads};
                     }});
    cases.push_back({"heads sharing values", {normal({5, 24}), direction({5, 8})}, [](Inputs x) {
                         const Projections left = project_out_both(x[0], x[1], 6, 2);
                         return std::vector{left.rows, left.heads};
                     }});
    return cases;
}

}  // namespace vkf::checks

#include "ops/movement/flatten.h"

#include "checks/op_tables.h"

namespace vkf::checks {
namespace {

/// A layout with gaps of every kind: none, one element, nearly all of 64, all but one.
FlatLayout layout() {
    return FlatLayout({{2, 32}, {7, 9}, {65}, {1}, {300, 50}});
}

std::vector<Operand> operands() {
    std::vector<Operand> list;
    for (const Shape& shape : layout().shapes) list.push_back(normal(shape));
    return list;
}

}  // namespace

std::vector<OpCase> flatten_cases() {
    return {
        {"flatten", operands(), [](Inputs in) { return std::vector{flatten(in, layout())}; }, 16, 64, false},
        {"one that is absent",
         {normal({7, 9}), normal({3})},
         [](Inputs in) {
             return std::vector{flatten(std::vector{in[0], Tensor(), in[1]}, FlatLayout({{7, 9}, {70}, {3}}))};
         }},
        {"slices",
         {padded({7, 9}, 3), padded({5, 4}, 2)},
         [](Inputs in) {
             return std::vector{flatten(in, FlatLayout({{7, 9}, {5, 4}}))};
         }},
        {"one twice",
         {normal({7, 9})},
         [](Inputs in) {
             return std::vector{flatten(std::vector{in[0], in[0]}, FlatLayout({{7, 9}, {7, 9}}))};
         }},
        {"unflatten",
         {normal({layout().elements})},
         [](Inputs in) { return unflatten(in[0], layout()); },
         16,
         64,
         false},
        {"only one of an unflattened",
         {normal({layout().elements})},
         [](Inputs in) { return std::vector{unflatten(in[0], layout())[2]}; },
         16,
         64,
         false},
        {"there and back", operands(), [](Inputs in) { return unflatten(flatten(in, layout()), layout()); }, 16, 64,
         false},
    };
}

}  // namespace vkf::checks

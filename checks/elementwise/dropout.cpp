#include "ops/elementwise/dropout.h"

#include "checks/op_tables.h"

namespace vkf::checks {
namespace {

constexpr std::int64_t WORD = std::int64_t{1} << 31;

OpCase dropped(std::string name, Operand x, float p, std::uint32_t salt) {
    const bool small = x.type.shape.elements() < 1000;
    return {.name = std::move(name),
            .operands = {std::move(x), integers({2}, -WORD, WORD)},
            .build = [=](Inputs in) { return std::vector{dropout(in[0], p, in[1], salt)}; },
            .finite_differences = small};
}

}  // namespace

std::vector<OpCase> dropout_cases() {
    return {
        dropped("one", normal({1}), 0.5f, 0),
        dropped("three", normal({3}), 0.5f, 1),
        dropped("five", normal({5}), 0.5f, 1),
        dropped("rows", normal({7, 19}), 0.1f, 7),
        dropped("a slice", padded({7, 19}, 3), 0.1f, 7),
        dropped("nearly all", normal({7, 19}), 0.96f, 0xffffffffu),
        dropped("many", normal({37, 1001}), 0.2f, 3),
        dropped("nothing", normal({4}), 0.0f, 3),
        {"twice",
         {normal({9, 9}), integers({2}, -WORD, WORD)},
         [](Inputs x) { return std::vector{dropout(dropout(x[0], 0.3f, x[1], 1), 0.3f, x[1], 2)}; }},
    };
}

}  // namespace vkf::checks

#include "checks/op_case.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"

namespace vkf::checks {

bool differentiable(const OpCase& c) {
    return std::any_of(c.operands.begin(), c.operands.end(),
                       [](const Operand& at) { return at.differentiate && at.type.dtype == DType::f32; });
}

Arrays draw(const OpCase& c) {
    std::mt19937_64 random(1234);
    std::normal_distribution<double> normal;
    Arrays arrays;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
        const Operand& operand = c.operands[i];
        const std::int64_t width = operand.type.shape.width(), wide = width + operand.padding;
        Array& array = arrays[text('x', i)] = {operand.type.shape.with_width(wide), {}};
        for (std::int64_t j = 0; j < array.shape.elements(); ++j) {
            if (j % wide >= width)
                array.at.push_back(std::nan(""));
            else if (!operand.values.empty())
                array.at.push_back(operand.values.at(static_cast<std::size_t>(j / wide * width + j % wide)));
            else if (operand.type.dtype == DType::i32)
                array.at.push_back(
                    static_cast<double>(std::uniform_int_distribution(operand.low, operand.high - 1)(random)));
            else  // rounded to fp32, as the device reads it
                array.at.push_back(
                    static_cast<double>(static_cast<float>(operand.centre + operand.spread * normal(random))));
        }
    }
    return arrays;
}

}  // namespace vkf::checks

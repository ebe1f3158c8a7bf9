#include "graph/autotuner.h"

#include <cmath>

#include "base/error.h"

namespace vkf {

std::string mismatch(const Expected& expected, std::span<const float> y) {
    for (std::size_t i = 0; i < expected.at.size(); ++i) {
        const std::size_t at = expected.at[i];
        if (at >= y.size()) return text("there are ", y.size(), " elements, wanted more than ", at);
        const auto found = static_cast<double>(y[at]);
        if (std::abs(found - expected.values[i]) <= expected.bounds[i]) continue;  // false of NaN
        return text("element ", at, " is ", found, ", wanted ", expected.values[i], " to within ", expected.bounds[i]);
    }
    return {};
}

}  // namespace vkf

// Mean and deviation of a few numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace vkf {

struct Spread {
    double mean = 0;
    double deviation = 0;  // of a sample; 0 for one number
    std::size_t count = 0;
};

inline Spread spread_of(const std::vector<double>& values) {
    Spread made{.count = values.size()};
    for (const double value : values) made.mean += value / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - made.mean) * (value - made.mean);
    if (values.size() > 1) made.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
    return made;
}

}  // namespace vkf

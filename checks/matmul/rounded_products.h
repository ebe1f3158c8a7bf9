// Products whose operands are rounded to 16 bits, for their table and for tests of implementations.
#pragma once

#include <cstdint>
#include <vector>

#include "checks/matmul/products.h"

namespace vkf::checks::rounded_products {

using products::Layout;

/// A product y [m, n] over k in one layout; rows of a and b are `padding` columns wider.
OpCase rounded_product(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t padding = 0);

std::vector<OpCase> cases();

/// Length of a case's longest sum, forward or backward, plus a few steps of an epilogue.
double terms(const OpCase& c);

}  // namespace vkf::checks::rounded_products

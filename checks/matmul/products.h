// Products for the table of matmul and for tests of its implementations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checks/op_case.h"
#include "ops/elementwise/activation.h"
#include "ops/matmul/matmul.h"

namespace vkf::checks::products {

enum class Layout { nn, nt, tn };

MatmulOptions options(Layout layout);

/// A graph of one product.
std::function<std::vector<Tensor>(Inputs)> product(Layout layout);

/// A product y [m, n] over k in one layout; rows of a and b are `padding` columns wider.
OpCase plain(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t padding = 0);

/// A product whose rows of a have factors, e.g. per sample of a batch: [B, 1, 1] for a [B, T, K].
OpCase scaled(std::string name, Operand a, Operand b, Operand row_scale, const MatmulOptions& options = {});

/// Products of one row or few rows.
std::vector<OpCase> decode_cases(Layout layout);

/// Gradient of an activation's argument, which is not differentiated again. An element has the rounding of the sum and
/// that of the slope, a few ulp of 1.
OpCase slope(std::string name, Layout layout, Operand a, Operand b, Activation activation = Activation::gelu);

/// slope() with alpha, bias and row factors; y may take the memory of the activation's argument.
OpCase slope_with_everything(std::string name, std::int64_t rows, std::int64_t n, std::int64_t k);

}  // namespace vkf::checks::products

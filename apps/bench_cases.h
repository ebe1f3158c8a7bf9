// The kernels that training and generation spend their time in, at the sizes of real models.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench_timing.h"

namespace vkf {

/// All of them, family by family.
std::vector<Case> kernel_cases();
/// Those whose family, name, shape and layout match the pattern. Throws InputError if it is none, or none match.
std::vector<Case> chosen_cases(const std::string& pattern);

using Cases = std::vector<Case>;
void add_products(Cases& list);
void add_attention(Cases& list);
void add_rows(Cases& list);      // norms, losses, embeddings, projections: a row at a time
void add_elements(Cases& list);  // activations, copies, sums
void add_optimizers(Cases& list);

/// A function of some operands, and what they are.
struct Function {
    std::string family, name, shape;
    std::function<std::vector<Tensor>(Operands&)> operands;
    std::function<Tensor(std::span<const Tensor>)> apply;
};

/// Adds the function, and its gradient with respect to all of its operands that are numbers.
void add_with_gradient(Cases& list, const Function& f);

}  // namespace vkf

// Kernels in which training and generation spend their time, at the sizes of real models.
#pragma once

#include <functional>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/bench_timing.h"
#include "ops/attention/attention.h"
#include "ops/elementwise/activation.h"

namespace vkf {

/// Small: batches that a CPU trains on. Large: batches that fill a GPU, with activations as operands.
enum class CaseSizes : std::uint8_t { small, large };

/// All cases of these sizes, family by family.
std::vector<Case> kernel_cases(CaseSizes sizes = CaseSizes::small);
/// Cases whose family, name, shape and layout match the regular expression. Throws InputError if `pattern` is not a
/// regular expression or matches no case.
std::vector<Case> chosen_cases(const std::string& pattern, CaseSizes sizes = CaseSizes::small);

/// The regular expression of --only, without regard to case. Throws InputError if it is none.
std::regex only_expression(const std::string& pattern);

using Cases = std::vector<Case>;
void add_products(Cases& list);
void add_attention(Cases& list);
void add_rows(Cases& list);      // norms, losses, embeddings, projections: one row at a time
void add_elements(Cases& list);  // activations, copies, sums
void add_optimizers(Cases& list);
void add_large(Cases& list);

// --- A computation at a size of choice -----------------------------------------------------------

/// Function that makes operands: &Operands::numbers or &Operands::activations.
using Drawn = Tensor (Operands::*)(const Shape&);

/// y [m, n] = op(a) · op(b), summed over k; `layout` says which operand is transposed.
Case product(std::string name, std::int64_t m, std::int64_t n, std::int64_t k, const char* layout,
             Drawn drawn = &Operands::numbers);
/// Adds a linear map of `rows` tokens and both of its gradients. GPT-2 stores weights as [in, out]; its head and vision
/// transformers store them as [out, in].
void add_linear(Cases& list, const std::string& name, std::int64_t rows, std::int64_t in, std::int64_t out,
                bool in_by_out, Drawn drawn = &Operands::numbers);
/// Adds self-attention whose q, k and v are slices of one product, as in models.
void add_self_attention(Cases& list, const std::string& name, std::int64_t batch, std::int64_t length,
                        std::int64_t heads, std::int64_t width, const AttentionMask& mask,
                        Drawn drawn = &Operands::numbers);
void add_norms(Cases& list, std::int64_t rows, std::int64_t width);
void add_embedding(Cases& list, std::int64_t tokens, std::int64_t vocabulary, std::int64_t width);
void add_activation(Cases& list, std::int64_t rows, std::int64_t width, const char* name, Activation kind);

/// A function and its operands.
struct Function {
    std::string family, name, shape;
    std::function<std::vector<Tensor>(Operands&)> operands;
    std::function<Tensor(std::span<const Tensor>)> apply;
};

/// Adds the function, and its gradient with respect to all operands of type f32; `drawn` makes the gradient of the
/// result.
void add_with_gradient(Cases& list, const Function& f, Drawn drawn = &Operands::numbers);

}  // namespace vkf

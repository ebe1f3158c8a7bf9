// Parts shared by attention and its derivative: extents, probabilities in double, and arguments of all their kernels.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "graph/op.h"
#include "ops/attention/attention.h"
#include "ops/attention/attention_tiling.h"

namespace vkf {

/// First inputs of attention and of its derivative; the last three may be absent.
enum AttentionOperand : std::size_t { query, key, value, seed, query_lengths, key_lengths, attention_operands };

/// Extents, with the letters of ops/attention/attention.h.
struct AttentionExtents {
    std::int64_t B, T, S, M, N, D, D_V;

    AttentionExtents(const AttentionOptions& options, const Shape& q, const Shape& k, const Shape& v)
        : B(q[0]),
          T(q[1]),
          S(k[1]),
          M(options.heads),
          N(options.value_heads()),
          D(q[2] / options.heads),
          D_V(v[2] / options.value_heads()) {}

    std::int64_t gqa_group() const { return M / N; }
    /// Index of the first element of head m at position i in a dense [B, length, heads·width].
    static std::size_t at(std::int64_t b, std::int64_t i, std::int64_t m, std::int64_t length, std::int64_t heads,
                          std::int64_t width) {
        return static_cast<std::size_t>(((b * length + i) * heads + m) * width);
    }
    std::size_t q_at(std::int64_t b, std::int64_t i, std::int64_t m) const { return at(b, i, m, T, M, D); }
    std::size_t o_at(std::int64_t b, std::int64_t i, std::int64_t m) const { return at(b, i, m, T, M, D_V); }
    std::size_t k_at(std::int64_t b, std::int64_t j, std::int64_t m) const {
        return at(b, j, m / gqa_group(), S, N, D);
    }
    std::size_t v_at(std::int64_t b, std::int64_t j, std::int64_t m) const {
        return at(b, j, m / gqa_group(), S, N, D_V);
    }
    template <class Visit>
    void each_row(const Visit& visit) const {
        for (std::int64_t b = 0; b < B; ++b)
            for (std::int64_t m = 0; m < M; ++m)
                for (std::int64_t i = 0; i < T; ++i) visit(b, m, i);
    }
    AttentionSize size() const {
        return {.batch_heads = B * M, .q_len = T, .kv_len = S, .head_width = D, .value_width = D_V, .gqa_group = M / N};
    }
};

double dot(const double* a, const double* b, std::int64_t count);

/// Dropout's factors of pairs on the host, from the same words as in shaders/attention/attention_dropout.glsl.
class DropoutMask {
public:
    DropoutMask(const AttentionOptions& options, const Array& seed);
    double factor(std::int64_t batch_head, std::int64_t i, std::int64_t j) const;

private:
    std::uint32_t word(std::int64_t batch_head, std::int64_t position, std::uint32_t side) const;

    float rate_;
    std::uint32_t salt_;
    std::array<std::uint32_t, 2> key_{};
};

/// Probabilities of all S keys for one query, and the base-2 logarithm of their common divisor. A query that sees no
/// key has zeros and +inf.
struct AttentionRow {
    std::vector<double> p;
    double lse = INFINITY;

    AttentionRow(const AttentionOptions& options, const AttentionExtents& e, std::span<const Array> in, std::int64_t b,
                 std::int64_t m, std::int64_t i);
};

/// Number of pairs of query and key that kernels visit; with lengths, which the host does not know, an upper bound.
double attention_pairs(const AttentionOptions& options, const AttentionExtents& e);

/// Name of the implementation of a forward pass, or of a whole derivative. Lengths are not known here: the fastest
/// implementation without lengths is also used with them.
std::string attention_implementation(const DeviceTraits& device, const AttentionOptions& options,
                                     const AttentionExtents& e, std::span<const Tensor> in, bool backward);

/// Traits that allow 16 bits for the operands in the masks `in` and `out`, which have the shapes of q, k or v; none
/// where heads have odd widths.
KernelTraits traits_of_heads(const AttentionOptions& options, std::span<const Tensor> at, std::uint32_t in,
                             std::uint32_t out);

/// Dispatch with the constants and arguments common to the kernels of all three passes.
Dispatch attention_dispatch(const AttentionTile& tile, const AttentionOptions& options, const AttentionExtents& e,
                            std::span<const Tensor> in);

/// Tells kernels with matrices of a workgroup if rows in 16 bits start at multiples of 16 bytes, which load faster.
void align_attention(Dispatch& made, const AttentionExtents& e, std::initializer_list<Tensor> tensors);

/// Inputs of an attention node; and the outputs o and lse of that node, which is added to the graph.
std::vector<Tensor> attention_inputs(Tensor q, Tensor k, Tensor v, const AttentionOptions& options);
std::vector<Tensor> attention_and_lse(const AttentionOptions& options, std::span<const Tensor> in);

/// Types of o and lse. Throws InputError for operands that do not fit each other or the options.
std::vector<TensorType> check_attention(const AttentionOptions& options, std::span<const TensorType> in);

/// Epilogue that some kernels apply to each head of o as they write it: its discrepancy with query_values,
/// [B, T, M·D_V], or its component perpendicular to them, with coefficients [B, T, M]. Numbered as in
/// shaders/attention/attention_epilogue.glsl.
struct HeadEpilogue {
    enum class Kind : std::uint32_t { none, discrepancy, project_out } kind = Kind::none;
    Tensor query_values = {}, coefficients = {};
    float by_o = 0.0f, by_v = 0.0f;
};

/// Kernel of the forward pass; has_epilogue() is true if the kernel can apply an epilogue.
AttentionTile forward_tile(const Lowering& lowering, const AttentionOptions& options);
bool has_epilogue(const AttentionTile& tile);

/// Lowers the forward pass. o, or the epilogue's result, is an output in the inputs' format, or temporary fp32 memory.
void lower_attention(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options, const ArgValue& o,
                     Tensor lse, const HeadEpilogue& epilogue = {});

/// Operands and results of the derivative. delta = <d_o, o> of each head, [B, M, T], is computed along with d_q if o is
/// present, else given. d_v_addend, which may be absent, is added to d_v.
struct AttentionDerivative {
    Tensor o, lse, d_o;
    ArgValue delta;
    Tensor d_v_addend, d_q, d_k, d_v;
};
AttentionTile backward_tile(const Lowering& lowering, const AttentionOptions& options, AttentionPass pass);
void lower_query_gradient(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                          const AttentionDerivative& derivative);
void lower_key_gradient(Lowering& lowering, const AttentionTile& tile, const AttentionOptions& options,
                        const AttentionDerivative& derivative);

/// Gradients of all inputs given d_o; only q, k and v have one. delta = <d_o, o> of each head, [B, M, T], is computed
/// from o if absent. `in` are the inputs of a node and begin with the attention_operands.
struct AttentionResult {
    Tensor o, lse, d_o, delta;
};
std::vector<Tensor> attention_gradients(const AttentionOptions& options, std::span<const Tensor> in,
                                        const AttentionResult& result);

}  // namespace vkf

// What attention and its derivative share: extents, probabilities in double, and what all of their kernels take.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "graph/op.h"
#include "ops/attention.h"
#include "ops/attention_tiling.h"

namespace vkf {

/// The inputs that both begin with; the last three may be absent.
enum AttentionOperand : std::size_t { query, key, value, seed, query_lengths, key_lengths, attention_operands };

/// Letters as in ops/attention.h.
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
    /// Where head m of position i begins in a dense [B, length, heads·width].
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

/// The words of shaders/lib/attention_dropout.glsl that dropout's bits for a pair come from.
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

/// A query's probabilities of all S keys, and the logarithm of their common divisor in base 2: +inf and zeros if it
/// sees no key.
struct AttentionRow {
    std::vector<double> p;
    double lse = INFINITY;

    AttentionRow(const AttentionOptions& options, const AttentionExtents& e, std::span<const Array> in, std::int64_t b,
                 std::int64_t m, std::int64_t i);
};

/// Pairs of query and key that kernels look at, as far as the host knows: lengths may be less.
double attention_pairs(const AttentionOptions& options, const AttentionExtents& e);

/// Which kernels compute a forward pass, or a whole derivative. Lengths are not known here, so what is fastest
/// without them is taken for fastest with them.
std::string attention_implementation(const DeviceTraits& device, const AttentionOptions& options,
                                     const AttentionExtents& e, std::span<const Tensor> in, bool backward);

/// For q, k, v and whatever has their shape; in 16 bits, heads must be made of whole pairs.
KernelTraits traits_of_heads(const AttentionOptions& options, std::span<const Tensor> at, std::uint32_t in,
                             std::uint32_t out);

/// What the three kernels have in common.
Dispatch attention_dispatch(const AttentionTile& tile, const AttentionOptions& options, const AttentionExtents& e,
                            std::span<const Tensor> in);

/// Matrices of a workgroup are loaded faster where rows in 16 bits start at multiples of 16 bytes.
void align_attention(Dispatch& made, const AttentionExtents& e, std::initializer_list<Tensor> tensors);

/// Inputs of an attention node, and the node that makes o and lse of them.
std::vector<Tensor> attention_inputs(Tensor q, Tensor k, Tensor v, const AttentionOptions& options);
std::vector<Tensor> attention_and_lse(const AttentionOptions& options, std::span<const Tensor> in);

/// The types of o and lse. Throws InputError for operands that do not fit each other or the options.
std::vector<TensorType> check_attention(const AttentionOptions& options, std::span<const TensorType> in);

/// What kernels that can make of each head of o as they write it: its discrepancy with own_v, [B, T, M·D_V], or what
/// its projection leaves, with coefficients [B, T, M]. Numbered as in shaders/lib/attention_epilogue.glsl.
struct HeadEpilogue {
    enum class Kind : std::uint32_t { none, discrepancy, project_out } kind = Kind::none;
    Tensor own_v = {}, coefficients = {};
    float by_o = 0.0f, by_v = 0.0f;
};

/// Which kernel computes the forward pass, and whether it can make an epilogue.
AttentionTile forward_tile(const Lowering& to, const AttentionOptions& options);
bool has_epilogue(const AttentionTile& tile);

/// The forward pass: o, or what the epilogue makes of it, is an output as `in` are kept, or temporary memory in fp32.
void lower_attention(Lowering& to, const AttentionTile& tile, const AttentionOptions& options, const ArgValue& o,
                     Tensor lse, const HeadEpilogue& epilogue = {});

/// What the derivative is made of and where it goes. delta = <d_o, o> of each head, [B, M, T], is made on the way to
/// d_q if there is an o, else given. d_v is summed with what may be there to be added.
struct AttentionDerivative {
    Tensor o, lse, d_o;
    ArgValue delta;
    Tensor d_v_addend, d_q, d_k, d_v;
};
AttentionTile backward_tile(const Lowering& to, const AttentionOptions& options, AttentionPass pass);
void lower_query_gradient(Lowering& to, const AttentionTile& tile, const AttentionOptions& options,
                          const AttentionDerivative& of);
void lower_key_gradient(Lowering& to, const AttentionTile& tile, const AttentionOptions& options,
                        const AttentionDerivative& of);

/// The gradients of all inputs, of which q, k and v have one, given that of o. delta = <d_o, o> of each head, [B, M,
/// T], is made from o where it is not there. `in` are a node's inputs, the first of which are attention_operands.
struct AttentionResult {
    Tensor o, lse, d_o, delta;
};
std::vector<Tensor> attention_gradients(const AttentionOptions& options, std::span<const Tensor> in,
                                        const AttentionResult& of);

}  // namespace vkf

// longformer: window attention whose first tokens are global and have maps of their own (Beltagy et al., 2020, arXiv
// 2004.05150, section 3.1). For a local token i, o_i = softmax(scale · q_i kᵀ) v over |i − j| ≤ w and the global
// tokens; for a global one, o_i = softmax(scale · q′_i k′ᵀ) v′ over all tokens, where q′ = x W_q′ and so on. The value
// at a global token's own position is v′_i. Parameters: query_global, key_global, value_global, linear maps of the
// layer's input as those of q, k and v are.

#include <algorithm>
#include <array>

#include "base/error.h"
#include "models/attention/kind.h"
#include "models/layers.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/movement/view.h"

namespace vkf {

namespace {

struct Longformer {
    std::int64_t window = 128, global_tokens = 1;

    std::vector<Field> fields() {
        constexpr std::int64_t most = 10'000'000;
        return {{.key = "longformer_window",
                 .value = IntRange{.value = &window, .least = 0, .most = most, .counts_zero = true},
                 .help = "positions before and after its own that a local token of longformer sees"},
                {.key = "longformer_global_tokens",
                 .value = IntRange{&global_tokens, 1, most},
                 .help = "first tokens that see all tokens, by maps of their own, and are seen by all"}};
    }
    bool operator==(const Longformer&) const = default;
};

void hide_far(const AnyConfig& options, std::int64_t /*layer*/, AttentionMask& mask) {
    const auto& own = options.as<Longformer>();
    mask.window_left = mask.window_right = own.window;
    mask.global_first = own.global_tokens;
}

/// The first positions of `first` and the later ones of `rest`, [B, T, …].
Tensor joined(Tensor first, Tensor rest) {
    const std::int64_t batch = rest.shape()[0], length = rest.shape()[1], width = rest.width(),
                       count = first.shape()[1];
    if (count == length)  // the maps of local tokens have gradients all the same, which are 0
        return add(first, mul(rest, fill(rest.graph(), rest.shape(), 0.0f)));
    const Tensor later = slice(rest, 1, count, length - count);
    const auto in_a_row = [&](Tensor x) { return reshape(x, {batch, x.shape()[1] * width}); };
    return reshape(concat(std::array{in_a_row(first), in_a_row(later)}), rest.shape());
}

void map_globals(AttentionContext& at) {
    require(!at.options.mask.causal && at.input,
            "longformer's global tokens see later tokens: wanted an encoder of text or images");
    require(at.config.variant().maps == 1, "attention '", at.config.variant_name(),
            "' halves heads, and longformer's global tokens have heads of their own: wanted another variant or "
            "--attention-kind window");
    require(!at.options.mask.diagonal,
            "longformer has no mask of each token for itself: mask_diagonal is true, wanted "
            "false");
    const std::int64_t length = at.q.shape()[1];
    const std::int64_t count = std::min(length, at.config.kind_options.as<Longformer>().global_tokens);
    const auto map = [&](std::string_view name, Tensor x, std::int64_t width) {
        return linear(at.scope / name, x, width, *at.input_map);
    };
    at.others = {map("query_global", slice(at.input, 1, 0, count), at.q.width()),
                 map("key_global", at.input, at.k.width()), map("value_global", at.input, at.v.width())};
    at.query_values = joined(slice(at.others.v, 1, 0, count), at.query_values);
}

Tensor attend_twice(const AttentionContext& at) {
    AttentionOptions all = at.options;
    all.mask = {.query_lengths = at.options.mask.query_lengths, .key_lengths = at.options.mask.key_lengths};
    all.salt = (at.scope / "query_global").salt();
    const Tensor global = attention(at.others.q, at.others.k, at.others.v, all);
    return joined(global, attention(at.q, at.k, at.v, at.options));
}

}  // namespace

const AttentionKind& longformer_attention_kind() {
    static const AttentionKind kind{.name = "longformer",
                                    .options = Longformer(),
                                    .hide = hide_far,
                                    .prepare = map_globals,
                                    .attend = attend_twice};
    return kind;
}

}  // namespace vkf

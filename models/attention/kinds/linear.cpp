// linear: weights are products of features, φ(q)ᵀφ(k), so that time grows linearly with the length and generation keeps
// a state of constant size (Katharopoulos et al., 2020, arXiv 2006.16236; equations in
// ops/linear_attention/linear_attention.h). There are no weights that dropout could act on.

#include "base/error.h"
#include "models/attention/key_value_cache.h"
#include "models/attention/kind.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/linear_attention/linear_attention.h"

namespace vkf {

namespace {

struct Linear {
    FeatureMap features = FeatureMap::elu;

    std::vector<Field> fields() {
        static constexpr std::pair<const char*, FeatureMap> words[] = {
            {"elu", FeatureMap::elu}, {"relu", FeatureMap::relu}, {"taylor", FeatureMap::taylor}};
        return {{.key = "feature_map",
                 .value = choice(features, words),
                 .help = "features of linear attention, which has no weights to drop: elu(x) + 1, relu(x), or Taylor's "
                         "first order of exp(q k)"}};
    }
    bool operator==(const Linear&) const = default;
};

Tensor attend(const AttentionContext& at) {
    const AttentionOptions& o = at.options;
    const AttentionMask& mask = o.mask;
    require(!mask.diagonal, "linear attention sums over all tokens: mask_diagonal is true, wanted false");
    require(!mask.window_left && !mask.window_right,
            "linear attention sums over all tokens, and the model has a window");
    require(o.scale == 0, "linear attention has no scores to scale, wanted a model with the usual scale");
    const LinearAttentionOptions how{.heads = o.heads,
                                     .kv_heads = o.kv_heads,
                                     .features = at.config.kind_options.as<Linear>().features,
                                     .causal = mask.causal,
                                     .query_lengths = mask.query_lengths,
                                     .key_lengths = mask.key_lengths};
    if (!at.cache) return linear_attention(at.q, at.k, at.v, how);

    LinearAttentionOptions step = how;
    step.query_lengths = {};
    step.key_lengths = at.cache->lengths;  // 0 for a row that reads nothing, and at least as many as it reads
    const std::int64_t value_heads = o.value_heads(), width = at.k.width() / value_heads;
    const std::int64_t size = linear_attention_state(step, width, at.v.width() / value_heads);
    const Tensor nothing = fill(at.q.graph(), {at.q.shape()[0], size}, 0);
    const CarriedState carried = at.cache->carry(at.scope, nothing);
    const LinearAttentionStep made = linear_attention_step(at.q, at.k, at.v, carried.value(), step);
    carried.keep(made.state);
    return made.o;
}

}  // namespace

const AttentionKind& linear_attention_kind() {
    static const AttentionKind kind{.name = "linear", .options = Linear(), .attend = attend, .carries_state = true};
    return kind;
}

}  // namespace vkf

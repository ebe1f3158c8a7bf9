// linformer: attention to few linear combinations of the keys and values, softmax(scale · q (E k)ᵀ) (F v) (Wang et al.,
// 2020, arXiv 2006.04768, eq. 7). E and F are parameters, linformer.e and linformer.f, [K', n] or [N, K', n], one for
// each key head; n is the longest sequence of the model, and shorter ones take the first columns.

#include <cmath>

#include "base/error.h"
#include "models/attention/kind.h"
#include "ops/linear_attention/linformer.h"

namespace vkf {

namespace {

/// Sharing of E and F, from none to one matrix for all (section 4 of the paper).
enum class Sharing : std::uint8_t { none, headwise, key_value, layerwise };

struct Linformer {
    std::int64_t combinations = 128, length = 0;
    Sharing sharing = Sharing::headwise;

    std::vector<Field> fields() {
        static constexpr std::pair<const char*, Sharing> words[] = {{"none", Sharing::none},
                                                                    {"headwise", Sharing::headwise},
                                                                    {"key_value", Sharing::key_value},
                                                                    {"layerwise", Sharing::layerwise}};
        return {{.key = "linformer_k",
                 .value = IntRange{&combinations, 1, 100'000},
                 .help = "combinations of keys and values that linformer attends to"},
                {.key = "linformer_sharing",
                 .value = choice(sharing, words),
                 .help = "matrices that combine keys and values: one for each head and both, for both (headwise), one "
                         "for keys and values (key_value), one for all layers (layerwise)"},
                {.key = "linformer_length",
                 .value = IntRange{&length, 0, 10'000'000},
                 .help = "longest sequence of linformer; 0: the model's"}};
    }
    bool operator==(const Linformer&) const = default;
};

Tensor attend(const AttentionContext& at) {
    const auto& own = at.config.kind_options.as<Linformer>();
    const std::int64_t heads = at.options.value_heads(), keys = at.k.shape()[1];
    const std::int64_t length = own.length > 0 ? own.length : keys;
    require(!at.options.mask.causal,
            "linformer combines keys of all positions, so a causal model would see later tokens: wanted an encoder");
    require(keys <= length, "there are ", keys, " tokens, and linformer_length is ", length);
    const Scope scope = (own.sharing == Sharing::layerwise ? at.scope.root() : at.scope) / "linformer";
    const Shape shape =
        own.sharing == Sharing::none ? Shape{heads, own.combinations, length} : Shape{own.combinations, length};
    // Sums of `length` numbers keep their variance.
    const Init init = Init::normal(1 / std::sqrt(static_cast<float>(length)));
    const Tensor e = scope.parameter("e", shape, init);
    const bool one = own.sharing == Sharing::key_value || own.sharing == Sharing::layerwise;
    return linformer_attention(at.q, at.k, at.v, e, one ? e : scope.parameter("f", shape, init), at.options);
}

void settle(AnyConfig& options, std::int64_t longest) {
    auto& own = options.as<Linformer>();
    if (own.length == 0) own.length = longest;
}

}  // namespace

const AttentionKind& linformer_attention_kind() {
    static const AttentionKind kind{.name = "linformer", .options = Linformer(), .attend = attend, .settle = settle};
    return kind;
}

}  // namespace vkf

// window: a query attends to keys at most `window` positions away, |i − j| ≤ window, or of these only to multiples of a
// dilation; the first tokens may be global, which see all tokens and are seen by all (Longformer: Beltagy et al., 2020,
// arXiv 2004.05150, without its separate projections for global tokens, which longformer.cpp has). Causal models see
// earlier tokens only.

#include <algorithm>

#include "models/attention/kind.h"

namespace vkf {

namespace {

struct Window {
    std::int64_t window = 128, dilation = 1, global_tokens = 0;

    std::vector<Field> fields() {
        constexpr std::int64_t most = 10'000'000;
        return {{.key = "window",
                 .value = IntRange{.value = &window, .least = 0, .most = most, .counts_zero = true},
                 .help = "positions before and after its own that a query sees in window attention",
                 .option = "attention-window"},
                {.key = "dilation",
                 .value = IntRange{&dilation, 1, most},
                 .help = "of the window's keys, a query sees only those at multiples of so many positions",
                 .option = "attention-dilation"},
                {.key = "global_tokens",
                 .value = IntRange{.value = &global_tokens, .least = 0, .most = most, .counts_zero = true},
                 .help = "first tokens that see all tokens and are seen by all, beside the window"}};
    }
    bool operator==(const Window&) const = default;
};

void hide(const AnyConfig& options, std::int64_t /*layer*/, AttentionMask& mask) {
    const auto& own = options.as<Window>();
    mask.window_left = mask.window_right = own.window;
    mask.dilation = own.dilation;
    mask.global_first = own.global_tokens;
}

}  // namespace

const AttentionKind& window_attention_kind() {
    static const AttentionKind kind{.name = "window", .options = Window(), .hide = hide};
    return kind;
}

}  // namespace vkf

// window: a query attends to keys at most `window` positions away, |i − j| ≤ window (the sliding window of Longformer,
// Beltagy et al., 2020, arXiv 2004.05150), in causal models to earlier ones only.

#include <algorithm>

#include "models/attention/kind.h"

namespace vkf {

namespace {

struct Window {
    std::int64_t window = 128;

    std::vector<Field> fields() {
        return {{.key = "window",
                 .value = IntRange{.value = &window, .least = 0, .most = 10'000'000, .counts_zero = true},
                 .help = "positions before and after its own that a query sees [window attention]",
                 .option = "attention-window"}};
    }
    bool operator==(const Window&) const = default;
};

void hide(const AnyConfig& options, AttentionMask& mask) {
    const std::int64_t window = options.as<Window>().window;
    mask.window_left = std::min(mask.window_left.value_or(window), window);
    mask.window_right = std::min(mask.window_right.value_or(window), window);
}

}  // namespace

const AttentionKind& window_attention_kind() {
    static const AttentionKind kind{.name = "window", .options = Window(), .hide = hide};
    return kind;
}

}  // namespace vkf

// bigbird: positions in blocks. The queries of a block see their own block, neighbouring blocks, global blocks at both
// ends, whose queries see all keys, and random blocks (Zaheer et al., 2020, arXiv 2007.14062), which differ from layer
// to layer. In causal models queries see earlier tokens only, and the last blocks are not global.

#include "base/error.h"
#include "models/attention/kind.h"

namespace vkf {

namespace {

struct BigBird {
    std::int64_t block_size = 64, window_blocks = 1, global_blocks = 1, random_blocks = 3, seed = 0;

    std::vector<Field> fields() {
        constexpr std::int64_t most = 1'000'000;
        const auto count = [](std::int64_t& value) {
            return IntRange{.value = &value, .least = 0, .most = most, .counts_zero = true};
        };
        return {{.key = "bigbird_block_size",
                 .value = IntRange{&block_size, 1, most},
                 .help = "positions of a block of bigbird attention"},
                {.key = "bigbird_window_blocks",
                 .value = count(window_blocks),
                 .help = "blocks before and after its own that a block sees"},
                {.key = "bigbird_global_blocks",
                 .value = count(global_blocks),
                 .help = "blocks at each end that see all and are seen by all"},
                {.key = "bigbird_random_blocks",
                 .value = count(random_blocks),
                 .help = "other blocks that each block sees, drawn for each layer"},
                {.key = "bigbird_seed", .value = count(seed), .help = "seed of the random blocks"}};
    }
    bool operator==(const BigBird&) const = default;
};

void hide(const AnyConfig& options, std::int64_t layer, AttentionMask& mask) {
    const auto& own = options.as<BigBird>();
    // Such blocks are counted in the padded length, so that a sequence would depend on those beside it in a batch.
    require(mask.causal || !mask.key_lengths || own.global_blocks + own.random_blocks == 0,
            "bigbird's global and random blocks are for sequences of one length, and the model pads them: wanted "
            "--attention-kind window, with --global-tokens, or none of these blocks");
    mask.block = own.block_size;
    mask.window_left = mask.window_right = own.window_blocks;
    mask.global_first = own.global_blocks;
    mask.global_last = mask.causal ? 0 : own.global_blocks;
    mask.random_blocks = own.random_blocks;
    mask.random_seed = static_cast<std::uint64_t>(own.seed) << 32 | static_cast<std::uint64_t>(layer);
}

}  // namespace

const AttentionKind& bigbird_attention_kind() {
    static const AttentionKind kind{.name = "bigbird", .options = BigBird(), .hide = hide};
    return kind;
}

}  // namespace vkf

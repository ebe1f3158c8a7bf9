// A tiny language model for tests, and a batch that it can learn by heart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "models/attention/variant.h"
#include "models/families/gpt2.h"
#include "models/train/token_feed.h"

namespace vkf::test {

/// Configuration of a variant, by name; `gamma` is for attentionx.
inline AttentionConfig attention_of(std::string_view variant, float gamma = 1.0f) {
    AttentionConfig made(variant);
    for (const Field& option : made.options.fields())
        if (option.key == "gamma") *std::get<Number>(option.value).value = gamma;
    return made;
}

inline Gpt2Config tiny_gpt2(std::string_view variant) {
    Gpt2Config c;
    c.vocab_size = 17;
    c.n_positions = 12;
    c.n_embd = 24;
    c.n_layer = 2;
    c.n_head = 3;
    c.attention = attention_of(variant, 3.0f);
    return c;
}

/// Two rows of twelve tokens.
inline Batch tiny_batch() {
    Batch batch;
    for (std::int32_t i = 0; i < 24; ++i) {
        batch["tokens"].push_back(i * 7 % 17);
        batch["targets"].push_back((i + 1) * 7 % 17);
    }
    return batch;
}

/// Converts a variant's name to a test's: belief-star becomes belief_star.
inline std::string variant_id(const ::testing::TestParamInfo<std::string>& info) {
    std::string id = info.param;
    std::replace(id.begin(), id.end(), '-', '_');
    return id;
}

}  // namespace vkf::test

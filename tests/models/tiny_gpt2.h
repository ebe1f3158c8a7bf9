// A language model small enough for tests, and a batch that it can learn by heart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "models/gpt2.h"
#include "models/train/token_feed.h"

namespace vkf::test {

inline Gpt2Config tiny_gpt2(std::string_view variant) {
    Gpt2Config c;
    c.vocab_size = 17;
    c.n_positions = 12;
    c.n_embd = 24;
    c.n_layer = 2;
    c.n_head = 3;
    c.attention.variant = variant;
    c.attention.gamma = variant == "attentionx" ? 3.0f : 1.0f;
    return c;
}

/// Two rows of twelve tokens.
inline Batch tiny_batch() {
    Batch batch;
    for (std::int32_t i = 0; i < 24; ++i) {
        batch.tokens.push_back(i * 7 % 17);
        batch.targets.push_back((i + 1) * 7 % 17);
    }
    return batch;
}

inline std::vector<std::string> variant_names() {
    std::vector<std::string> names;
    for (const Variant& variant : variants()) names.emplace_back(variant.name);
    return names;
}

/// A variant's name as a test's: belief-star is belief_star.
inline std::string variant_id(const ::testing::TestParamInfo<std::string>& of) {
    std::string id = of.param;
    std::replace(id.begin(), id.end(), '-', '_');
    return id;
}

}  // namespace vkf::test

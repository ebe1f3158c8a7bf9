// Low-rank adapters (LoRA: Hu et al., arXiv 2106.09685): a linear map's weight W is frozen, and two small matrices are
// trained in addition,
//     y = W x + s · B (A x),   A [rank, in] initially U(±1/√in), B [out, rank] initially 0, s = alpha / rank.
// Names and defaults are those of Hugging Face's PEFT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

struct LoraConfig {
    std::int64_t rank = 8;
    float alpha = 16.0f;
    bool rank_stabilized = false;      // s = alpha / √rank (rsLoRA: Kalajdzievski, arXiv 2312.03732)
    std::vector<std::string> targets;  // linear maps that have adapters: paths, or last components

    /// True if the linear map at this path has an adapter.
    bool adapts(std::string_view path) const;
    float scale() const;
    bool operator==(const LoraConfig&) const = default;
};

}  // namespace vkf

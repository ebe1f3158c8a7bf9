// The attention heads of a model: their places in its output maps, and their removal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/scope.h"
#include "program/state.h"

namespace vkf {

/// A layer of attention.
struct HeadLayer {
    /// Map from the heads' outputs to the residual stream. Head h owns D_V of its inputs, from h·D_V on.
    struct Map {
        std::string parameter;
        bool out_in;  // the weight is stored [out, in]
    };

    std::string name;           // path: "h.0.attn"
    std::int64_t heads, width;  // M, D_V
    std::vector<Map> maps;      // W^o and, if there is one, W^s
};

/// Layers of a graph whose taps watched tap::output_map, in its order.
std::vector<HeadLayer> head_layers(const Taps& taps, const Parameters& parameters);

/// A head of the layer of this number.
struct Head {
    std::size_t layer = 0;
    std::int64_t head = 0;

    auto operator<=>(const Head&) const = default;
};

/// Prunes heads of a model whose parameters are states: a head is pruned if its part of the output maps is zero, so
/// that nothing of its output reaches the residual stream, whatever the variant (Michel et al., Are Sixteen Heads
/// Really Better than One?, 2019, zero a head's output in the same place). Shapes stay as they are.
class HeadPruning {
public:
    /// Heads that the model has already lost are known as pruned.
    HeadPruning(State& state, std::vector<HeadLayer> layers);

    const std::vector<HeadLayer>& layers() const { return layers_; }
    bool pruned(const Head& head) const { return pruned_[head.layer][static_cast<std::size_t>(head.head)]; }
    /// Heads that are left.
    std::vector<Head> left() const;

    void prune(const Head& head) { set(head, true); }
    /// Gives a head that prune() removed its weights back.
    void restore(const Head& head) { set(head, false); }

private:
    void set(const Head& head, bool pruned);

    State& state_;
    std::vector<HeadLayer> layers_;
    std::vector<std::vector<std::vector<float>>> weights_;  // of the maps, by layer, as they were
    std::vector<std::vector<bool>> pruned_;                 // by layer and head
};

}  // namespace vkf

// Probe of a model: statistics of every attention layer on one batch, by a program of its own that reads the parameters
// and changes none.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "models/probes/attention_statistics.h"
#include "models/train/trainer.h"

namespace vkf {

class ModelConfig;

class AttentionProbe {
public:
    /// Compiles a graph of a loss, with further outputs, for the parameters that are probed.
    using Compile = std::function<std::unique_ptr<CompiledGraph>(const LossGraph&)>;

    /// Watches the graph of an evaluation's loss, of rows with about 1024 positions in all. Throws InputError if the
    /// model has no self-attention, or layers without one map of weights per head; `purpose` begins the message.
    AttentionProbe(const Compile& compile, const LossGraph& loss, const ModelConfig& model, std::string_view purpose);
    /// Probes the trainer's parameters as they are at the time (moving averages if it keeps them).
    AttentionProbe(Trainer& trainer, const LossGraph& loss, const ModelConfig& model);

    struct Layer {
        std::string name;  // path of the layer
        std::map<std::string, TokenMean> statistics;
    };
    /// Statistics on the first batch of the feed. No update of the parameters may be under way.
    std::vector<Layer> read(const Feed& feed);

private:
    bool signal_is_phi_;
    std::vector<Tapped> found_;
    std::unique_ptr<CompiledGraph> graph_;
};

/// {"layers": names, STATISTIC: {"first": by layer, "all": by layer}, …}. A statistic that a layer lacks is not a
/// number, which JSON has as null.
nlohmann::ordered_json probe_document(const std::vector<AttentionProbe::Layer>& layers);

}  // namespace vkf

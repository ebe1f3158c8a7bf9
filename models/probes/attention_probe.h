// Probe of a model in training: statistics of every self-attention layer on one batch, by a program of its own that
// reads the parameters and changes none.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "models/probes/attention_statistics.h"
#include "models/train/trainer.h"

namespace vkf {

class ModelConfig;

class AttentionProbe {
public:
    /// Watches the graph of an evaluation's loss, of rows with about 1024 positions in all. Throws InputError if the
    /// model has no self-attention, or a variant of several attention maps per head.
    AttentionProbe(Trainer& trainer, const LossGraph& loss, const ModelConfig& model);

    struct Layer {
        std::string name;  // path of the layer
        std::map<std::string, TokenMean> statistics;
    };
    /// Statistics on the batch that the feed writes, with the trainer's present parameters (moving averages if it keeps
    /// them). No update may be under way.
    std::vector<Layer> read(const Feed& feed);

private:
    bool signal_is_phi_;
    std::vector<Tapped> found_;
    std::unique_ptr<CompiledGraph> graph_;
};

/// {"layers": names, STATISTIC: {"first": by layer, "all": by layer}, …}, where null is not a number.
nlohmann::ordered_json probe_document(const std::vector<AttentionProbe::Layer>& layers);

}  // namespace vkf

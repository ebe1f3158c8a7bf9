// Families of models: what one has to say of itself, and the registry of all. A family is its model file and a line of
// families.def; every command, checkpoints and tests find it there.
//
// There are two kinds of task. A language model makes features of tokens, and logits of features by a table; a model of
// images makes logits of classes. A task's data, losses, evaluation and training are the same for all its families:
// language_model.h and image_model.h.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/attention/mixer.h"
#include "models/model_config.h"
#include "models/scope.h"

namespace vkf {

class Random;
struct AttentionProbe;
struct Batch;
struct KeyValueCache;

/// What a language model's logits are made of: logits = features · tableᵀ.
struct Features {
    Tensor features;  // [B, T, C]
    Tensor table;     // [V, C]
};

/// A language model's graph: tokens i32 [B, T] → features, of the last position only if `last_only` says so; with a
/// cache of the positions before, if there is one.
struct LanguageGraph {
    Features (*features)(const Scope&, const ModelConfig&, Tensor tokens, const KeyValueCache* cache, bool last_only);
    /// What it learns from a batch instead of the next token, if it does: see Objective. Such a model does not continue
    /// text, and its graph is never given a cache.
    void (*objective)(const ModelConfig&, Batch&, Random&) = nullptr;
};

/// A vision model's graph: images f32 [B, channels, side, side], normalised → logits [B, classes]. `attention`, if
/// given, receives what every block's attention is made of.
struct ImageGraph {
    Tensor (*logits)(const Scope&, const ModelConfig&, Tensor images, std::vector<AttentionProbe>* attention);
};

/// How tensors are called in files of other programs, where not as here.
struct TensorNames {
    std::string_view prefix = {};                // that may stand before every name
    std::vector<std::string_view> buffers = {};  // endings of names that are no parameters
    std::string_view tied = {}, tied_to = {};    // a copy that may be stored of another tensor
    std::string_view config = "config.json";     // the file that says what tensors there are
    /// Names of a parameter in files of another program that has other names for all: one tensor, or several whose rows
    /// are concatenated. Empty if that program has no such tensor.
    std::vector<std::string> (*elsewhere)(std::string_view name) = nullptr;
};

struct Family {
    std::string_view model_type;    // in config.json
    std::string_view command;       // `train COMMAND`
    std::string_view title;         // "GPT-2", for people
    std::string_view architecture;  // Hugging Face's class
    std::string_view recipe;        // a file of configs/, for examples

    ModelConfig (*defaults)();  // what config.json means where it is silent
    ModelConfig (*fresh)();     // what is trained unless options say otherwise; 0: as the data want it
    /// Throws InputError if fields contradict each other, each being within its own bounds.
    void (*check)(const ModelConfig&);
    /// Elements of all matrices, at least: weights of a smaller size cannot be this model's.
    double (*matrix_elements)(const ModelConfig&);

    /// Renames keys of a config.json that other versions of the family's files have to those of the fields.
    void (*rename_keys)(nlohmann::json& config) = nullptr;
    TensorNames tensors = {};
    std::vector<std::string_view> lora_targets = {};  // what has adapters where nobody says, as PEFT has it
    std::variant<LanguageGraph, ImageGraph> graph;

    bool images() const { return std::holds_alternative<ImageGraph>(graph); }
    /// Whether it continues text token by token.
    bool generates() const {
        const auto* language = std::get_if<LanguageGraph>(&graph);
        return language && !language->objective;
    }
    Task task() const { return images() ? Task::images : Task::language; }
};

/// In the order of families.def. A config.json that names none means the first.
std::span<const Family* const> families();
/// Throws InputError listing the known types.
const Family& family_named(std::string_view model_type);

}  // namespace vkf

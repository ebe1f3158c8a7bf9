// Families of models: the description of a family, and the registry of all. A family is a model file and a line of
// families.def; every command, checkpoints and tests find it there.
//
// The type of a family's graph says which task (task.h) the family has. A language model computes features of tokens,
// and logits from features by a table; an image model computes logits of classes; a translation model computes features
// of a target's tokens from a source's; a sequence classifier computes features of whole sequences, and logits of
// classes by a table.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/attention/variant.h"
#include "models/config/model_config.h"
#include "models/data/batch.h"
#include "models/families/task.h"
#include "models/scope.h"
#include "ops/movement/kv_cache.h"

namespace vkf {

class Random;
class StoredWeights;
struct Accounting;
struct KeyValueCache;

/// Factors of logits: logits = features · tableᵀ + bias.
struct Features {
    Tensor features;   // [B, T, C], or [B, C] of whole sequences
    Tensor table;      // [V, C]
    Tensor bias = {};  // [V]; absent: none
};

/// Graph of a language model: tokens i32 [B, T] → features, only those of the last position if `last_only` is true.
/// `cache` holds earlier positions and may be null.
struct LanguageGraph {
    static const Task& task() { return language_task(); }

    Features (*features)(const Scope&, const ModelConfig&, Tensor tokens, KeyValueCache* cache, bool last_only);
    /// Training objective if it is not the next token: see Objective. `special` lists the tokens that stand for no
    /// text. A model with an objective does not continue text, and its graph never gets a cache.
    void (*objective)(const ModelConfig&, std::span<const std::int32_t> special, Batch&, Random&) = nullptr;
};

/// Graph of an image model: images f32 [B, channels, side, side], normalised → logits [B, classes].
struct ImageGraph {
    static const Task& task() { return image_task(); }

    Tensor (*logits)(const Scope&, const ModelConfig&, Tensor images);
};

/// Sentences of unequal lengths: tokens i32 [B, T], of which lengths[b] of row b are its sentence and the others are
/// padding. Lengths are i32 [B]; absent: all tokens count.
struct Sentences {
    Tensor tokens, lengths;
};

/// Sources in the form that a decoder reads: keys and values [B, S, …], such as those of every cross-attention, of
/// which lengths[b] positions of row b count; and states [B, …] of whole sources, with which recurrent decoders begin.
struct SourceMemory {
    std::vector<KeysAndValues> layers;
    Tensor lengths;  // i32 [B]
    std::vector<Tensor> states = {};
};

/// Vocabularies of a translation model, and the tokens that begin and end every target. The end is also the last token
/// of every source.
struct TranslationTokens {
    std::int64_t source_vocabulary = 0, target_vocabulary = 0;
    bool shared = false;  // true if a token means the same in sources and targets, so that one table may serve both
    std::int32_t begin = 0, end = 0;
};

/// Graph of a translation model, in two parts. While a target is generated, the first part runs once and the second for
/// every token.
struct TranslationGraph {
    static const Task& task() { return translation_task(); }

    /// Reads sources [B, S].
    SourceMemory (*read)(const Scope&, const ModelConfig&, const Sentences& source);
    /// Features of target tokens [R, T], whose logits predict the tokens after them. R is a multiple of the memory's B:
    /// rows b·R/B … belong to source b. `cache` holds earlier positions and may be null.
    Features (*features)(const Scope&, const ModelConfig&, const SourceMemory& memory, const Sentences& target,
                         KeyValueCache* cache);
    /// Tokens of a configuration, and a configuration for these tokens.
    TranslationTokens (*tokens)(const ModelConfig&);
    void (*set_tokens)(ModelConfig&, const TranslationTokens&);
};

/// Graph of a sequence classifier: sequences → features [B, C] of each as a whole, whose logits by the table are those
/// of the classes.
struct SequenceGraph {
    static const Task& task() { return sequence_task(); }

    Features (*features)(const Scope&, const ModelConfig&, const Sentences& sequences);
};

/// Copy of a parameter that files may hold under another name.
struct TiedTensor {
    std::string_view name, copied;
};

/// Names of tensors in files of other programs, if they differ from the names here.
struct TensorNames {
    std::string_view prefix = {};                // optional, before every name
    std::vector<std::string_view> buffers = {};  // endings of names of tensors that are not parameters
    std::vector<std::string_view> others = {};   // beginnings of such names
    std::vector<TiedTensor> tied = {};           // optional copies; one may stand for a parameter that is missing
    std::string_view config = "config.json";     // file that determines the tensors
    /// Names of a parameter in files in which all names differ: one tensor, or several with rows that, concatenated,
    /// are the parameter's. Empty if such files do not have the parameter.
    std::vector<std::string> (*elsewhere)(std::string_view name) = nullptr;
};

struct Family;

/// A family whose trained models fresh models of another family may begin with: both have the same layers, with the
/// same names, below different heads.
struct PretrainedFamily {
    const Family& (*family)();
    /// Copies the fields of the common layers to a configuration.
    void (*adopt)(ModelConfig& own, const ModelConfig& pretrained);
    /// Beginnings of names of parameters that pretrained models may lack: these stay as a fresh model's.
    std::vector<std::string_view> heads;
    TensorNames tensors = {};  // in files of pretrained models
};

struct Family {
    std::string_view model_type;    // in config.json
    std::string_view command;       // `train COMMAND`
    std::string_view title;         // "GPT-2", for people
    std::string_view architecture;  // Hugging Face's class
    std::string_view recipe;        // a file of configs/, for examples

    ModelConfig (*defaults)();  // values of keys that config.json lacks
    ModelConfig (*fresh)();     // trained unless options change it; 0: the data decides
    /// Throws InputError if fields contradict each other. Each field must be within its own bounds.
    void (*check)(const ModelConfig&);
    /// Lower bound of the elements of all matrices; smaller weights cannot be this model's.
    double (*matrix_elements)(const ModelConfig&);

    /// Renames keys that config.json has in other versions of the family's files to the keys of the fields.
    void (*rename_keys)(nlohmann::json& config) = nullptr;
    /// Completes a configuration by what only a directory's tensors say. Throws InputError if they contradict it.
    void (*adopt_weights)(ModelConfig&, const StoredWeights&) = nullptr;
    TensorNames tensors = {};
    std::vector<std::string_view> lora_targets = {};  // default targets of adapters, as in PEFT
    std::variant<LanguageGraph, ImageGraph, TranslationGraph, SequenceGraph> graph;
    std::vector<PretrainedFamily> pretrained = {};  // families that a fresh model may begin with
    const Accounting* accounting = nullptr;  // its sizes for formulas (accounting.h); null: it has none

    const Task& task() const {
        return std::visit([](const auto& of_task) -> const Task& { return of_task.task(); }, graph);
    }
    /// The entry of `pretrained` for a family; null if there is none.
    const PretrainedFamily* pretrained_by(const Family& other) const {
        for (const PretrainedFamily& one : pretrained)
            if (&one.family() == &other) return &one;
        return nullptr;
    }
    /// True if the model continues text token by token.
    bool generates() const {
        const auto* language = std::get_if<LanguageGraph>(&graph);
        return language && !language->objective;
    }
};

/// All families, in the order of families.def. A config.json that names no family has the first one.
std::span<const Family* const> families();
/// Finds a family by its model_type; if there are several, the one of Hugging Face's class `architecture`, else the
/// first. Throws InputError listing the known types.
const Family& family_named(std::string_view model_type, std::string_view architecture = {});

}  // namespace vkf

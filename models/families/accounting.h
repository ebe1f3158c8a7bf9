// Accounting of models by formulas, as courses and papers count: parameters, FLOPs and memory from a few sizes.
//
// Notation: l blocks of width h with a heads; sequences of s tokens; q and k are the widths of all heads of queries and
// of all heads of keys (values are as wide as keys), and f is the width inside the feed-forward, which has two maps, or
// three with a gate. Grouped heads have k < q; otherwise q = k = h.
//
//     parameters of a block    P = 2·h·q + 2·h·k + 2·h·f: 12·h² if q = k = h and f = 4·h
//     FLOPs of a token         2·P + 4·s·q, with a causal mask 2·P + 2·s·q: 2 for each parameter, and those of q·kᵀ and
//                              of the sum of values
//     numbers of a token that are kept for the backward pass
//                              2·h residuals, 2·h norms, 2·q + 2·k of q, k, v and attention's result, 2·f: 16·h if
//                              q = k = h and f = 4·h. Korthikanti et al. (2022, arXiv 2205.05198) count 34·h bytes in
//                              16 bits, with masks of dropout, and 5·a·s of scores, which are not kept here
//     cache of a token         2·k numbers
//
// With cross-attention a block has 2·h·q + 2·h·k more parameters, and its FLOPs and kept numbers grow accordingly;
// source and target have s tokens each. Biases, norms and the additions of attention variants are not counted: `inspect
// --explain` shows how much they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/config/model_config.h"

namespace vkf {

/// A quantity as a formula in symbols, such as "4·h² + 2·h·f = 12·h²", and its value.
struct Formula {
    std::string symbols;
    double value = 0;
};

/// Sizes of the blocks of one stack.
struct BlockSizes {
    std::string name;                    // "block", "decoder block"
    std::string path;                    // "h": the scope of blocks h.0, h.1, …
    std::int64_t blocks = 1;             // l
    std::int64_t width = 1;              // h
    std::int64_t heads = 1;              // a
    std::int64_t queries = 1, keys = 1;  // q, k
    std::int64_t inner = 1;              // f
    std::int64_t inner_maps = 2;         // 3: gate, up and down
    std::int64_t length = 1;             // s
    bool causal = false;                 // a token sees itself and those before it
    bool cross = false;                  // has cross-attention
    bool post_norm = false;              // norms make the residual stream, which mixed precision keeps in fp32
};

/// Formulas of a block. FLOPs are those of the forward pass, for one token.
struct BlockFormulas {
    BlockSizes sizes;
    Formula parameters;
    Formula all_parameters;    // of l blocks
    Formula products;          // FLOPs of products with parameters
    Formula attention;         // FLOPs of attention between tokens
    Formula flops;             // both
    Formula kept, kept_in_16;  // bytes that the backward pass reads, for one token, in fp32 and in mixed precision
    Formula cache;             // numbers that generation keeps for one token
};

/// A table of parameters outside of the blocks, of as many columns as the model is wide.
struct ParameterTable {
    std::string name;    // "token embeddings"
    std::string path;    // of its parameters
    std::string symbol;  // of its rows
    std::int64_t rows = 0;
};

/// A model as its family describes it.
struct ModelSizes {
    std::vector<BlockSizes> blocks;
    std::vector<ParameterTable> tables;
    Formula other_flops;                  // outside of the blocks, for one item (a token, an image), forward
    std::int64_t item_tokens = 1;         // tokens of an item
    std::vector<std::string> notes = {};  // reasons for which the model differs from the formulas, as sentences
};

/// Formulas of the blocks.
BlockFormulas formulas(const BlockSizes& sizes);
/// FLOPs of logits: 2·v·h for v classes.
Formula logits_flops(std::int64_t classes, std::int64_t width);

/// Depth and width of a model. Heads are those of keys and values if queries share them; a head keeps its width.
struct ModelScale {
    std::int64_t layers = 1, heads = 1;
    std::int64_t width = 0;  // h, which follows from the heads
};

/// A family's part of the accounting.
struct Accounting {
    /// Sizes of a model that works on sequences of `length` tokens; null: the formulas do not describe the family.
    ModelSizes (*sizes)(const ModelConfig&, std::int64_t length) = nullptr;
    ModelScale (*scale)(const ModelConfig&);
    /// Changes depth and width; all stacks get as many layers, and other widths keep their proportion to the model's.
    void (*resize)(ModelConfig&, const ModelScale&);
};

/// Accounting of a family by the functions sizes(const Config&, length), scale(const Config&) and resize(Config&,
/// const ModelScale&).
template <class Config, ModelSizes (*sizes)(const Config&, std::int64_t), ModelScale (*scale)(const Config&),
          void (*resize)(Config&, const ModelScale&)>
inline constexpr Accounting accounting_by{
    .sizes = [](const ModelConfig& c, std::int64_t length) { return sizes(c.as<Config>(), length); },
    .scale = [](const ModelConfig& c) { return scale(c.as<Config>()); },
    .resize =
        [](ModelConfig& c, const ModelScale& wanted) {
            Config made = c.as<Config>();
            resize(made, wanted);
            const std::optional<LoraConfig> adapters = c.adapters();
            c = made;
            c.set_adapters(adapters);
        },
};

}  // namespace vkf

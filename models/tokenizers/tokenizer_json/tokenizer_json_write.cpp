#include "base/error.h"
#include "models/tokenizers/bpe/byte_level_model.h"
#include "models/tokenizers/tokenizer_json/tokenizer_json.h"

#include <nlohmann/json.hpp>

namespace vkf {
namespace {

using ordered = nlohmann::ordered_json;

ordered added_tokens(const BpeModel& model) {
    ordered added = ordered::array();
    for (const AddedToken& token : model.added) {
        added.push_back({{"id", token.token},
                         {"content", token.text},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", token.special}});
    }
    return added;
}

ordered byte_level() {
    return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
}

ordered pre_tokenizer(const BpeModel& model) {
    ordered splits = ordered::array();
    for (const Split& split : model.splits) {
        splits.push_back(
            {{"type", "Split"},
             {"pattern", ordered::object({{split.pattern.literal() ? "String" : "Regex", split.pattern.expression()}})},
             {"behavior", split.drop_between ? "Removed" : "Isolated"},
             {"invert", split.drop_between}});
    }
    splits.push_back(byte_level());
    return {{"type", "Sequence"}, {"pretokenizers", splits}};
}

// Puts a token before every text.
ordered template_processing(const std::string& name, std::int32_t token) {
    const auto part = [](const char* kind, const std::string& id, int type) {
        return ordered::object({{kind, ordered::object({{"id", id}, {"type_id", type}})}});
    };
    const ordered begin = part("SpecialToken", name, 0), first = part("Sequence", "A", 0);
    const ordered second = part("Sequence", "B", 1);
    const ordered ids = {{"id", name}, {"ids", ordered::array({token})}, {"tokens", ordered::array({name})}};
    return {{"type", "TemplateProcessing"},
            {"single", ordered::array({begin, first})},
            {"pair", ordered::array({begin, first, second})},
            {"special_tokens", ordered::object({{name, ids}})}};
}

ordered byte_pairs(const BpeModel& model) {
    ordered merges = ordered::array(), vocabulary = ordered::object();
    for (const Merge& merge : model.merges) {
        merges.push_back(token_name(model, merge.left) + " " + token_name(model, merge.right));
    }
    auto& entries = vocabulary.get_ref<ordered::object_t&>();
    for (std::int32_t token = 0; static_cast<std::size_t>(token) < model.tokens.size(); ++token) {
        entries.emplace_back(token_name(model, token), token);
    }
    return {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", model.whole_words},
            {"vocab", std::move(vocabulary)},
            {"merges", std::move(merges)}};
}

}  // namespace

std::string tokenizer_json(const BpeModel& model) {
    require(!model.characters, "only byte-level tokenizers are written");
    ordered processor = nullptr;
    if (const auto begin = model.bounds.begin) {
        processor = template_processing(model.tokens[static_cast<std::size_t>(*begin)], *begin);
    }
    const ordered tree = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens", added_tokens(model)},
                          {"normalizer", nullptr},
                          {"pre_tokenizer", pre_tokenizer(model)},
                          {"post_processor", processor},
                          {"decoder", byte_level()},
                          {"model", byte_pairs(model)}};
    return tree.dump(2) + "\n";
}

}  // namespace vkf

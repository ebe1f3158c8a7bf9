#include "models/tokenizers/tokenizer_json/tokenizer_json.h"

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "base/error.h"
#include "base/files/small_file.h"
#include "base/text/json.h"
#include "models/tokenizers/bpe/byte_level_model.h"
#include "models/tokenizers/token_names.h"
#include "models/tokenizers/tokenizer_json/json_part.h"
#include "models/tokenizers/vocabulary.h"
#include "models/tokenizers/wordpiece/vocab_txt.h"
#include "models/tokenizers/wordpiece/wordpiece.h"

namespace vkf {
namespace {

using nlohmann::json;

constexpr std::int64_t LONGEST_WORD_LIMIT = 1000;  // characters; a word of n takes n² steps

// --- Parts of the file, in the order in which a text passes them

void read_added_tokens(const JsonPart& list, bool normalized, std::vector<AddedToken>& tokens, TokenNames& names) {
    if (list.is_null()) return;
    std::unordered_set<std::string> listed;
    for (const JsonPart& entry : list.elements()) {
        entry.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
        for (const char* unsupported : {"single_word", "lstrip", "rstrip"}) {
            require(!entry.flag(unsupported, false), entry[unsupported].where(), " is true, wanted false");
        }
        const bool changes = normalized && entry.flag("normalized", false);
        require(!changes, entry["normalized"].where(), " is true beside a normalizer, wanted false");
        const std::string content = entry["content"].string();
        require(!content.empty(), entry["content"].where(), " is empty, wanted the token's name");
        names.add(content, entry["id"].integer(), [&] { return entry["id"].where(); });
        require(listed.insert(content).second, entry["content"].where(), ": ", one_line(json(content)),
                " is added a second time");
        tokens.push_back({content, names.find(content).value_or(0), entry.flag("special", false)});
    }
}

// All normalizers or pre-tokenizers of a sequence, or the single one.
std::vector<JsonPart> sequence(const JsonPart& part, const char* key) {
    if (part.is_null()) return {};
    if (part["type"].string() != "Sequence") return {part};
    std::vector<JsonPart> all;
    for (const JsonPart& element : part[key].elements()) {
        for (const JsonPart& inner : sequence(element, key)) all.push_back(inner);
    }
    return all;
}

// Reads only the conversion to SentencePiece's form: a mark for each space, and one more before the text.
std::optional<BpeModel::Characters> read_normalizer(const JsonPart& normalizer) {
    BpeModel::Characters characters;
    bool marks = false;
    for (const JsonPart& step : sequence(normalizer, "normalizers")) {
        const std::string type = step["type"].string();
        if (type == "Prepend") {
            step.only({"type", "prepend"});
            step["prepend"].must_be(SPACE_MARK);
            require(!marks && !characters.prepend_space, step.where(),
                    ": Prepend comes late, wanted it once and first");
            characters.prepend_space = true;
        } else if (type == "Replace") {
            step.only({"type", "pattern", "content"});
            step["pattern"].must_be(json::object({{"String", " "}}));
            step["content"].must_be(SPACE_MARK);
            marks = true;
        } else {
            step["type"].refuse("Prepend, Replace or a Sequence of them");
        }
    }
    require(marks || !characters.prepend_space, normalizer.where(), " has no Replace of \" \", wanted one");
    return marks ? std::optional(characters) : std::nullopt;
}

Split read_split(const JsonPart& step) {
    step.only({"type", "pattern", "behavior", "invert"});
    step["pattern"].only({"Regex", "String"});
    const JsonPart regex = step["pattern"]["Regex"], literal = step["pattern"]["String"];
    const JsonPart& expression = regex.is_null() ? literal : regex;
    Pattern pattern(expression.string(), expression.where(), regex.is_null());
    const std::string behavior = step["behavior"].string();
    const bool removed = behavior == "Removed" && step.flag("invert", false);
    if (behavior != "Isolated" && !removed) step["behavior"].refuse("Isolated, or Removed with \"invert\": true");
    return {std::move(pattern), removed};
}

// Returns true if words are spelt in bytes after these steps.
bool read_pre_tokenizer(const JsonPart& pre_tokenizer, std::vector<Split>& splits) {
    bool byte_level = false;
    for (const JsonPart& step : sequence(pre_tokenizer, "pretokenizers")) {
        const std::string type = step["type"].string();
        require(!byte_level, step.where(), ": ", type, " comes after ByteLevel, wanted ByteLevel last");
        if (type == "ByteLevel") {
            step.only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
            require(!step.flag("add_prefix_space", true), step["add_prefix_space"].where(), " is true, wanted false");
            if (step.flag("use_regex", true)) splits.push_back({Pattern(GPT2_PATTERN, "GPT-2's pattern")});
            byte_level = true;
        } else if (type == "Split") {
            splits.push_back(read_split(step));
        } else if (type == "Digits") {
            step.only({"type", "individual_digits"});
            const char* digits = step.flag("individual_digits", false) ? "\\p{N}" : "\\p{N}+";
            splits.push_back({Pattern(digits, step.where())});
        } else {
            step["type"].refuse("ByteLevel, Split, Digits or a Sequence of them");
        }
    }
    return byte_level;
}

std::vector<Merge> read_merges(const JsonPart& list, const TokenNames& names) {
    const auto where = [&](std::size_t merge) { return text(list.where(), "[", merge, "]"); };
    MergeReader reader(names, where);
    const auto& elements = list.value();
    if (!elements.is_array()) list.refuse("a list");
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const json& merge = elements[i];
        // Two tokens, or both in one string with a space between.
        const bool pair = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
        const std::string line = merge.is_string() ? merge.get<std::string>() : "";
        const std::size_t space = line.find(' ');
        const bool two = space != line.npos && space > 0 && space + 1 < line.size() && line.rfind(' ') == space;
        if (!pair && !two) throw InputError(where(i), " is ", one_line(merge), ", wanted two tokens");
        if (pair) {
            reader.add(merge[0].get<std::string>(), merge[1].get<std::string>());
        } else {
            reader.add(line.substr(0, space), line.substr(space + 1));
        }
    }
    return std::move(reader.merges);
}

// The tokens around a text: [token] text [token].
void read_template(const JsonPart& single, const TokenNames& names, TextBounds& bounds) {
    const auto parts = single.elements();
    const auto is_token = [&](std::size_t i) { return i < parts.size() && !parts[i]["SpecialToken"].is_null(); };
    const auto token = [&](std::size_t i) {
        const JsonPart name = parts[i]["SpecialToken"]["id"];
        const auto found = names.find(name.string());
        if (!found) name.refuse("a token of the vocabulary");
        return found;
    };
    const std::size_t text = is_token(0) ? 1 : 0, size = text + (is_token(text + 1) ? 2 : 1);
    if (parts.size() != size || is_token(text)) single.refuse("the text, perhaps with a token before and behind it");
    parts[text]["Sequence"]["id"].must_be("A");
    if (text > 0) bounds.begin = token(0);
    if (size > text + 1) bounds.closing = token(text + 1);
}

void read_post_processor(const JsonPart& processor, const TokenNames& names, BpeModel& model) {
    for (const JsonPart& step : sequence(processor, "processors")) {
        const std::string type = step["type"].string();
        if (type == "ByteLevel") continue;  // about offsets into the text only
        if (type != "TemplateProcessing") step["type"].refuse("ByteLevel, TemplateProcessing or a Sequence of them");
        read_template(step["single"], names, model.bounds);
    }
}

void check_decoder(const JsonPart& decoder, const BpeModel& model) {
    if (decoder.is_null()) return;
    if (!model.characters) {
        for (const JsonPart& step : sequence(decoder, "decoders"))
            if (step["type"].string() != "ByteLevel") step["type"].refuse("ByteLevel");
        return;
    }
    json wanted = json::parse(R"([{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                                  {"type": "ByteFallback"}, {"type": "Fuse"}])");
    const json strip = json::parse(R"({"type": "Strip", "content": " ", "start": 1, "stop": 0})");
    if (model.characters->prepend_space) wanted.push_back(strip);
    decoder["type"].must_be("Sequence");
    decoder["decoders"].must_be(wanted);
}

// --- Characters

void read_character_tokens(const JsonPart& tree, BpeModel& model, const TokenNames& names) {
    const JsonPart options = tree["model"];
    model.tokens = names.by_number();
    if (const JsonPart unknown = options["unk_token"]; !unknown.is_null()) {
        model.characters->unknown = names.find(unknown.string());
        if (!model.characters->unknown) unknown.refuse("a token of the vocabulary");
    }
    model.characters->fuse_unknown = options.flag("fuse_unk", false);
    std::vector<bool> added(model.tokens.size());
    for (const AddedToken& token : model.added) {
        added[static_cast<std::size_t>(token.token)] = true;
        model.hidden.push_back(token.token);
    }
    for (std::size_t i = 0; i < model.tokens.size(); ++i) {
        std::string& name = model.tokens[i];
        if (added[i]) continue;
        if (name.find(' ') != name.npos) model.hidden.push_back(static_cast<std::int32_t>(i));
        for (std::size_t at; (at = name.find(SPACE_MARK)) != name.npos;) name.replace(at, SPACE_MARK.size(), " ");
    }
    if (!options.flag("byte_fallback", false)) return;
    for (std::size_t byte = 0; byte < 256; ++byte) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
        const auto token = names.find(name);
        require(token.has_value(), tree["model"]["vocab"].where(), " has no token ", name, " for \"byte_fallback\"");
        model.byte_tokens[byte] = token.value_or(NO_TOKEN);
        model.hidden.push_back(model.byte_tokens[byte]);
        model.tokens[static_cast<std::size_t>(model.byte_tokens[byte])] = static_cast<char>(byte);
    }
}

// --- Whole models

void only_known_parts(const JsonPart& tree) {
    tree.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
               "decoder", "model"});
}

BpeModel read_bpe(const JsonPart& tree, const TokenSettings& settings) {
    only_known_parts(tree);
    const std::string& file = tree.file();
    const JsonPart options = tree["model"];
    if (options["type"].value() != "BPE") options["type"].refuse("\"BPE\" or \"WordPiece\"");
    options.only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                  "byte_fallback", "ignore_merges", "vocab", "merges"});
    for (const char* unsupported : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        if (options[unsupported].value() != "") options[unsupported].must_be(nullptr);
    }
    if (options["dropout"].value() != 0) options["dropout"].must_be(nullptr);

    BpeModel model;
    model.characters = read_normalizer(tree["normalizer"]);
    TokenNames names(options["vocab"].value(), options["vocab"].where());
    read_added_tokens(tree["added_tokens"], model.characters.has_value(), model.added, names);
    settings.add_to(names, model.added);
    model.whole_words = options.flag("ignore_merges", false);
    const bool byte_level = read_pre_tokenizer(tree["pre_tokenizer"], model.splits);
    require(byte_level != model.characters.has_value(), file, ": wanted either the pre-tokenizer ByteLevel or the ",
            "normalizer Replace of \" \" by \"", SPACE_MARK, "\"; found ", byte_level ? "both" : "neither");
    if (byte_level) {
        read_byte_level_tokens(model, names.by_number());
    } else {
        read_character_tokens(tree, model, names);
    }
    model.merges = read_merges(options["merges"], names);
    if (!byte_level && model.splits.empty()) model.splits = splits_before_spaces(model.tokens);
    read_post_processor(tree["post_processor"], names, model);
    settings.decide(model.bounds, model.added);
    check_decoder(tree["decoder"], model);
    return model;
}

BertNormalizer read_bert_normalizer(const JsonPart& part) {
    part.only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
    part["type"].must_be("BertNormalizer");
    const bool lowercase = part.flag("lowercase", true);
    return {.clean_text = part.flag("clean_text", true),
            .handle_chinese_chars = part.flag("handle_chinese_chars", true),
            .strip_accents = part.flag("strip_accents", lowercase),
            .lowercase = lowercase};
}

WordPieceModel read_word_piece(const JsonPart& tree, const TokenSettings& settings) {
    const JsonPart options = tree["model"], decoder = tree["decoder"], longest = options["max_input_chars_per_word"];
    options.only({"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
    WordPieceModel model;
    if (!options["unk_token"].is_null()) model.unknown = options["unk_token"].string();
    if (const JsonPart prefix = options["continuing_subword_prefix"]; !prefix.is_null())
        model.inner_prefix = prefix.string();
    if (!longest.is_null()) {
        if (longest.integer() < 1 || longest.integer() > LONGEST_WORD_LIMIT)
            longest.refuse(text("1 to ", LONGEST_WORD_LIMIT));
        model.longest_word = static_cast<std::size_t>(longest.integer());
    }
    model.normalizer = read_bert_normalizer(tree["normalizer"]);
    tree["pre_tokenizer"].only({"type"});
    tree["pre_tokenizer"]["type"].must_be("BertPreTokenizer");
    if (!decoder.is_null()) {
        decoder.only({"type", "prefix", "cleanup"});  // cleanup changes shown text only
        decoder["type"].must_be("WordPiece");
        if (!decoder["prefix"].is_null()) decoder["prefix"].must_be(model.inner_prefix);
    }
    TokenNames names(options["vocab"].value(), options["vocab"].where());
    read_added_tokens(tree["added_tokens"], true, model.added, names);
    finish_word_piece(model, names, settings, tree.file());
    return model;
}

}  // namespace

BpeModel read_tokenizer_json(const std::filesystem::path& path, const TokenSettings& settings) {
    const std::string file = path.string();
    const json document = parse_json(read_small_text(path, VOCABULARY_LIMIT), file);
    return read_bpe(JsonPart(document, file), settings);
}

std::shared_ptr<const Tokenizer> load_tokenizer_json(const std::filesystem::path& path, const TokenSettings& settings) {
    const std::string file = path.string();
    const json document = parse_json(read_small_text(path, VOCABULARY_LIMIT), file);
    const JsonPart tree(document, file);
    if (tree["model"]["type"].value() == "WordPiece") {
        only_known_parts(tree);
        return std::make_shared<WordPiece>(read_word_piece(tree, settings));
    }
    BpeModel model = read_bpe(tree, settings);
    for (const std::string_view usual : {END_OF_TEXT, std::string_view("<|end_of_text|>"), std::string_view("</s>")}) {
        const auto found = std::ranges::find(model.added, usual, &AddedToken::text);
        if (!model.bounds.end && found != model.added.end()) model.bounds.end = found->token;
    }
    return std::make_shared<BpeTokenizer>(std::move(model));
}

}  // namespace vkf

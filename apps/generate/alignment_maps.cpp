#include "apps/generate/alignment_maps.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "base/error.h"
#include "base/files/file.h"
#include "models/probes/attention_svg.h"
#include "models/tokenizers/shown_token.h"
#include "models/translation/cross_attention.h"
#include "models/translation_model.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

fs::path map_file(const fs::path& folder, std::size_t line) {
    return folder / text(line + 1, ".svg");
}

/// Texts of a sentence's tokens, of which the last may be its end.
std::vector<std::string> token_texts(const Tokenizer& tokenizer, const Tokens& tokens, std::int32_t end) {
    std::vector<std::string> made;
    for (const std::int32_t token : tokens) made.push_back(token == end ? "</s>" : shown_token(&tokenizer, token));
    return made;
}

}  // namespace

void prepare_alignment_maps(const fs::path& folder, const fs::path& read, std::size_t lines, bool overwrite) {
    std::error_code error;
    for (std::size_t i = 0; i < lines; ++i) {
        const fs::path made = map_file(folder, i);
        require(overwrite || !fs::exists(made, error), made.string(), " is there already; --overwrite replaces it");
        require(!fs::equivalent(made, read, error), made.string(), " is the file to translate");
    }
    fs::create_directories(folder, error);
    if (error) throw Error(folder.string(), ": cannot make the directory: ", error.message());
}

void write_alignment_maps(Device& device, const Common& common, const TranslationModel& model, const fs::path& folder,
                          const Translations& made) {
    std::size_t source = 0, target = 0;
    for (std::size_t i = 0; i < made.lines.size(); ++i) {
        if (made.lines[i].empty()) continue;
        source = std::max(source, made.sources[i].size());
        target = std::max(target, made.lines[i].front().hypothesis.tokens.size());
    }
    if (source == 0) return;
    CrossAttention attention(device, model.config, static_cast<std::int64_t>(source),
                             static_cast<std::int64_t>(target));
    model.load(attention.parameters(), attention.state());
    const std::int32_t end = translation_tokens(model.config).end;
    Progress progress(common, "attention maps", "sentences", std::ssize(made.lines));
    for (std::size_t i = 0; i < made.lines.size(); ++i) {
        if (!made.lines[i].empty()) {
            const Tokens& written = made.lines[i].front().hypothesis.tokens;
            AttentionTables tables{.columns = token_texts(*model.tokenizers.source, made.sources[i], end),
                                   .rows = token_texts(*model.tokenizers.target, written, end),
                                   .tables = {}};
            const std::vector<AlignmentWeights> layers = attention.weights(made.sources[i], written);
            for (std::size_t layer = 0; layer < layers.size(); ++layer)
                tables.tables.push_back({layers.size() > 1 ? text("layer ", layer + 1) : "", layers[layer]});
            replace_file(map_file(folder, i), [&](FileWriter& file) { file.write(attention_svg(tables)); });
        }
        stop_if_interrupted();
        progress.update(static_cast<std::int64_t>(i) + 1, "");
    }
}

}  // namespace vkf

#include "apps/generate/alignment_maps.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/progress.h"
#include "base/error.h"
#include "base/files/file.h"
#include "models/translation/alignment_svg.h"
#include "models/translation_model.h"

namespace vkf {

namespace {

namespace fs = std::filesystem;

fs::path map_file(const fs::path& folder, std::size_t line) {
    return folder / text(line + 1, ".svg");
}

/// Texts of a sentence's tokens, of which the last may be its end. Blanks are shown as in SentencePiece's tokens.
std::vector<std::string> token_texts(const Tokenizer& tokenizer, const Tokens& tokens, std::int32_t end) {
    std::vector<std::string> made;
    for (const std::int32_t token : tokens) {
        std::string shown = token == end ? "</s>" : tokenizer.decode(std::vector{token});
        for (std::size_t at = 0; (at = shown.find(' ', at)) != std::string::npos;) shown.replace(at, 1, "▁");
        made.push_back(std::move(shown));
    }
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
            const std::string svg =
                alignment_svg({.source = token_texts(*model.tokenizers.source, made.sources[i], end),
                               .target = token_texts(*model.tokenizers.target, written, end),
                               .layers = attention.weights(made.sources[i], written)});
            replace_file(map_file(folder, i), [&](FileWriter& file) { file.write(svg); });
        }
        stop_if_interrupted();
        progress.update(static_cast<std::int64_t>(i) + 1, "");
    }
}

}  // namespace vkf

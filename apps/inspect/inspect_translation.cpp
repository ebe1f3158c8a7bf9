// vkformer inspect on translation models.

#include <algorithm>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/inspect/inspect.h"
#include "apps/model.h"
#include "apps/train/translation_options.h"
#include "models/translation_model.h"

namespace vkf {

namespace {

/// Logits of a batch, with its inputs.
Tensor pair_logits(const Scope& scope, const ModelConfig& config, const BatchSizes& sizes) {
    Graph& graph = scope.graph();
    const TensorType lengths{DType::i32, {sizes.rows}}, tokens{DType::i32, {sizes.rows, sizes.length}};
    const Sentences source{graph.input("source_tokens", tokens), graph.input("source_lengths", lengths)};
    const Sentences target{graph.input("tokens", tokens), graph.input("target_lengths", lengths)};
    return translation_logits(scope, config, source, target);
}

/// The programs of a Translator: reading the longest sources, and a step of all rows.
std::vector<GraphBuilder> writing(const ModelConfig& config, std::int64_t rows, Format activations) {
    const std::int64_t context = config.size(Dimension::context);
    const WritingShape shape{.sources = rows, .source = context, .target = context};
    return {[=](const Scope& scope) { read_sources(scope, config, shape, context, activations); },
            [=](const Scope& scope) { write_step(scope, config, shape, activations); }};
}

constexpr InspectedTask TRANSLATION{
    .item = "target token",
    .logits = pair_logits,
    .loss =
        [](const Scope& scope, const ModelConfig& config, const BatchSizes& sizes, bool) {
            return translation_loss(scope, config, {sizes.rows, sizes.length, sizes.length});
        },
    .batch =
        [](const BatchSizes& sizes) {
            return text(sizes.rows, " pairs of ", sizes.length, " and ", sizes.length, " tokens");
        },
    .items = [](const BatchSizes& sizes) { return static_cast<double>(sizes.rows * sizes.length); },
    .generation = writing,
};

/// Length of sentences that are inspected if the options do not say it.
std::int64_t usual_length(const ModelConfig& config) {
    constexpr std::int64_t usual = 32;
    return std::min(usual, config.size(Dimension::context).value);
}

}  // namespace

InspectedModel inspected_translation(const ModelConfig& config, const BatchSizes& sizes) {
    require_buildable(config);
    return {.task = &TRANSLATION, .config = config, .sizes = sizes};
}

InspectedModel inspect_translation(const InspectOptions& o, Format) {
    const ModelConfig config = open_untokenized_translation_model({o.model, o.base}, false).config;
    const std::int64_t length = o.block_size.value_or(usual_length(config));
    return inspected_translation(config, {o.batch_size, length});
}

void add_inspect_translation(cli::Command& inspect_command, Common& common, const Family& family) {
    struct Options : TranslationRunOptions {
        using TranslationRunOptions::TranslationRunOptions;
        std::int64_t vocabulary = 0;
        InspectView view;
    };
    const std::string name(family.command);
    cli::Command& command =
        inspect_command.add_subcommand(name, "What `train " + name + "` would make with these options");
    auto o = std::make_shared<Options>(family);
    o->declare(command);
    command.add_option("--vocab-size", o->vocabulary, "Tokens of both sides, without --tokenizer")
        .type_name("N")
        .check(whole(1));
    add_view_options(command, o->view);
    add_common(command, common);
    command.footer(inspect_example(family, " --vocab-size 9744 --plan"));
    command.callback([o, &common] {
        o->resolve(common);
        require_fresh(*o);
        o->check();
        const std::int64_t usual = o->family().defaults().size(Dimension::vocab_size);
        const std::int64_t vocabulary = o->vocabulary ? o->vocabulary : usual;
        const std::optional<PairTokenizers> tokenizers = o->given_tokenizers();
        const ModelConfig config = o->fresh_model(
            tokenizers
                ? translation_tokens(*tokenizers)
                : TranslationTokens{.source_vocabulary = vocabulary, .target_vocabulary = vocabulary, .shared = true});
        const std::int64_t length = usual_length(config);
        InspectedModel model =
            inspected_translation(config, {std::max<std::int64_t>(1, o->batch_size / length), length});
        model.trainer = o->trainer;
        model.train_toml = o->toml();
        inspect(common, o->view, model);
    });
}

}  // namespace vkf

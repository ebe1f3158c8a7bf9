// vkformer inspect on language models.

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/inspect/inspect.h"
#include "apps/model.h"
#include "apps/train/language_options.h"
#include "models/generation/generate.h"
#include "models/language_model.h"

namespace vkf {

namespace {

/// The programs of a Generator: the longest chunk of a prompt, a step of all rows and, if there are several, the copy
/// of a row.
std::vector<GraphBuilder> generation(const ModelConfig& config, std::int64_t rows, Format activations) {
    if (!config.family().generates()) return {};
    const std::int64_t chunk = longest_chunk(config.size(Dimension::context));
    std::vector<GraphBuilder> programs{
        [=](const Scope& scope) { prefill_chunk(scope, config, chunk, activations); },
        [=](const Scope& scope) { decode_step(scope, config, activations, rows); },
    };
    if (rows > 1)
        programs.emplace_back([=](const Scope& scope) { copy_cache_row(scope.graph(), config, activations, rows); });
    return programs;
}

constexpr InspectedTask LANGUAGE{
    .item = "token",
    .logits =
        [](const Scope& scope, const ModelConfig& config, const BatchSizes& sizes) {
            const TensorType tokens{DType::i32, {sizes.rows, sizes.length}};
            return language_logits(scope, config, scope.graph().input("tokens", tokens));
        },
    .loss =
        [](const Scope& scope, const ModelConfig& config, const BatchSizes& sizes, bool evaluation) {
            return evaluation ? language_evaluation(scope, config, sizes.rows, sizes.length)
                              : language_loss(scope, config, sizes.rows, sizes.length);
        },
    .batch = [](const BatchSizes& sizes) { return text(sizes.rows, " sequences of ", sizes.length, " tokens"); },
    .items = [](const BatchSizes& sizes) { return static_cast<double>(sizes.rows * sizes.length); },
    .generation = generation,
};

}  // namespace

InspectedModel inspected_language(const ModelConfig& config, const BatchSizes& sizes, Format activations) {
    require_buildable(config);
    const bool cached = config.family().generates();
    return {.task = &LANGUAGE,
            .config = config,
            .sizes = sizes,
            .cache = cached ? static_cast<double>(cache_bytes(config, activations)) : 0};
}

InspectedModel inspect_language(const InspectOptions& o, Format activations) {
    const ModelConfig config = open_untokenized_model({o.model, o.base}, false).config;
    const std::int64_t block = o.block_size.value_or(config.size(Dimension::context));
    return inspected_language(config, {o.batch_size, block}, activations);
}

void add_inspect_language(cli::Command& inspect_command, Common& common, const Family& family) {
    struct Options : LanguageRunOptions {
        using LanguageRunOptions::LanguageRunOptions;
        InspectView view;
    };
    const std::string name(family.command);
    cli::Command& command =
        inspect_command.add_subcommand(name, "What `train " + name + "` would make with these options");
    auto o = std::make_shared<Options>(family);
    o->declare(command);
    add_view_options(command, o->view);
    add_common(command, common);
    command.footer(inspect_example(family, " --vocab-size 65 --attention belief-star --plan"));
    command.callback([o, &common] {
        o->resolve(common);
        require_fresh(*o);
        o->check();
        // Without data, the vocabulary is the default of the family. A token for hidden words is one of its tokens.
        const std::int64_t given = o->model.size(Dimension::vocab_size);
        const std::int64_t vocabulary = given > 0 ? given : o->family().defaults().size(Dimension::vocab_size);
        const ModelConfig config = o->fresh_model(vocabulary - (o->model.has(Dimension::mask_token) ? 1 : 0));
        InspectedModel model = inspected_language(config, {o->batch_size, o->block_size}, common.activations());
        model.trainer = o->trainer;
        model.train_toml = o->toml();
        inspect(common, o->view, model);
    });
}

}  // namespace vkf

// vkformer inspect on language models.

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/inspect/inspect.h"
#include "apps/model.h"
#include "apps/train/language_options.h"
#include "models/language_model.h"

namespace vkf {

namespace {

InspectedModel inspected_model(const ModelConfig& config, std::int64_t batch, std::int64_t block, Format activations) {
    InspectedModel made = inspected(config, batch);
    made.logits = [=](const Scope& scope) {
        return language_logits(scope, config, scope.graph().input("tokens", {DType::i32, {batch, block}}));
    };
    made.loss = [=](const Scope& scope) { return language_loss(scope, config, batch, block); };
    made.items = static_cast<double>(batch * block);
    made.batch = text(batch, " sequences of ", block, " tokens");
    if (config.family().generates()) made.cache = static_cast<double>(cache_bytes(config, activations));
    made.block_size = block;
    return made;
}

}  // namespace

InspectedModel inspect_language(const InspectOptions& o, Format activations) {
    const ModelConfig config = open_untokenized_model({o.model, o.base}, false).config;
    const std::int64_t block = o.block_size.value_or(config.size(Dimension::context));
    return inspected_model(config, o.batch_size, block, activations);
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
        InspectedModel model = inspected_model(config, o->batch_size, o->block_size, common.activations());
        model.trainer = o->trainer;
        model.train_toml = o->toml();
        inspect(common, o->view, model);
    });
}

}  // namespace vkf

// vkformer inspect on sequence classifiers.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "apps/inspect/inspect.h"
#include "apps/model.h"
#include "apps/train/sequence_options.h"
#include "models/sequence_model.h"

namespace vkf {

namespace {

constexpr InspectedTask SEQUENCES{
    .item = "sequence",
    .logits =
        [](const Scope& scope, const ModelConfig& config, const BatchSizes& sizes) {
            Graph& graph = scope.graph();
            return sequence_logits(scope, config,
                                   {graph.input("tokens", {DType::i32, {sizes.rows, sizes.length}}),
                                    graph.input("lengths", {DType::i32, {sizes.rows}})});
        },
    .loss =
        [](const Scope& scope, const ModelConfig& config, const BatchSizes& sizes, bool evaluation) {
            const SequenceShape shape{sizes.rows, sizes.length};
            return evaluation ? sequence_evaluation(scope, config, shape) : sequence_loss(scope, config, shape);
        },
    .batch = [](const BatchSizes& sizes) { return text(sizes.rows, " sequences of ", sizes.length, " tokens"); },
    .items = [](const BatchSizes& sizes) { return static_cast<double>(sizes.rows); },
};

}  // namespace

InspectedModel inspected_sequences(const ModelConfig& config, const BatchSizes& sizes) {
    require_buildable(config);
    return {.task = &SEQUENCES, .config = config, .sizes = sizes};
}

InspectedModel inspect_sequences(const InspectOptions& o, Format) {
    const ModelConfig config = open_untokenized_sequence_model({o.model, o.base}, false).config;
    return inspected_sequences(config, {o.batch_size, o.block_size.value_or(config.size(Dimension::context))});
}

void add_inspect_sequences(cli::Command& inspect_command, Common& common, const Family& family) {
    struct Options : SequenceRunOptions {
        using SequenceRunOptions::SequenceRunOptions;
        std::int64_t classes = 2;
        InspectView view;
    };
    const std::string name(family.command);
    cli::Command& command =
        inspect_command.add_subcommand(name, "What `train " + name + "` would make with these options");
    auto o = std::make_shared<Options>(family);
    o->declare(command);
    command.add_option("--classes", o->classes, "Classes of the texts")
        .type_name("N")
        .check(whole(2, 1'000'000))
        .capture_default_str();
    add_view_options(command, o->view);
    add_common(command, common);
    command.footer(inspect_example(family, " --classes 10"));
    command.callback([o, &common] {
        o->resolve(common);
        require_fresh(*o);
        o->check();
        // Without texts, their words are not known.
        const bool known = !o->tokenizer.empty() || o->tokens == "bytes";
        const std::int64_t vocabulary = known ? static_cast<std::int64_t>(o->tokenizer_for({})->size())
                                              : o->family().defaults().size(Dimension::vocab_size).value;
        std::vector<std::string> classes;
        for (std::int64_t i = 0; i < o->classes; ++i) classes.push_back(std::to_string(i));
        const ModelConfig config = o->fresh_model(vocabulary, std::move(classes));
        InspectedModel model = inspected_sequences(config, {o->batch_size, o->block_size});
        model.trainer = o->trainer;
        model.train_toml = o->toml();
        inspect(common, o->view, model);
    });
}

}  // namespace vkf

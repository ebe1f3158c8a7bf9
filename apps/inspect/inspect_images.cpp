// vkformer inspect on vision models.

#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/common.h"
#include "apps/cli/option_values.h"
#include "apps/inspect/inspect.h"
#include "apps/model.h"
#include "apps/train/image_options.h"
#include "models/image_model.h"

namespace vkf {

namespace {

constexpr InspectedTask IMAGES{
    .item = "image",
    .logits =
        [](const Scope& scope, const ModelConfig& config, const BatchSizes& sizes) {
            return image_logits(scope, config, scope.graph().input("images", image_type(config, sizes.rows)));
        },
    .loss = [](const Scope& scope, const ModelConfig& config, const BatchSizes& sizes,
               bool evaluation) { return image_loss(scope, config, sizes.rows, evaluation); },
    .batch = [](const BatchSizes& sizes) { return text(sizes.rows, " images"); },
    .items = [](const BatchSizes& sizes) { return static_cast<double>(sizes.rows); },
};

}  // namespace

InspectedModel inspected_images(const ModelConfig& config, std::int64_t batch) {
    require_buildable(config);
    return {.task = &IMAGES, .config = config, .sizes = {.rows = batch}};
}

InspectedModel inspect_images(const InspectOptions& o, Format) {
    require(!o.block_size, "--block-size is for language models, ", o.model, " is a ",
            family_in({o.model, o.base}).command);
    return inspected_images(open_image_model({o.model}, false).config, o.batch_size);
}

void add_inspect_images(cli::Command& inspect_command, Common& common, const Family& family) {
    struct Options : ImageRunOptions {
        using ImageRunOptions::ImageRunOptions;
        InspectView view;
    };
    const std::string name(family.command);
    cli::Command& command =
        inspect_command.add_subcommand(name, "What `train " + name + "` would make with these options");
    auto o = std::make_shared<Options>(family);
    o->image_size = 32;
    o->declare(command);
    add_view_options(command, o->view);
    add_common(command, common);
    command.footer(inspect_example(family, " --num-labels 100 --attention belief-star"));
    command.callback([o, &common] {
        o->resolve(common);
        require_fresh(*o);
        o->check();
        const ModelConfig config =
            o->fresh_model(o->image_size > 0 ? o->image_size : 32, o->num_labels > 0 ? o->num_labels : 10);
        InspectedModel model = inspected_images(config, o->batch_size);
        model.trainer = o->trainer;
        model.train_toml = o->toml();
        inspect(common, o->view, model);
    });
}

}  // namespace vkf

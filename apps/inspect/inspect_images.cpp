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

InspectedModel inspected_model(const ModelConfig& config, std::int64_t batch) {
    InspectedModel made = inspected(config, batch);
    made.logits = [=](const Scope& scope) {
        return image_logits(scope, config, scope.graph().input("images", image_type(config, batch)));
    };
    made.loss = [=](const Scope& scope) { return image_loss(scope, config, batch); };
    made.item = "image";
    made.items = static_cast<double>(batch);
    made.batch = text(batch, " images");
    return made;
}

}  // namespace

InspectedModel inspect_images(const InspectOptions& o, Format) {
    require(!o.block_size, "--block-size is for language models, ", o.model, " is a ",
            family_in({o.model, o.base}).command);
    return inspected_model(open_image_model({o.model}, false).config, o.batch_size);
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
        InspectedModel model = inspected_model(config, o->batch_size);
        model.trainer = o->trainer;
        model.train_toml = o->toml();
        inspect(common, o->view, model);
    });
}

}  // namespace vkf

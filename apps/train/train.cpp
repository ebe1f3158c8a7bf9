// vkformer train: one subcommand per family of models.

#include "apps/cli/command.h"
#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/tasks.h"
#include "models/families/family.h"

namespace vkf {

void add_train(cli::Command& app, Common& common) {
    cli::Command& train = app.add_subcommand("train", "Train a model");
    train.require_subcommand();
    for (const Family* family : families()) commands_of(family->task()).add_train(train, common, *family);
}

}  // namespace vkf

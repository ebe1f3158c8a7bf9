// vkformer train: one subcommand per family of models.

#include <CLI/CLI.hpp>

#include "apps/cli/commands.h"
#include "apps/cli/common.h"
#include "apps/tasks.h"
#include "models/families/family.h"

namespace vkf {

void add_train(CLI::App& app, Common& common) {
    CLI::App* train = app.add_subcommand("train", "Train a model")->require_subcommand(1);
    for (const Family* family : families()) commands_of(family->task()).add_train(*train, common, *family);
}

}  // namespace vkf

// vkformer train: one subcommand per family of models.

#include <CLI/CLI.hpp>

#include "apps/commands.h"
#include "apps/common.h"
#include "models/family.h"

namespace vkf {

void add_train_language(CLI::App& train, Common& common, const Family& family);
void add_train_images(CLI::App& train, Common& common, const Family& family);

void add_train(CLI::App& app, Common& common) {
    CLI::App* train = app.add_subcommand("train", "Train a model")->require_subcommand(1);
    for (const Family* family : families())
        (family->images() ? add_train_images : add_train_language)(*train, common, *family);
}

}  // namespace vkf

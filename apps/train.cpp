// vkformer train: one subcommand per kind of model.

#include "apps/commands.h"
#include "apps/common.h"

namespace vkf {

void add_train_gpt(CLI::App& train, Common& common);
void add_train_vit(CLI::App& train, Common& common);

void add_train(CLI::App& app, Common& common) {
    CLI::App* train = app.add_subcommand("train", "Train a model")->require_subcommand(1);
    add_train_gpt(*train, common);
    add_train_vit(*train, common);
}

}  // namespace vkf

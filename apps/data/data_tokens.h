// The part of `vkformer data` that turns texts into tokens.
#pragma once

namespace CLI {
class App;
}

namespace vkf {

struct Common;

/// Adds tokens to the subcommand `data`.
void add_data_tokens(CLI::App& data, Common& common);

}  // namespace vkf

// The part of `vkformer data` that turns texts into tokens.
#pragma once

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;

/// Adds tokens to the subcommand `data`.
void add_data_tokens(cli::Command& data, Common& common);

}  // namespace vkf

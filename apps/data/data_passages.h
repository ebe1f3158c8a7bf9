// The part of `vkformer data` that cuts texts into passages with labels.
#pragma once

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;

/// Adds passages to the subcommand `data`.
void add_data_passages(cli::Command& data, Common& common);

}  // namespace vkf

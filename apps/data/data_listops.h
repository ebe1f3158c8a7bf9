// The part of `vkformer data` that makes ListOps.
#pragma once

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;

/// Adds listops to the subcommand `data`.
void add_data_listops(cli::Command& data, Common& common);

}  // namespace vkf

// vkformer data preview: training images next to their augmented views.
#pragma once

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;

/// Adds preview to the subcommand `data`.
void add_data_preview(cli::Command& data, Common& common);

}  // namespace vkf

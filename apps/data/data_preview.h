// vkformer data preview: training images next to their augmented views.
#pragma once

namespace CLI {
class App;
}

namespace vkf {

struct Common;

/// Adds preview to the subcommand `data`.
void add_data_preview(CLI::App& data, Common& common);

}  // namespace vkf

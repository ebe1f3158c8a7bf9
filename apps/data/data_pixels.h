// The pixels part of `vkformer data`.
#pragma once

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;

/// Adds pixels to the subcommand `data`.
void add_data_pixels(cli::Command& data, Common& common);

}  // namespace vkf

// The part of `vkformer data` that learns a tokenizer.
#pragma once

namespace vkf::cli {
class Command;
}

namespace vkf {

struct Common;

/// Adds bpe to the subcommand `data`.
void add_data_bpe(cli::Command& data, Common& common);

}  // namespace vkf

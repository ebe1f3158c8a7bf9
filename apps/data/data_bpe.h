// The part of `vkformer data` that learns a tokenizer.
#pragma once

namespace CLI {
class App;
}

namespace vkf {

struct Common;

/// Adds bpe to the subcommand `data`.
void add_data_bpe(CLI::App& data, Common& common);

}  // namespace vkf

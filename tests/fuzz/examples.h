// Small examples of every format, which libFuzzer mutates.
#pragma once

#include <string>
#include <vector>

namespace vkf::fuzz::example {

using Examples = std::vector<std::string>;

Examples adapter_config();
Examples characters();
Examples chat_template();
Examples config_json();
Examples documents();
Examples generation_config();
Examples gpt2_tokenizer();
Examples hellaswag();
Examples image_processor();
Examples manifest();
Examples npy();
Examples picture();
Examples report();
Examples sentencepiece();
Examples subword_nmt();
Examples tokenizer_json();
Examples tokens();
Examples toml();
Examples vocab_txt();
Examples weights();
Examples weights_index();

}  // namespace vkf::fuzz::example

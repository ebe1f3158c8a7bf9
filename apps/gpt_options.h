// Everything `train gpt` can be told, under nanoGPT's names where nanoGPT has the option.
#pragma once

#include <string>

#include "apps/run_options.h"
#include "models/gpt2.h"

namespace vkf {

struct GptOptions : RunOptions {
    GptOptions() { trainer.gradient_accumulation_steps = 40; }  // nanoGPT's defaults, all of them

    std::int64_t n_layer = 12;
    std::int64_t n_head = 12;
    std::int64_t n_embd = 768;
    std::int64_t vocab_size = 0;  // 0: the data's
    std::int64_t block_size = 1024;
    bool bias = false;
    std::string activation = "gelu";
    std::string order = "random";
    std::int64_t max_iters = 600000;
    std::int64_t eval_interval = 2000;
    std::int64_t eval_iters = 200;

    void declare(CLI::App& app);
    /// With --init-from or --resume: what the model and the run there are. Throws InputError where that contradicts
    /// what was given.
    void take_origin(const Common& common);
    /// Throws InputError naming the option, its value and what is wanted.
    void check();
    /// The model that the flags describe.
    Gpt2Config fresh_model(std::int64_t data_vocabulary) const;
};

}  // namespace vkf

// Everything `train gpt` can be told, under nanoGPT's names where nanoGPT has the option.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/gpt2.h"
#include "models/train/schedule.h"
#include "models/train/trainer.h"

namespace vkf {

struct TrainOptions {
    TrainOptions() { trainer.gradient_accumulation_steps = 40; }  // nanoGPT's defaults, all of them

    // model, when it is not taken from --init-from or --resume
    std::int64_t n_layer = 12;
    std::int64_t n_head = 12;
    std::int64_t n_embd = 768;
    std::int64_t vocab_size = 0;  // 0: the data's
    bool bias = false;
    std::string activation = "gelu";
    std::string attention = "standard";
    double gamma = 0;  // 0: the paper's choice for GPT, 3 on the sum and 0.5 on the value
    std::string gamma_on = "sum";
    bool mask_diagonal = false;

    // data
    std::string data;
    std::string order = "random";

    // training
    std::int64_t batch_size = 12;
    std::int64_t block_size = 1024;
    TrainerConfig trainer;
    std::string optimizer = "adamw";
    double eps = 0;  // 0: 1e-8, and 1e-18 for setadam
    Schedule schedule;
    std::int64_t max_iters = 600000;
    std::uint64_t seed = 1337;

    // the run
    std::string out_dir = "out";
    std::string init_from;
    bool resume = false;
    bool overwrite = false;
    std::int64_t eval_interval = 2000;
    std::int64_t eval_iters = 200;
    std::int64_t log_interval = 1;

    /// Declares the options on a subcommand.
    void declare(CLI::App& app);
    /// Settles what depends on other options. Throws InputError naming the option, its value and what is wanted.
    void check();
    /// The model that the flags describe.
    Gpt2Config fresh_model(std::int64_t data_vocabulary) const;
    /// The full configuration as --config reads it; where the run is kept is no part of it.
    std::string toml() const;

private:
    struct Entry {
        std::string key;
        std::function<std::string()> value;
    };
    std::vector<Entry> entries_;
};

}  // namespace vkf

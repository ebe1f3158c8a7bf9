// The learning rate over a run.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace vkf {

/// nanoGPT's schedule: linear warm-up, then a cosine down to min_lr at lr_decay_iters, then min_lr.
struct Schedule {
    double learning_rate = 6e-4;
    double min_lr = 6e-5;
    std::int64_t warmup_iters = 2000;
    std::int64_t lr_decay_iters = 600000;
    bool decay_lr = true;  // false: learning_rate throughout

    /// The rate of iteration `it`, counted from 0.
    double at(std::int64_t it) const {
        if (!decay_lr) return learning_rate;
        const auto i = static_cast<double>(it), warmup = static_cast<double>(warmup_iters);
        if (it < warmup_iters) return learning_rate * (i + 1) / (warmup + 1);
        if (it >= lr_decay_iters) return min_lr;
        const double done = (i - warmup) / (static_cast<double>(lr_decay_iters) - warmup);
        return min_lr + 0.5 * (1 + std::cos(std::numbers::pi * done)) * (learning_rate - min_lr);
    }
};

}  // namespace vkf

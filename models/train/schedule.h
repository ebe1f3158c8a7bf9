// The learning rate over a run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace vkf {

/// Schedule of language models: linear warm-up, then a descent to min_lr at lr_decay_iters, then min_lr. The descent is
/// nanoGPT's cosine or, for a trapezoid, constant and then linear over the last `warmdown_iters` steps.
///
/// inverse_sqrt (Vaswani et al., 2017, §5.3) descends without an end, so it uses neither min_lr nor lr_decay_iters:
/// learning_rate · min(s / w, √(w / s)) in update s = 1, 2, …, where w is warmup_iters, at least 1. The rate is
/// learning_rate in update w, and with learning_rate = (C · w)^−0.5 the published C^−0.5 · min(s^−0.5, s · w^−1.5).
struct Schedule {
    enum class Kind { cosine, trapezoid, inverse_sqrt } kind = Kind::cosine;
    double learning_rate = 6e-4;
    double min_lr = 6e-5;
    std::int64_t warmup_iters = 2000;
    std::int64_t lr_decay_iters = 600000;
    std::int64_t warmdown_iters = 0;
    bool decay_lr = true;  // false: learning_rate throughout

    /// The rate of iteration `it`, counted from 0.
    double at(std::int64_t it) const {
        if (!decay_lr) return learning_rate;
        const auto i = static_cast<double>(it), warmup = static_cast<double>(warmup_iters);
        if (kind == Kind::inverse_sqrt) {
            const double updates = i + 1, peak = std::max(warmup, 1.0);
            return learning_rate * std::min(updates / peak, std::sqrt(peak / updates));
        }
        const bool trapezoid = kind == Kind::trapezoid;  // its warm-up ends a step earlier
        if (it < warmup_iters) return learning_rate * (i + 1) / (trapezoid ? warmup : warmup + 1);
        if (it >= lr_decay_iters) return min_lr;
        if (trapezoid) {
            const auto left = static_cast<double>(lr_decay_iters - it), warmdown = static_cast<double>(warmdown_iters);
            return left >= warmdown ? learning_rate : min_lr + (learning_rate - min_lr) * left / warmdown;
        }
        const double done = (i - warmup) / (static_cast<double>(lr_decay_iters) - warmup);
        return min_lr + 0.5 * (1 + std::cos(std::numbers::pi * done)) * (learning_rate - min_lr);
    }
};

/// Sides of training images over a run: `first` in the first `epochs` epochs, `step` more after every `epochs` epochs,
/// and `last` as soon as that is reached.
struct SideSchedule {
    std::int64_t first = 224, step = 32, epochs = 5, last = 224;

    /// Number of different sides.
    std::int64_t count() const { return 1 + (last - first + step - 1) / step; }
    /// Index of an epoch's side among them, from 0. Epochs count from 0.
    std::int64_t index(std::int64_t epoch) const { return std::min(epoch / epochs, count() - 1); }
    std::int64_t side(std::int64_t index) const { return std::min(first + index * step, last); }
    std::int64_t at(std::int64_t epoch) const { return side(index(epoch)); }
};

/// The schedules of the published image recipes, over a run of `epochs` epochs.
struct EpochSchedule {
    enum class Kind { by_step, by_epoch, deit } kind = Kind::by_step;
    double learning_rate = 1e-3;
    double min_lr = 1e-6;
    bool decay_lr = true;
    std::int64_t epochs = 100, warmup_epochs = 10, steps_per_epoch = 1;

    /// by_step: from min_lr linearly to learning_rate over the warm-up, then a cosine back. by_epoch: a cosine to 0 in
    /// steps of an epoch, two epochs late as its authors ran it: epoch e ≥ 1 has ½·lr·(1 + cos(π·(e − 2)/epochs)),
    /// epoch 0 has lr. deit: a cosine to min_lr in steps of an epoch, one epoch late as DeiT's main program sets timm's
    /// CosineLRScheduler: with t = max(e − 1, 0), epoch e has min_lr + ½·(lr − min_lr)·(1 + cos(π·t/epochs)). Only
    /// by_step has a warm-up.
    double at(std::int64_t step) const {
        if (!decay_lr) return learning_rate;
        if (kind == Kind::by_epoch) {
            const auto epoch = static_cast<double>(step / steps_per_epoch);
            if (epoch < 1) return learning_rate;
            return 0.5 * learning_rate * (1 + std::cos(std::numbers::pi * (epoch - 2) / static_cast<double>(epochs)));
        }
        if (kind == Kind::deit) {
            const auto t = static_cast<double>(std::max<std::int64_t>(step / steps_per_epoch - 1, 0));
            return cosine(t / static_cast<double>(epochs));
        }
        const auto k = static_cast<double>(step), warmup = static_cast<double>(warmup_epochs * steps_per_epoch);
        if (k < warmup) return min_lr + (learning_rate - min_lr) * k / warmup;
        return cosine((k - warmup) / (static_cast<double>(epochs * steps_per_epoch) - warmup));
    }

private:
    /// Half a cosine from learning_rate to min_lr, of which the share `done` has passed.
    double cosine(double done) const {
        return min_lr + 0.5 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0))) * (learning_rate - min_lr);
    }
};

}  // namespace vkf

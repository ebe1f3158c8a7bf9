#include "checks/loss/rounded_head_loss.h"

#include <algorithm>
#include <cmath>

#include "checks/op_tables.h"
#include "ops/loss/head_loss.h"

namespace vkf::checks {

namespace {

RoundedHeadLoss made(std::string name, std::int64_t rows, std::int64_t channels, std::int64_t width,
                     std::int64_t rows_at_a_time, float smoothing = 0) {
    return {.op = {.name = std::move(name),
                   .operands = {normal({rows, channels}),
                                normal({width, channels}, 1 / std::sqrt(static_cast<double>(channels))),
                                integers({rows}, -width / 4, width)},
                   .build =
                       [=](Inputs x) {
                           const std::int64_t pitch = (width + 63) / 64 * 64;
                           return std::vector{head_loss(
                               x[0], x[1], x[2],
                               {.logits_bytes = 4 * pitch * rows_at_a_time, .terms = {.label_smoothing = smoothing}})};
                       }},
            .smoothing = smoothing};
}

}  // namespace

Arrays bounds_of(const RoundedHeadLoss& c, const BoundedRun& run) {
    const bool bf16 = run.element == MatrixElement::bf16;
    const double unit = std::ldexp(1.0, bf16 ? -8 : -11), smallest = std::ldexp(1.0, bf16 ? -126 : -14);
    const double fp32 = std::ldexp(1.0, -24);
    const Array &x = run.leaves.at("x0"), &w = run.leaves.at("x1"), &targets = run.leaves.at("x2");
    const auto rows = static_cast<std::size_t>(c.op.operands[0].type.shape[0]);
    const auto channels = static_cast<std::size_t>(x.shape.width()), width = static_cast<std::size_t>(w.shape[0]);
    const double weight = std::abs(run.leaves.at("w0").at[0]);
    const auto size = [&](double value) { return std::max(std::abs(value), smallest); };
    const auto counted = static_cast<double>(std::ranges::count_if(targets.at, [](double t) { return t >= 0; }));

    Arrays made{{"y0", run.wanted.at("y0")}, {"d_x0", run.wanted.at("d_x0")}, {"d_x1", run.wanted.at("d_x1")}};
    for (auto& [name, array] : made)
        for (double& at : array.at) at = run.packed * std::abs(at) + run.packed_least;
    const double terms = static_cast<double>(std::max({channels, width, rows})) + 4;
    for (std::size_t r = 0; r < rows; ++r) {
        if (targets.at[r] < 0) continue;
        std::vector<double> logits(width);
        double off = 0, top = 0, largest = -1e30, sum = 0;
        for (std::size_t j = 0; j < width; ++j) {
            double magnitude = 0;
            for (std::size_t k = 0; k < channels; ++k) {
                const double a = x.at[r * channels + k], b = w.at[j * channels + k];
                logits[j] += a * b;
                magnitude += size(a) * size(b);
            }
            off = std::max(off, magnitude * (2 * unit + unit * unit + terms * fp32));
            top = std::max(top, std::abs(logits[j]));
            largest = std::max(largest, logits[j]);
        }
        for (const double logit : logits) sum += std::exp(logit - largest);
        made.at("y0").at[0] += (2 * off + 64 * fp32 * (1 + top)) / counted;
        for (std::size_t j = 0; j < width; ++j) {
            const double p = std::exp(logits[j] - largest) / sum;
            const double target = c.smoothing / static_cast<double>(width) +
                                  (static_cast<double>(j) == targets.at[r] ? 1 - c.smoothing : 0);
            const double d = std::abs(p - target) / counted;  // magnitude of the gradient
            const double exact = (p * std::expm1(2 * off) + 64 * fp32 * (p + target)) / counted;
            const double wrong = exact + unit * std::max(d + exact, smallest);
            const double in_sum = unit + terms * fp32;  // rounding of the other factor, and additions
            for (std::size_t k = 0; k < channels; ++k) {
                const double term = wrong * (1 + in_sum) + d * in_sum;
                made.at("d_x0").at[r * channels + k] += weight * term * size(w.at[j * channels + k]);
                made.at("d_x1").at[j * channels + k] += weight * term * size(x.at[r * channels + k]);
            }
        }
    }
    return made;
}

std::vector<RoundedHeadLoss> rounded_head_losses(std::int64_t channels) {
    return {made("all rows", 21, channels, 48, 32),           made("odd width", 21, channels, 49, 32),
            made("wider than a tile", 70, channels, 131, 80), made("chunks", 70, channels, 65, 24),
            made("one past a pitch", 33, channels, 129, 64),  made("three rows left", 25, channels, 65, 22),
            made("smoothed", 21, channels, 48, 32, 0.25f),    made("smoothed chunks", 70, channels, 65, 24, 0.875f)};
}

std::vector<BoundedCase> rounded_head_loss_cases() {
    std::vector<BoundedCase> list;
    for (const RoundedHeadLoss& c : rounded_head_losses(40))
        list.push_back({c.op, [c](const BoundedRun& run) { return bounds_of(c, run); }});
    return list;
}

}  // namespace vkf::checks

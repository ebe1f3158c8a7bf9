#include "ops/sampling/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/rows/policy.h"
#include "ops/sampling/policy.h"

namespace vkf {

namespace {

std::uint64_t wide(std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{high} << 32 | low;
}

__extension__ using Product = unsigned __int128;

/// Tokens that may be drawn, with their weights.
class Candidates {
public:
    Candidates(std::span<const float> logits, const SampleRow& row)
        : row_(row), keys_(logits.size()), weights_(logits.size()) {
        std::ranges::transform(logits, keys_.begin(), ordered);
        const float greatest = *std::ranges::max_element(logits) + 0.0f;  // −0 becomes 0
        const std::uint32_t least = least_of_top();
        for (std::size_t i = 0; i < logits.size(); ++i)
            if (keys_[i] >= least) weights_[i] = weight(greatest - logits[i], row.steepness);
        keep_nucleus();
        for (std::uint64_t& w : weights_)
            if (w < wide(row.least_low, row.least_high)) w = 0;
    }

    std::int32_t drawn() const {
        const auto passed = static_cast<std::uint64_t>(Product{wide(row_.random_low, row_.random_high)} * total() >>
                                                       64);  // less than total()
        std::uint64_t sum = 0;
        std::size_t token = 0;
        while ((sum += weights_[token]) <= passed) ++token;
        return static_cast<std::int32_t>(token);
    }

private:
    std::uint64_t total() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t w : weights_) sum += w;
        return sum;
    }

    std::uint32_t least_of_top() const {
        if (row_.top_k == 0 || row_.top_k >= keys_.size()) return 0;
        std::vector<std::uint32_t> sorted = keys_;
        const auto last = sorted.begin() + (row_.top_k - 1);
        std::ranges::nth_element(sorted, last, std::ranges::greater());
        return *last;
    }

    void keep_nucleus() {
        const std::uint64_t p = wide(row_.nucleus_low, row_.nucleus_high);
        if (p == 0) return;
        std::vector<std::size_t> order;  // of tokens with a weight above 0
        for (std::size_t i = 0; i < keys_.size(); ++i)
            if (weights_[i] > 0) order.push_back(i);
        std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return keys_[i]; });
        const auto enough = static_cast<std::uint64_t>((Product{p} * total() + ~std::uint64_t{0}) >> 64);
        std::uint64_t sum = 0;
        for (const std::size_t token : order) {
            const bool full = sum >= enough;
            sum += weights_[token];
            if (full) weights_[token] = 0;
        }
    }

    const SampleRow& row_;
    std::vector<std::uint32_t> keys_;
    std::vector<std::uint64_t> weights_;
};

/// Adds the largest logit and the sum of weights, from which the token's probability follows.
void add_probability(SampledToken& token, std::span<const float> logits) {
    static const Scale natural = Scale::of(std::numbers::log2e);
    token.greatest = *std::ranges::max_element(logits, {}, ordered) + 0.0f;
    for (const float logit : logits) token.sum += weight(token.greatest - logit, natural);
}

class SampleOp : public Op {
public:
    std::string_view name() const override { return "sample"; }

    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        const Shape& x = in[0].shape;
        require(in[0].dtype == DType::f32 && x.rank() > 1 && x.elements() > 0 && x.width() <= most, "wants f32[B, ",
                most, " at most], not ", in[0]);
        const TensorType rows{DType::i32, {x.rows(), SampleRow::words}};
        const TensorType seen{DType::i32, {x.rows(), seen_words(x.width())}};
        require(in[1] == rows, "its rows are ", in[1], ", wanted ", rows);
        require(in[2] == seen, "what is seen is ", in[2], ", wanted ", seen);
        return {{DType::i32, {x.rows()}}, {DType::i32, {x.rows(), others}}};
    }

    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        const auto width = static_cast<std::size_t>(in[0].shape.width());
        const std::size_t words = in[2].at.size() / out[0].at.size();
        for (std::size_t b = 0; b < out[0].at.size(); ++b) {
            std::vector<float> logits(width);
            std::array<std::int32_t, SampleRow::words> row{};
            std::vector<std::int32_t> seen(words);
            std::transform(&in[0].at[b * width], &in[0].at[b * width] + width, logits.begin(),
                           [](double x) { return static_cast<float>(x); });
            const auto whole = [](double x) { return static_cast<std::int32_t>(x); };
            std::transform(&in[1].at[b * row.size()], &in[1].at[b * row.size()] + row.size(), row.begin(), whole);
            std::transform(&in[2].at[b * words], &in[2].at[b * words] + words, seen.begin(), whole);
            const SampledToken made = sample_token(logits, std::bit_cast<SampleRow>(row), seen);
            out[0].at[b] = made.token;
            const std::array all{std::bit_cast<std::int32_t>(made.logit), std::bit_cast<std::int32_t>(made.greatest),
                                 static_cast<std::int32_t>(static_cast<std::uint32_t>(made.sum)),
                                 static_cast<std::int32_t>(made.sum >> 32)};
            std::ranges::copy(all, &out[1].at[b * others]);
        }
        return true;
    }

    void lower(Lowering& lowering) const override {
        const Tensor x = lowering.in[0];
        const Args shared{{"x", x},
                          {"rows", lowering.in[1]},
                          {"seen", lowering.in[2]},
                          {"width", checked_u32(x.width())},
                          {"x_pitch", checked_u32(x.pitch())},
                          {"seen_pitch", checked_u32(seen_words(x.width()))}};
        const bool prepares = prepares_sampling(lowering.device, x.width());
        Args args{{"tokens", lowering.out[0]}, {"others", lowering.out[1]}};
        if (prepares)
            append(args, prepare(lowering, shared));
        else
            append(args, {{"maxima", {}}, {"keys", {}}, {"weights", {}}, {"sections", 0U}});
        append(args, shared);
        const std::uint32_t most_lanes = std::min(lowering.device.max_group, 32 * lowering.device.subgroup_size);
        const std::uint32_t group = prepares ? most_lanes : row_group(lowering.device, x.width());
        lowering.dispatch({.kernel = "sample",
                           .constants = {{"GROUP", group}, {"PREPARED", prepares}},
                           .args = std::move(args),
                           .groups = static_cast<std::uint64_t>(x.rows()),
                           .bytes = 4.0 * static_cast<double>(x.elements())});
    }

private:
    static void append(Args& args, const Args& more) { args.insert(args.end(), more.begin(), more.end()); }

    /// Many workgroups compute a row's maxima and the words and weights of its logits, so that the workgroup that draws
    /// reads them instead of computing them in each of up to ten sweeps. Returns arguments of the kernel that draws.
    static Args prepare(Lowering& lowering, const Args& shared) {
        const std::int64_t batch = lowering.in[0].rows(), width = lowering.in[0].width();
        const std::uint32_t group = row_group(lowering.device, width), per_section = 4 * group;
        const std::int64_t sections = (width + per_section - 1) / per_section;
        const Args made{{"maxima", lowering.scratch(3 * batch * sections)}, {"sections", checked_u32(sections)}};
        const Args weighed{{"keys", lowering.scratch(batch * width)}, {"weights", lowering.scratch(2 * batch * width)}};
        const auto launch = [&](std::string kernel, Args args, double words) {
            append(args, shared);
            append(args, made);
            args.emplace_back("per_section", per_section);
            lowering.dispatch({.kernel = std::move(kernel),
                               .constants = {{"GROUP", group}},
                               .args = std::move(args),
                               .groups = static_cast<std::uint64_t>(batch * sections),
                               .bytes = 4.0 * words * static_cast<double>(batch * width)});
        };
        launch("sample_maxima", {}, 1);
        launch("sample_weights", weighed, 4);
        Args args = made;
        append(args, weighed);
        return args;
    }

    static constexpr std::int64_t most = 1 << 22;          // tokens; the sum of their weights has 64 bits
    static constexpr std::int64_t others = 4;
};

}  // namespace

double SampledToken::log_probability() const {
    const double difference = static_cast<double>(logit) - static_cast<double>(greatest);
    return difference - std::log(static_cast<double>(sum) / static_cast<double>(WHOLE_WEIGHT));
}

SampledToken sample_token(std::span<const float> logits, const SampleRow& row, std::span<const std::int32_t> seen) {
    std::vector<float> known(logits.begin(), logits.begin() + row.vocabulary);
    for (std::size_t i = 0; i < known.size(); ++i) {
        const float own = known[i];
        if (!std::isfinite(own)) return {.token = -1 - static_cast<std::int32_t>(i), .logit = own};
        const bool again = (static_cast<std::uint32_t>(seen[i / 32]) >> i % 32 & 1) != 0;
        if (again && row.seen_positive != Scale())
            known[i] = rescaled(own, own > 0 ? row.seen_positive : row.seen_negative);
    }
    SampledToken made;
    if (known.empty()) return made;
    made.token = row.steepness == Scale() ? static_cast<std::int32_t>(std::ranges::max_element(known) - known.begin())
                                          : Candidates(known, row).drawn();
    made.logit = logits[static_cast<std::size_t>(made.token)];
    if (row.log_probability != 0) add_probability(made, logits);
    return made;
}

std::array<Tensor, 2> sample(Tensor logits, Tensor rows, Tensor seen) {
    const std::vector<Tensor> made = logits.graph().add(std::make_shared<const SampleOp>(), {logits, rows, seen});
    return {made[0], made[1]};
}

SampledToken sampled_token(std::span<const std::int32_t> tokens, std::span<const std::int32_t> others, std::int64_t b) {
    const auto of = others.subspan(static_cast<std::size_t>(4 * b), 4);
    return {.token = tokens[static_cast<std::size_t>(b)],
            .logit = std::bit_cast<float>(of[0]),
            .greatest = std::bit_cast<float>(of[1]),
            .sum = wide(static_cast<std::uint32_t>(of[2]), static_cast<std::uint32_t>(of[3]))};
}

}  // namespace vkf

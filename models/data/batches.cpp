#include "models/data/batches.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace vkf {

Order order_named(std::string_view word) {
    if (word == "random") return Order::random;
    if (word == "sequential") return Order::sequential;
    throw InputError("order '", word, "' is unknown, wanted random or sequential");
}

Batches::Batches(std::string name, TokenStream tokens, const Options& options)
    : name_(std::move(name)), tokens_(std::move(tokens)), options_(options) {
    const auto [rows, length, together] = std::tuple(options.rows, options.length, options.together);
    require(rows >= 1 && length >= 1, name_, " batches: ", rows, " x ", length, " tokens, wanted at least 1 x 1");
    const std::size_t update = together * rows * length;
    std::size_t longest = 0;
    std::vector<std::size_t> choices;
    for (const TokenSpan& shard : tokens_.shards()) {
        const std::size_t size = shard.size();
        longest = std::max(longest, size);
        choices.push_back(by_updates() ? (size - std::min<std::size_t>(size, 1)) / update
                                       : size - std::min(size, length));  // N − T
    }
    choices_ = Segments(choices);
    const bool several = tokens_.shards().size() > 1;
    require(choices_.total() > 0, name_, " data: ", longest, " tokens", several ? " in the longest shard" : "",
            by_updates() ? ", wanted more than an update's " : ", wanted more than the block size ",
            by_updates() ? update : length);
}

std::vector<std::size_t> Batches::starts(std::uint64_t t) const {
    const std::uint64_t choices = choices_.total();
    const auto place = [&](std::uint64_t choice) { return choices_.find(static_cast<std::size_t>(choice)); };
    std::vector<std::size_t> starts(options_.rows);
    if (by_updates()) {
        const auto [shard, update] = place(t / options_.together % choices);
        const std::size_t before = update * options_.together + static_cast<std::size_t>(t % options_.together);
        for (std::size_t b = 0; b < starts.size(); ++b)
            starts[b] = tokens_.begin(shard) + (before * options_.rows + b) * options_.length;
        return starts;
    }
    Random random(options_.seed, "batch/" + name_, t);
    for (std::size_t b = 0; b < starts.size(); ++b) {
        const auto [shard, token] =
            place(options_.order == Order::random ? random.below(choices)
                                                  : (t * options_.rows + b) * options_.length % choices);
        starts[b] = tokens_.begin(shard) + token;
    }
    return starts;
}

Batch Batches::at(std::uint64_t t) const {
    const std::size_t length = options_.length, count = options_.rows * length;
    Batch batch{{"tokens", std::vector<std::int32_t>(count)}, {"targets", std::vector<std::int32_t>(count)}};
    std::size_t row = 0;
    for (const std::size_t start : starts(t)) {
        tokens_.window(start, length).copy_to(std::span(batch.at("tokens")).subspan(row, length));
        tokens_.window(start + 1, length).copy_to(std::span(batch.at("targets")).subspan(row, length));
        row += length;
    }
    if (options_.objective) {
        Random random(options_.seed, "objective/" + name_, t);
        options_.objective(batch, random);
    }
    return batch;
}

}  // namespace vkf

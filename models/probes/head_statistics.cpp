#include "models/probes/head_statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>

#include "models/probes/spectrum.h"

namespace vkf {

namespace {

constexpr std::size_t MOST_DECOMPOSED = 1024;  // queries or keys of a map
constexpr double POSITIONAL = 0.9, ONE_TOKEN = 0.9, RARE = 0.5;

std::string offset_name(std::int64_t offset) {
    if (offset == 0) return "diagonal";
    if (offset == -1) return "previous token";
    if (offset == 1) return "next token";
    return (offset > 0 ? "offset +" : "offset ") + std::to_string(offset);
}

}  // namespace

void HeadStatistics::add(const HeadMap& map) {
    std::map<std::size_t, double> looks;  // by key
    for (std::size_t t = 0; t < map.queries; ++t) {
        if (!map.counted[t]) continue;
        const std::span<const float> row = map.weights.subspan(t * map.keys, map.keys);
        const auto seen = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
        for (const float weight : row)
            if (weight > 0) entropy_ -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
        ++queries_;
        confidence_ += static_cast<double>(row[seen]);
        ++offsets_[static_cast<std::int64_t>(seen) - static_cast<std::int64_t>(t)];
        ++looks[seen];
        if (map.uses.empty()) continue;
        const bool rarer = std::ranges::any_of(std::views::iota(std::size_t{0}, map.keys), [&](std::size_t key) {
            return row[key] > 0 && map.uses[key] < map.uses[seen];
        });
        rare_ += rarer ? 0 : 1;
    }
    if (looks.empty()) return;
    one_key_ += std::ranges::max_element(looks, {}, [](const auto& entry) { return entry.second; })->second;
    if (std::max(map.queries, map.keys) <= MOST_DECOMPOSED) add_spectrum(map);
}

void HeadStatistics::add_spectrum(const HeadMap& map) {
    std::vector<float> counted;
    for (std::size_t t = 0; t < map.queries; ++t)
        if (map.counted[t]) std::ranges::copy(map.weights.subspan(t * map.keys, map.keys), std::back_inserter(counted));
    spectra_.push_back(cumulative_energy(counted, map.keys));
}

HeadRole HeadStatistics::role() const {
    if (empty()) return {};
    const auto positional = std::ranges::max_element(offsets_, {}, [](const auto& entry) { return entry.second; });
    if (positional->second >= POSITIONAL * queries_)
        return {offset_name(positional->first), positional->second / queries_};
    if (one_key_ >= ONE_TOKEN * queries_) return {"one token", one_key_ / queries_};
    if (rare_ >= RARE * queries_) return {"rare token", rare_ / queries_};
    return {};
}

std::vector<double> HeadStatistics::spectrum() const {
    std::size_t longest = 0;
    for (const std::vector<double>& spectrum : spectra_) longest = std::max(longest, spectrum.size());
    std::vector<double> mean(longest);
    for (const std::vector<double>& spectrum : spectra_)
        for (std::size_t k = 0; k < longest; ++k)
            mean[k] += (k < spectrum.size() ? spectrum[k] : 1) / static_cast<double>(spectra_.size());
    return mean;
}

std::int64_t HeadStatistics::rank() const {
    return rank_of(spectrum(), RANK_ENERGY);
}

}  // namespace vkf

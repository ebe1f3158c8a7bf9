// Statistics of an attention head over many maps of weights: its role, its confidence, the spectrum of the maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace vkf {

/// A head's weights softmax(QKᵀ) in one sequence, [T, S], with what is known of it.
struct HeadMap {
    std::size_t queries, keys;
    std::span<const float> weights;
    std::vector<bool> counted;  // by query: false for padding
    std::vector<std::int64_t> uses =
        {};  // by key: how often its token is used in the data; empty if keys are no tokens
};

/// A role of a head (Voita et al., Analyzing Multi-Head Self-Attention, 2019, section 5), and the share of queries that
/// play it.
struct HeadRole {
    std::string name;  // "" if no role has a large enough share
    double share = 0;
};

/// Statistics of one head over the maps that were added. A query looks at the key that has its greatest weight.
class HeadStatistics {
public:
    void add(const HeadMap& map);

    /// The first that holds:
    ///
    ///     diagonal, previous token, next token, offset N   at least 90 % of the queries look at one offset of
    ///                                                      positions, key minus query
    ///     one token                                        at least 90 % of the queries look at one key of their map
    ///     rare token                                       at least half of the queries look at the token that is the
    ///                                                      least used of those they give weight to
    HeadRole role() const;
    /// Mean over the queries of the greatest weight.
    double confidence() const { return confidence_ / queries_; }
    /// Mean over the queries of −Σ_j α_j ln α_j.
    double entropy() const { return entropy_ / queries_; }
    /// Element k: share of the sum of squared singular values that the k + 1 largest have, mean over the maps (Wang et
    /// al., Linformer, 2020, figure 1, plot the same sums of values that are not squared). Maps of more than 1024
    /// queries or keys do not count; empty if none counts.
    std::vector<double> spectrum() const;
    /// Singular values that have 90 % of the sum of squares; 0 without a spectrum.
    std::int64_t rank() const;
    bool empty() const { return queries_ == 0; }

private:
    void add_spectrum(const HeadMap& map);

    double queries_ = 0, confidence_ = 0, entropy_ = 0;
    std::map<std::int64_t, double> offsets_;  // number of queries by the offset they look at
    double one_key_ = 0, rare_ = 0;           // number of queries that look at their map's favourite, and rarest, key
    std::vector<std::vector<double>> spectra_;
};

}  // namespace vkf

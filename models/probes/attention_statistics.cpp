#include "models/probes/attention_statistics.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <span>

#include "base/error.h"
#include "base/integers.h"
#include "models/attention/attention_taps.h"
#include "models/probes/spectrum.h"

namespace vkf {

namespace {

constexpr std::int64_t MOST_RANKED = 256;  // positions of a map whose rank is computed
constexpr double ROUNDING = 1e-6;          // a Δ that is smaller, relative to MH, is made of rounding errors

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Mean of the numbers that were added.
class Mean {
public:
    void add(double number) {
        sum_ += number;
        ++count_;
    }
    double value() const {
        return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / static_cast<double>(count_);
    }

private:
    double sum_ = 0;
    std::int64_t count_ = 0;
};

/// Means of one statistic.
struct Means {
    Mean first, all;

    void add(std::int64_t position, double number) {
        all.add(number);
        if (position == 0) first.add(number);
    }
    TokenMean value() const { return {first.value(), all.value()}; }
};

class LayerStatistics {
public:
    LayerStatistics(const LayerTensors& layer, bool signal_is_phi) : layer_(layer), signal_is_phi_(signal_is_phi) {}

    std::map<std::string, TokenMean> made() {
        const Matrix o = rows(tap::attended);
        std::vector<std::int64_t> tokens;  // that are not padding
        for (std::int64_t token = 0; token < layer_.batch * layer_.queries; ++token)
            if (o.row(token).squaredNorm() > 0) tokens.push_back(token);
        expect({"mh_norm", "entropy"});
        for (const std::int64_t token : tokens) {
            means_["mh_norm"].add(token % layer_.queries, o.row(token).norm());
            add_weights(token);
        }
        if (!layer_.cross) compare_with_values(o, tokens);
        std::map<std::string, TokenMean> found;
        for (const auto& [name, means] : means_) found[name] = means.value();
        const double none = std::numeric_limits<double>::quiet_NaN();
        found["rank"] = {none, std::max(layer_.queries, layer_.keys) <= MOST_RANKED ? rank() : none};
        return found;
    }

private:
    /// Gives these statistics, also if no token has them.
    void expect(std::initializer_list<const char*> names) {
        for (const char* name : names) means_[name];
    }

    void compare_with_values(const Matrix& o, const std::vector<std::int64_t>& tokens) {
        expect({"delta_norm", "mh_output_norm", "delta_output_norm", "mh_output_angle", "delta_output_angle",
                "phi_norm", "value_cosine", "self_weight"});
        const Matrix x = rows(tap::residual), v = rows(tap::values);
        const Matrix o_map = rows(tap::attended_map), delta_map = rows(tap::perpendicular_map);
        const Matrix phi = signal_is_phi_ ? rows(tap::signal) : Matrix(v - o);
        for (const std::int64_t token : tokens) {
            const std::int64_t at = token % layer_.queries;
            const double share = v.row(token).squaredNorm();
            Eigen::RowVectorXd delta = o.row(token);
            if (share > 0) delta -= o.row(token).dot(v.row(token)) / share * v.row(token);
            means_["delta_norm"].add(at, delta.norm());
            means_["mh_output_norm"].add(at, o_map.row(token).norm());
            means_["delta_output_norm"].add(at, delta_map.row(token).norm());
            add_angle("mh_output_angle", at, o_map.row(token), x.row(token));
            if (delta.norm() > ROUNDING * o.row(token).norm())
                add_angle("delta_output_angle", at, delta_map.row(token), x.row(token));
            means_["phi_norm"].add(at, phi.row(token).norm());
            add_value_cosine(at, o.row(token), v.row(token));
        }
    }

    const std::vector<float>& tensor(std::string_view name) const {
        const auto found = layer_.by_name.find(name);
        require(found != layer_.by_name.end(), "statistics of attention: '", name, "' is missing");
        return found->second;
    }

    Matrix rows(std::string_view name) const {
        const std::vector<float>& values = tensor(name);
        const Eigen::Index count = layer_.batch * layer_.queries;
        return Eigen::Map<const Eigen::Matrix<float, -1, -1, Eigen::RowMajor>>(
                   values.data(), count, static_cast<Eigen::Index>(values.size()) / count)
            .cast<double>();
    }

    /// Adds the angle of two vectors, if both have a direction.
    void add_angle(const char* name, std::int64_t at, const auto& a, const auto& b) {
        const double norms = a.norm() * b.norm();
        if (norms > 0)
            means_[name].add(at, std::acos(std::clamp(a.dot(b) / norms, -1.0, 1.0)) * 180 / std::numbers::pi);
    }

    void add_value_cosine(std::int64_t at, const auto& o, const auto& v) {
        const Eigen::Index width = o.size() / layer_.heads;
        Mean heads;
        for (std::int64_t h = 0; h < layer_.heads; ++h) {
            const auto o_h = o.segment(h * width, width), v_h = v.segment(h * width, width);
            const double norms = o_h.norm() * v_h.norm();
            if (norms > 0) heads.add(o_h.dot(v_h) / norms);
        }
        if (std::isfinite(heads.value())) means_["value_cosine"].add(at, heads.value());
    }

    /// Weights of a head of a row of the batch, [T, S].
    std::span<const float> map_of(std::int64_t row, std::int64_t head) const {
        const std::size_t size = as_index(layer_.queries * layer_.keys);
        return std::span(tensor(tap::weights)).subspan(as_index(row * layer_.heads + head) * size, size);
    }

    void add_weights(std::int64_t token) {
        const std::int64_t at = token % layer_.queries;
        double entropy = 0, own = 0;
        for (std::int64_t h = 0; h < layer_.heads; ++h) {
            const std::span<const float> alpha =
                map_of(token / layer_.queries, h).subspan(as_index(at * layer_.keys), as_index(layer_.keys));
            for (const double a : alpha)
                if (a > 0) entropy -= a * std::log(a);
            if (!layer_.cross) own += static_cast<double>(alpha[as_index(at)]);
        }
        const double heads = static_cast<double>(layer_.heads);
        means_["entropy"].add(at, entropy / heads);
        if (!layer_.cross) means_["self_weight"].add(at, own / heads);
    }

    double rank() const {
        Mean mean;
        for (std::int64_t row = 0; row < layer_.batch; ++row)
            for (std::int64_t h = 0; h < layer_.heads; ++h)
                mean.add(static_cast<double>(
                    rank_of(cumulative_energy(map_of(row, h), as_index(layer_.keys)), RANK_ENERGY)));
        return mean.value();
    }

    const LayerTensors& layer_;
    bool signal_is_phi_;
    std::map<std::string, Means> means_;
};

}  // namespace

std::map<std::string, TokenMean> attention_statistics(const LayerTensors& layer, bool signal_is_phi) {
    return LayerStatistics(layer, signal_is_phi).made();
}

}  // namespace vkf

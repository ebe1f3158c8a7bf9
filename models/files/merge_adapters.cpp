#include "models/files/merge_adapters.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "models/adapters/adapters.h"
#include "models/files/adapter_files.h"
#include "models/files/weights.h"

namespace vkf {

namespace {

/// Addition of an adapter to a weight: s·B·A of A [rank, in] and B [out, rank], which have these names in the file.
struct Delta {
    bool out_in;  // layout of the weight: [out, in], else [in, out]
    double scale;
    std::size_t rank;
    std::string a, b;
};

void add(std::vector<float>& weight, const Delta& delta, const StoredWeights& file) {
    const std::vector<float> a = file.read_f32(delta.a), b = file.read_f32(delta.b);
    const std::size_t in = a.size() / delta.rank, out = b.size() / delta.rank;
    std::vector<double> row(in);  // a row of B·A
    for (std::size_t i = 0; i < out; ++i) {
        std::ranges::fill(row, 0.0);
        for (std::size_t r = 0; r < delta.rank; ++r) {
            const auto factor = static_cast<double>(b[i * delta.rank + r]);
            for (std::size_t j = 0; j < in; ++j) row[j] += factor * static_cast<double>(a[r * in + j]);
        }
        for (std::size_t j = 0; j < in; ++j) {
            float& w = weight[delta.out_in ? i * in + j : j * out + i];
            w = static_cast<float>(static_cast<double>(w) + delta.scale * row[j]);
        }
    }
}

/// Names of the parameters in a file, by our names.
std::map<std::string, std::vector<std::string>> names_in(const StoredWeights& file,
                                                         const std::vector<Parameter>& parameters,
                                                         const TensorNames& names) {
    const std::vector<std::vector<std::string>> stored = stored_names(file, parameters, names);
    std::map<std::string, std::vector<std::string>> by_name;
    for (std::size_t i = 0; i < stored.size(); ++i) by_name.emplace(parameters[i].name, stored[i]);
    return by_name;
}

/// Additions of the adapters, by the names of the weights.
std::map<std::string, Delta> deltas(const ModelConfig& model, const Parameters& parameters, const StoredWeights& file) {
    const LoraConfig& lora = *model.adapters();
    const std::string prefix = adapter_prefix(model.family());
    const auto stored = names_in(file, parameters.trained(), {.prefix = prefix, .config = adapter_config_file});
    std::map<std::string, Delta> found;
    for (const LinearMap& map : parameters.linear_maps()) {
        if (!lora.adapts(map.path)) continue;
        require(map.as_stored, "the model rounds the weights that it multiplies by, ", map.path,
                "'s among them, and would round the adapters with them: wanted a model that does not");
        found.emplace(map.path + ".weight",
                      Delta{map.out_in, static_cast<double>(lora.scale()), static_cast<std::size_t>(lora.rank),
                            stored.at(map.path + ".lora_A.weight").front(),
                            stored.at(map.path + ".lora_B.weight").front()});
    }
    return found;
}

}  // namespace

std::vector<TensorSource> merged_weights(const ModelConfig& model, const StoredWeights& base,
                                         const StoredWeights& adapters) {
    const Parameters parameters = parameters_of(model);
    const auto stored = names_in(base, parameters.frozen(), model.family().tensors);
    const std::map<std::string, Delta> beside = deltas(model, parameters, adapters);
    std::vector<TensorSource> sources;
    for (const Parameter& parameter : parameters.frozen()) {
        const auto found = beside.find(parameter.name);
        const std::optional<Delta> delta = found == beside.end() ? std::nullopt : std::optional(found->second);
        const auto produce = [=, &base, &adapters, from = stored.at(parameter.name)](FileWriter& file) {
            std::vector<float> weight = read_parts(base, from);
            if (delta) add(weight, *delta, adapters);
            write_finite(file, parameter.name, weight, parameter.shape, StoredType::F32);
        };
        const auto extents = parameter.shape.extents();
        sources.push_back({parameter.name, StoredType::F32, {extents.begin(), extents.end()}, produce});
    }
    return sources;
}

}  // namespace vkf

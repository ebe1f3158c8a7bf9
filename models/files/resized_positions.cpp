#include "models/files/resized_positions.h"

#include <cmath>

#include "base/error.h"
#include "models/families/position_grid.h"
#include "models/files/config_json.h"
#include "models/files/weights.h"
#include "models/image_model.h"

namespace vkf {

namespace {

/// Side of the grid of a table of positions.
std::int64_t grid_side(const Shape& table) {
    return std::lround(std::sqrt(static_cast<double>(table.rows() - 1)));
}

}  // namespace

void load_for_size(const std::filesystem::path& directory, const ModelConfig& model, State& state) {
    const ModelConfig there = read_config_json(directory / "config.json");
    Graph graph;
    Parameters parameters;
    image_logits(Scope(graph, parameters), there, graph.input("images", image_type(there, 1)));
    const StoredWeights file = StoredWeights::open(directory / "model.safetensors");
    const auto stored = stored_names(file, parameters.list(), model.family().tensors);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const auto& [name, shape, init, tensor, frozen] = parameters.list()[i];
        std::vector<float> values = read_parts(file, stored[i]);
        const Shape& wanted = state.type(name).shape;
        if (wanted != shape) {  // only a table of positions depends on the images' size
            require(name.ends_with("pos_embed"), directory.string(), ": ", name, " is ", shape, ", wanted ", wanted);
            values = resized_positions(values, shape.width(), grid_side(wanted));
        }
        state.write(name, values);
    }
}

void reduce_frozen_positions(const Parameters& parameters, const ModelConfig& model, std::int64_t side, State& state) {
    for (const Parameter& parameter : parameters.frozen()) {
        if (!parameter.name.ends_with("pos_embed")) continue;
        const std::int64_t width = parameter.shape.width(), grid = grid_side(parameter.shape);
        const std::int64_t smaller = grid * side / model.size(Dimension::image_size);
        const std::vector<float> reduced = resized_positions(state.read(parameter.name), width, smaller);
        state.write(parameter.name, resized_positions(reduced, width, grid));
    }
}

}  // namespace vkf

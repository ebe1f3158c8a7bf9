#include "ops/tuning.h"

#include <cmath>

#include "ops/attention/attention_tuning.h"
#include "ops/matmul/gemm_config.h"

namespace vkf {

std::vector<std::string> tuned_kernels() {
    std::vector<std::string> names = gemm_kernels();
    for (std::string& name : attention_kernels()) names.push_back(std::move(name));
    return names;
}

Array magnitudes(Array x) {
    for (double& number : x.at) number = std::abs(number);
    return x;
}

Arrays magnitudes(Arrays arrays) {
    for (auto& [name, x] : arrays) x = magnitudes(std::move(x));
    return arrays;
}

Shapes shapes_of(const Arrays& arrays) {
    Shapes made;
    for (const auto& [name, x] : arrays) made[name] = x.shape;
    return made;
}

Array product(const Array& a, const Array& b, const MatmulOptions& options) {
    Graph graph;
    graph.output("y",
                 matmul(graph.input("a", {DType::f32, a.shape}), graph.input("b", {DType::f32, b.shape}), options));
    return interpret(graph, {{"a", a}, {"b", b}}).at("y");
}

std::vector<float> floats(const Array& x) {
    return {x.at.begin(), x.at.end()};
}

}  // namespace vkf

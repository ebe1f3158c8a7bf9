// Several kernels for one computation: finding out on the device itself which are right, and which is fastest.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace vkf {

/// The computation on its own, at one size.
struct Trial {
    Graph graph;       // output "y"; the nodes of one op are what is tried
    std::string op;    // its name
    double flops = 0;  // of all its nodes
    std::map<std::string, std::vector<float>> inputs;
    std::function<std::string(std::span<const float> y)> fault;  // what is wrong with a result; empty: nothing
};

/// A kind of computation and who may do it.
struct Question {
    std::string kind;                     // all that decides which kernel is fastest; sizes only roughly
    std::vector<std::string> candidates;  // "WAY" or "WAY DETAIL"; the first is what a model of the device prefers
    /// Of a small and awkward size with operands that have to be rounded; and of about the kind's own size, with
    /// operands so simple that nothing rounds.
    std::function<std::unique_ptr<Trial>()> awkward, typical;
};

/// Answers such questions for one device.
class Chooser {
public:
    virtual ~Chooser() = default;
    /// The place of the chosen one among the candidates. `device` is what the ops are lowered for.
    virtual std::size_t choose(const DeviceTraits& device, const Question& question) = 0;
};

}  // namespace vkf

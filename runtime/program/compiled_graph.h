// A graph together with its program, for code that makes several programs over one State.
#pragma once

#include <functional>

#include "graph/graph.h"
#include "program/program.h"

namespace vkf {

/// The program refers to the graph, so that neither can be moved.
struct CompiledGraph {
    Graph graph;
    Program program;

    /// Compiles the graph that `describe` makes, with activations in the given format.
    CompiledGraph(Device& device, State& state, Format activations, const std::function<void(Graph&)>& describe,
                  const ProgramOptions& options = {})
        : program(device, described(activations, describe), state, options) {}

private:
    Graph& described(Format activations, const std::function<void(Graph&)>& describe) {
        graph.activations = activations;
        describe(graph);
        return graph;
    }
};

}  // namespace vkf

#include "passes/run_passes.h"

#include "passes/assign_storage_types.h"
#include "passes/elide_concat.h"
#include "passes/fuse_activation_backward.h"
#include "passes/fuse_elementwise.h"
#include "passes/fuse_epilogue_add.h"
#include "passes/group_matmuls.h"
#include "passes/policy.h"

namespace vkf {

PassOptions passes_for(const DeviceTraits& device) {
    return {.fuse_activation_backward = fuses_activation_backward(device)};
}

void run_passes(Graph& graph, const PassOptions& options) {
    if (graph.passes_ran) return;
    if (options.fuse_epilogue_add) fuse_epilogue_add(graph);
    if (options.fuse_activation_backward) fuse_activation_backward(graph);
    if (options.group_matmuls) group_matmuls(graph);
    if (options.fuse_elementwise) fuse_elementwise(graph);
    if (options.elide_concat) elide_concat(graph);
    assign_storage_types(graph);
    graph.passes_ran = true;
}

}  // namespace vkf

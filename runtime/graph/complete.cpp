#include "graph/complete.h"

#include "graph/fold.h"
#include "graph/fuse.h"
#include "graph/narrow.h"
#include "graph/place.h"

namespace vkf {

void complete(Graph& graph, Format format) {
    fold_sums(graph);
    fuse_chains(graph);
    place_parts(graph);
    narrow(graph, format);
}

}  // namespace vkf

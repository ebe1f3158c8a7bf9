// Tables of recipes' numbers.
#pragma once

#include <vector>

namespace vkf::test {

/// An option of train.toml, its value, and the origin of the value: its name in the source, or "ours".
struct Row {
    const char *key, *value, *source;
};
using Rows = std::vector<Row>;

}  // namespace vkf::test

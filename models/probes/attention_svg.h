// A picture of attention weights between two lists of tokens.
#pragma once

#include <string>
#include <vector>

namespace vkf {

/// Weights of a layer or head: element t·S + s is the weight of column s in row t.
struct AttentionTable {
    std::string title;  // shown above the table, unless it is empty
    std::vector<float> weights;
};

/// Tables over the same tokens, given as texts: columns are read, rows read them.
struct AttentionTables {
    std::vector<std::string> columns, rows;
    std::vector<AttentionTable> tables;
    std::size_t in_a_line = 1000;  // tables side by side, before another line begins
};

/// An SVG with a column for each token that is read and a row for each that reads: the darker a cell, the greater its
/// weight. Weights below 0.0005 are not drawn. Throws InputError if a table has another size.
std::string attention_svg(const AttentionTables& tables);

}  // namespace vkf

// Curves as lines of text, drawn with the dots of Unicode's braille patterns: two columns and four rows of dots in a
// character.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vkf {

/// Points of a curve, in order of x; one that is not finite interrupts the line.
struct TextCurve {
    std::string name;
    std::vector<double> x, y;
};

/// Draws curves over common axes, in `columns` characters and `rows` lines for the dots, with a line for the axis and
/// one for the names; every line ends with a line end. The first curve's dots are heavy (two high), others are single.
/// Shapes: columns at least 24, rows at least 2.
/// Throws InputError if no curve has a point.
std::string text_plot(const std::vector<TextCurve>& curves, std::size_t columns, std::size_t rows);

}  // namespace vkf

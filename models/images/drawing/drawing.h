// Parts of our pictures: rectangles, magnified images, lines of text and a colour scale.
#pragma once

#include <string>
#include <string_view>

#include "models/images/image.h"

namespace vkf {

// Coordinates are pixels from the image's upper left corner. Parts outside of the image are left out.

/// Paints a rectangle; nothing if its width or height is 0 or negative.
void fill_box(Image& image, const Box& box, Rgb colour);

/// Copies `from` with its corner at (x, y), each pixel as a square of `scale` pixels.
/// Throws: InputError unless scale ≥ 1.
void draw_image(Image& image, const Image& from, int x, int y, int scale = 1);

// --- Text, one line of a small font in which letters differ in width. A byte that is not printable ASCII shows as '?'.

inline constexpr int capital_height = 7;  // at scale 1
inline constexpr int text_height = 9;     // capitals and descenders, at scale 1

/// Width from the first letter's left edge to the last letter's right edge.
int text_width(std::string_view line, int scale = 1);

/// The line if it fits into `width`, else its longest beginning that fits, with "..".
std::string fit_text(std::string_view line, int width, int scale = 1);

enum class Reading { right, up };

/// Draws a line with its upper left corner at (x, y). Reading::up rotates it by a quarter turn counter-clockwise, so
/// that (x, y) is its lower left corner.
/// Throws: InputError unless scale ≥ 1.
void draw_text(Image& image, std::string_view line, int x, int y, Rgb colour, int scale = 1,
               Reading reading = Reading::right);

/// Draws the part of a line that fits, with its capitals in the middle of a box.
void draw_text_in(Image& image, std::string_view line, const Box& box, Rgb colour, int scale = 1);

// --- Colours

inline constexpr Rgb paper = {255, 255, 255}, ink = {34, 36, 44}, faint_ink = {112, 116, 128};

/// Colour scale: dark blue at 0, teal, yellow at 1, ever lighter in between and by about the same to the eye; numbers
/// outside of 0 … 1 count as the nearest, NaN as 0.
Rgb scale_colour(double value);

/// CIE 1976 lightness L* of an sRGB colour, 0 for black to 100 for white.
double lightness(Rgb colour);

}  // namespace vkf

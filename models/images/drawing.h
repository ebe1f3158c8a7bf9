// What our pictures are made of: rectangles, magnified images, lines of text and a scale of colours.
#pragma once

#include <string>
#include <string_view>

#include "models/images/image.h"

namespace vkf {

// Coordinates are pixels from the image's upper left corner. What lies outside of the image is left out.

/// Paints a rectangle; one of no or negative width or height is none.
void fill_box(Image& image, const Box& box, Rgb colour);

/// Copies `from` with its corner at (x, y), every pixel a square of `scale` pixels.
/// Throws: InputError unless scale ≥ 1.
void draw_image(Image& image, const Image& from, int x, int y, int scale = 1);

// --- Text, one line of a small font in which letters differ in width. A byte that is not printable ASCII shows as '?'.

inline constexpr int capital_height = 7;  // at scale 1, as are
inline constexpr int text_height = 9;     // capitals and what hangs below the line

/// From the first letter's left edge to the last one's right edge.
int text_width(std::string_view line, int scale = 1);

/// The line, or what fits into `width` of its beginning and "..".
std::string fit_text(std::string_view line, int width, int scale = 1);

enum class Reading { right, up };

/// Draws a line with its upper left corner at (x, y); upwards it is turned by a quarter, counter-clockwise, so that
/// (x, y) is its lower left corner.
/// Throws: InputError unless scale ≥ 1.
void draw_text(Image& image, std::string_view line, int x, int y, Rgb colour, int scale = 1,
               Reading reading = Reading::right);

/// Draws what fits of a line with its capitals in the middle of a box.
void draw_text_in(Image& image, std::string_view line, const Box& box, Rgb colour, int scale = 1);

// --- Colours

inline constexpr Rgb paper = {255, 255, 255}, ink = {34, 36, 44}, faint_ink = {112, 116, 128};

/// Dark blue at 0, teal, yellow at 1, ever lighter in between and by about the same to the eye; numbers beyond 0 … 1
/// count as the nearest, NaN as 0.
Rgb scale_colour(double value);

/// The CIE 1976 lightness L* of an sRGB colour, 0 for black to 100 for white.
double lightness(Rgb colour);

}  // namespace vkf

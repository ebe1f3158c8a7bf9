// preprocessor_config.json: conversion of a picture to a vision transformer's input, in Hugging Face's keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "models/images/normalise.h"
#include "models/images/resize.h"

namespace vkf {

inline constexpr const char* image_processor_file = "preprocessor_config.json";

struct ImageProcessor {
    Statistics statistics;
    ImageFit fit;
};

/// Reads the file for a model that takes squares of side `side`.
///
///     do_resize, size      a number or height and width: stretched to that square; shortest_edge, or a number in a
///                          file of CLIP's: by the shorter side
///     resample             PIL's number of the filter; bilinear if the file has none
///     do_center_crop, crop_size    the part cut out of the middle, which must be the square
///     crop_rounding        our key, for a middle half a pixel off: down as Hugging Face's, or even as torchvision's
///     crop_pct             of ConvNeXt's: the square is this share of the shorter side, from 384 on it is stretched
///     image_mean, image_std, do_normalize, do_rescale, rescale_factor
///
/// Throws InputError naming file, key and value, also if the file scales bytes by another factor than 1/255.
ImageProcessor read_image_processor(const std::filesystem::path& path, std::int64_t side);

/// Reads a model directory's preprocessor_config.json or, if there is none, timm's config.json; nothing without either.
std::optional<ImageProcessor> find_image_processor(const std::filesystem::path& model, std::int64_t side);

/// Text of the file, as CLIPImageProcessor reads it or, for stretched pictures, ViTImageProcessor and
/// DeiTImageProcessor.
std::string image_processor_text(const ImageProcessor& processor, std::int64_t side);

}  // namespace vkf

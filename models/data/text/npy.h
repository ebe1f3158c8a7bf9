// NumPy's .npy files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vkf {

/// An array of one dimension, as stored in a file.
struct NpyArray {
    std::string type;  // NumPy's name of the element type: "<u2" are little-endian uint16
    std::span<const std::byte> elements;
};

/// Reads the array of a .npy file of format version 1, 2 or 3 (NumPy's NEP 1): a magic string, the version, the length
/// of a header, and the header, a Python dictionary of type, order and shape. Elements are aligned to their size if
/// `bytes` are aligned to at least 8.
/// Throws: InputError beginning with `file` if it is no such file, or its array is incomplete or not of one dimension.
NpyArray npy_array(const std::string& file, std::span<const std::byte> bytes);

}  // namespace vkf

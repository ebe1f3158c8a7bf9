// NumPy's .npy files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace vkf {

/// An array of one dimension, as it lies in a file.
struct NpyArray {
    std::string type;  // NumPy's name of the elements' type: "<u2" are little-endian uint16
    std::span<const std::byte> elements;
};

/// The array in the bytes of a .npy file, of format version 1, 2 or 3 (NumPy's NEP 1): a magic string, the version, the
/// length of a header, and the header, a Python dictionary of type, order and shape. Elements are aligned as the bytes
/// are, if those to at least 8.
/// Throws: InputError beginning with `file` if it is none, or its array has not one dimension, or is not all there.
NpyArray npy_array(const std::string& file, std::span<const std::byte> bytes);

}  // namespace vkf

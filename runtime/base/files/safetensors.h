// Hugging Face's safetensors files: named tensors in one file, read in place, written in one stream.
//
// Layout: header length (u64, little-endian), that many bytes of JSON, then the tensors' raw little-endian bytes, which
// must cover the rest of the file exactly: no overlap, no hole, nothing after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"

namespace vkf {

enum class StoredType { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL };

/// Name that the format uses for a type ("BF16"), and bytes of one element.
std::string_view name_of(StoredType type);
std::size_t bytes_of(StoredType type);

/// Bytes of a whole tensor; nothing if an extent is negative or the product overflows.
std::optional<std::uint64_t> bytes_of(std::span<const std::int64_t> shape, StoredType type);

/// A tensor in a file. The bytes need not be aligned to the element.
struct StoredTensor {
    std::string name;
    StoredType type = StoredType::F32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;

    std::size_t count() const { return bytes.size() / bytes_of(type); }
};

/// A safetensors file open for reading. Everything except the values is checked on opening.
/// Throws: InputError naming the file, the tensor, what was found and what was wanted.
class Safetensors {
public:
    static Safetensors open(const std::filesystem::path& path);

    const std::vector<StoredTensor>& tensors() const { return tensors_; }  // in file order
    const std::map<std::string, std::string>& metadata() const { return metadata_; }
    const std::filesystem::path& path() const { return file_.path(); }
    bool contains(std::string_view name) const { return index_.contains(name); }
    const StoredTensor& at(std::string_view name) const;

    /// Reads values of F32, F16, BF16 (exact) or F64 (rounded) into `out`, which holds exactly one float per element.
    void read_f32(std::string_view name, std::span<float> out) const;
    std::vector<float> read_f32(std::string_view name) const;

    /// Reads values of I64 or I32.
    std::vector<std::int64_t> read_i64(std::string_view name) const;

private:
    MappedFile file_;
    std::vector<StoredTensor> tensors_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::map<std::string, std::string> metadata_;
};

/// A tensor to be written: `produce`, called in the order of tensors, writes exactly its bytes in any number of chunks.
struct TensorSource {
    std::string name;
    StoredType type = StoredType::F32;
    std::vector<std::int64_t> shape;
    std::function<void(FileWriter&)> produce;
};

/// Sources over memory that outlives the writing. Floats are stored as F32, F16 or BF16 (nearest even) or F64.
TensorSource float_source(std::string name, std::vector<std::int64_t> shape, std::span<const float> values,
                          StoredType type = StoredType::F32);
TensorSource int_source(std::string name, std::vector<std::int64_t> shape, std::span<const std::int64_t> values);

/// Appends floats in the given type, a chunk at a time; for producers that fetch from a device piece by piece.
void write_floats(FileWriter& file, std::span<const float> values, StoredType type);

/// Writes the tensors in the given order, atomically; memory needed beyond the sources is one
/// chunk. The metadata gets "format": "pt" unless it has a format, as Hugging Face's loaders require.
/// Throws: InputError for a name given twice or a negative extent; Error if a producer writes too
/// little or too much, or writing fails.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors,
                       std::map<std::string, std::string> metadata = {});

}  // namespace vkf

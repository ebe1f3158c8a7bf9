#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files/safetensors.h"
#include "base/half.h"

namespace vkf {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t CHUNK = 1 << 16;  // elements converted at a time

// Checks the list and returns the bytes of each tensor.
std::vector<std::uint64_t> sizes_of(const std::string& file, std::span<const TensorSource> tensors) {
    std::vector<std::uint64_t> sizes;
    std::set<std::string_view> names;
    for (const TensorSource& tensor : tensors) {
        const std::string where = text(file, ": tensor '", tensor.name, "': ");
        require(tensor.name != "__metadata__", where, "the name is reserved");
        require(names.insert(tensor.name).second, where, "is given twice");
        const auto bytes = bytes_of(tensor.shape, tensor.type);
        require(bytes.has_value(), where, "its shape has a negative extent or overflows");
        sizes.push_back(*bytes);
    }
    return sizes;
}

std::string header_of(const std::string& file, std::span<const TensorSource> tensors,
                      std::span<const std::uint64_t> sizes, std::map<std::string, std::string> metadata) {
    metadata.try_emplace("format", "pt");
    ordered_json tree;
    tree["__metadata__"] = metadata;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        ordered_json facts;
        facts["dtype"] = name_of(tensors[i].type);
        facts["shape"] = tensors[i].shape;
        facts["data_offsets"] = {begin, begin + sizes[i]};
        // push_back, since operator[] would search all earlier names, in quadratic time
        tree.get_ref<ordered_json::object_t&>().push_back({tensors[i].name, std::move(facts)});
        begin += sizes[i];
    }
    try {
        std::string header = tree.dump();
        header.resize((header.size() + 7) / 8 * 8, ' ');  // data starts at a multiple of 8
        return header;
    } catch (const ordered_json::exception&) {
        throw InputError(file, ": a tensor's name or the metadata is not UTF-8");
    }
}

template <class Stored, class Convert>
void write_converted(FileWriter& file, std::span<const float> values, Convert&& stored_of) {
    std::vector<Stored> chunk;
    for (std::size_t at = 0; at < values.size(); at += CHUNK) {
        chunk.clear();
        for (const float value : values.subspan(at, std::min(CHUNK, values.size() - at))) {
            chunk.push_back(stored_of(value));
        }
        file.write(std::as_bytes(std::span(chunk)));
    }
}

}  // namespace

void write_floats(FileWriter& file, std::span<const float> values, StoredType type) {
    switch (type) {
        case StoredType::F32:
            return file.write(std::as_bytes(values));
        case StoredType::F16:
            return write_converted<std::uint16_t>(file, values, to_half);
        case StoredType::BF16:
            return write_converted<std::uint16_t>(file, values, to_bfloat16);
        case StoredType::F64:
            return write_converted<double>(file, values, [](float value) { return double{value}; });
        default:
            throw InputError(file.path().string(), ": floats cannot be stored as ", name_of(type),
                             ", wanted F32, F16, BF16 or F64");
    }
}

TensorSource float_source(std::string name, std::vector<std::int64_t> shape, std::span<const float> values,
                          StoredType type) {
    return {std::move(name), type, std::move(shape),
            [values, type](FileWriter& file) { write_floats(file, values, type); }};
}

TensorSource int_source(std::string name, std::vector<std::int64_t> shape, std::span<const std::int64_t> values) {
    return {std::move(name), StoredType::I64, std::move(shape),
            [values](FileWriter& file) { file.write(std::as_bytes(values)); }};
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorSource> tensors,
                       std::map<std::string, std::string> metadata) {
    const std::vector<std::uint64_t> sizes = sizes_of(path.string(), tensors);
    const std::string header = header_of(path.string(), tensors, sizes, std::move(metadata));
    write_atomically(path, [&](FileWriter& file) {
        const std::uint64_t length = header.size();
        file.write(std::as_bytes(std::span(&length, 1)));
        file.write(header);
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const std::uint64_t before = file.written();
            tensors[i].produce(file);
            const std::uint64_t produced = file.written() - before;
            if (produced != sizes[i]) {
                throw Error(path.string(), ": tensor '", tensors[i].name, "': ", produced,
                            " bytes were produced, its shape needs ", sizes[i]);
            }
        }
    });
}

}  // namespace vkf

#include "base/files/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/half.h"
#include "base/text/json.h"
#include "base/text/json_builder.h"

namespace vkf {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "files are little-endian, read in place");

struct TypeFacts {
    StoredType type;
    std::string_view name;
    std::size_t bytes;
};
constexpr std::array TYPES = {
    TypeFacts{StoredType::F64, "F64", 8},   TypeFacts{StoredType::F32, "F32", 4}, TypeFacts{StoredType::F16, "F16", 2},
    TypeFacts{StoredType::BF16, "BF16", 2}, TypeFacts{StoredType::I64, "I64", 8}, TypeFacts{StoredType::I32, "I32", 4},
    TypeFacts{StoredType::I16, "I16", 2},   TypeFacts{StoredType::I8, "I8", 1},   TypeFacts{StoredType::U64, "U64", 8},
    TypeFacts{StoredType::U32, "U32", 4},   TypeFacts{StoredType::U16, "U16", 2}, TypeFacts{StoredType::U8, "U8", 1},
    TypeFacts{StoredType::BOOL, "BOOL", 1},
};

constexpr std::uint64_t HEADER_LIMIT = 100'000'000;  // the format's own limit
constexpr std::size_t HEADER_DEPTH = 3;              // depth of a tensor's shape
constexpr std::size_t MEMBER_LIMIT = 100'000;        // values; a tensor has a few, metadata some hundred
constexpr const char* METADATA = "__metadata__";

bool whole(const json& number) {
    constexpr auto LARGEST = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return number.is_number_unsigned() && number.get<std::uint64_t>() <= LARGEST;
}

StoredTensor parse_tensor(const std::string& file, const std::string& name, const json& facts,
                          std::span<const std::byte> data) {
    const auto refuse = [&](const auto&... parts) {
        throw InputError(file, ": tensor ", one_line(name), ": ", parts...);
    };
    if (!facts.is_object()) refuse("described by ", one_line(facts), ", wanted an object");
    for (const char* key : {"dtype", "shape", "data_offsets"}) {
        if (!facts.contains(key)) refuse("has no ", key);
    }
    if (name.find('\0') != name.npos) refuse("the name has a zero byte");
    StoredTensor tensor;
    tensor.name = name;

    const json& dtype = facts["dtype"];
    const auto type = std::find_if(TYPES.begin(), TYPES.end(), [&](const TypeFacts& known) {
        return dtype.is_string() && dtype.get_ref<const std::string&>() == known.name;
    });
    if (type == TYPES.end()) refuse("dtype ", one_line(dtype), " is unknown, wanted F32, F16, …");
    tensor.type = type->type;

    const json& shape = facts["shape"];
    if (!shape.is_array()) refuse("shape is ", one_line(shape), ", wanted a list");
    for (const json& extent : shape) {
        if (!whole(extent)) {
            refuse("shape ", one_line(shape), " holds ", one_line(extent), ", wanted whole numbers >= 0");
        }
        tensor.shape.push_back(extent.get<std::int64_t>());
    }
    const auto wanted = bytes_of(tensor.shape, tensor.type);
    if (!wanted) refuse("shape ", one_line(shape), " overflows");

    const json& offsets = facts["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !whole(offsets[0]) || !whole(offsets[1])) {
        refuse("data_offsets is ", one_line(offsets), ", wanted [begin, end]");
    }
    const auto begin = offsets[0].get<std::uint64_t>();
    const auto end = offsets[1].get<std::uint64_t>();
    if (begin > end || end > data.size()) {
        refuse("data_offsets ", one_line(offsets), " leave the ", data.size(), " bytes of data");
    }
    if (end - begin != *wanted) {
        refuse("data_offsets ", one_line(offsets), " hold ", end - begin, " bytes, ", type->name, " ", one_line(shape),
               " needs ", *wanted);
    }
    tensor.bytes = data.subspan(begin, end - begin);
    return tensor;
}

std::map<std::string, std::string> parse_metadata(const std::string& file, const json& facts) {
    require(facts.is_object(), file, ": __metadata__ is ", one_line(facts), ", wanted an object");
    std::map<std::string, std::string> metadata;
    for (const auto& [key, value] : facts.items()) {
        if (!value.is_string()) {
            throw InputError(file, ": __metadata__ ", one_line(key), " is ", one_line(value), ", wanted a string");
        }
        metadata[key] = value.get<std::string>();
    }
    return metadata;
}

template <class Stored, class Value, class Convert>
void convert(std::span<const std::byte> from, std::span<Value> to, Convert&& value_of) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        Stored stored;  // copied, since values in files may be unaligned
        std::memcpy(&stored, from.data() + i * sizeof(Stored), sizeof(Stored));
        to[i] = value_of(stored);
    }
}

}  // namespace

std::string_view name_of(StoredType type) {
    return TYPES[static_cast<std::size_t>(type)].name;
}

std::size_t bytes_of(StoredType type) {
    return TYPES[static_cast<std::size_t>(type)].bytes;
}

std::optional<std::uint64_t> bytes_of(std::span<const std::int64_t> shape, StoredType type) {
    std::uint64_t bytes = bytes_of(type);
    for (const std::int64_t extent : shape) {
        const auto times = static_cast<std::uint64_t>(extent);
        if (extent < 0 || __builtin_mul_overflow(bytes, times, &bytes)) return std::nullopt;
    }
    return bytes;
}

Safetensors Safetensors::open(const std::filesystem::path& path) {
    Safetensors result;
    result.file_ = MappedFile(path);
    const std::string file = path.string();
    const std::span<const std::byte> bytes = result.file_.bytes();
    require(bytes.size() >= 8, file, ": ", bytes.size(), " bytes are too few for safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    require(length <= HEADER_LIMIT, file, ": header of ", length, " bytes, at most ", HEADER_LIMIT,
            " are allowed (is this safetensors?)");
    require(length <= bytes.size() - 8, file, ": header of ", length, " bytes, but only ", bytes.size() - 8,
            " follow (is the file cut short?)");
    const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + 8, length);
    require(header.starts_with('{'), file, ": header does not start with '{'");
    const std::span<const std::byte> data = bytes.subspan(8 + length);
    const std::string subject = file + ": header";
    const auto take = [&](const std::string& name, const json& facts) {
        require(result.index_.try_emplace(name).second, subject, " has ", one_line(name), " twice");
        if (name == METADATA)
            result.metadata_ = parse_metadata(file, facts);
        else
            result.tensors_.push_back(parse_tensor(file, name, facts, data));
    };
    JsonBuilder(subject, HEADER_DEPTH, MEMBER_LIMIT, take).parse(header);
    result.index_.erase(METADATA);

    std::sort(result.tensors_.begin(), result.tensors_.end(), [](const auto& a, const auto& b) {
        return std::pair(a.bytes.data(), a.bytes.size()) < std::pair(b.bytes.data(), b.bytes.size());
    });
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i < result.tensors_.size(); ++i) {
        const StoredTensor& tensor = result.tensors_[i];
        const auto begin = static_cast<std::uint64_t>(tensor.bytes.data() - data.data());
        if (begin != covered) {
            throw InputError(file, ": tensor ", one_line(tensor.name), ": data begins at ", begin, ", wanted ", covered,
                             begin < covered ? " (overlap)" : " (hole)");
        }
        covered += tensor.bytes.size();
        result.index_[tensor.name] = i;
    }
    require(covered == data.size(), file, ": tensors cover ", covered, " of ", data.size(), " bytes of data");
    return result;
}

const StoredTensor& Safetensors::at(std::string_view name) const {
    const auto found = index_.find(name);
    require(found != index_.end(), path().string(), ": has no tensor ", one_line(name));
    return tensors_[found->second];
}

void Safetensors::read_f32(std::string_view name, std::span<float> out) const {
    const StoredTensor& tensor = at(name);
    require(out.size() == tensor.count(), path().string(), ": tensor ", one_line(name), ": has ", tensor.count(),
            " values, wanted ", out.size());
    switch (tensor.type) {
        case StoredType::F32:
            if (!out.empty()) std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
            return;
        case StoredType::F16:
            return convert<std::uint16_t>(tensor.bytes, out, from_half);
        case StoredType::BF16:
            return convert<std::uint16_t>(tensor.bytes, out, from_bfloat16);
        case StoredType::F64:
            return convert<double>(tensor.bytes, out, [](double value) { return static_cast<float>(value); });
        default:
            throw InputError(path().string(), ": tensor ", one_line(name), ": dtype is ", name_of(tensor.type),
                             ", wanted F32, F16, BF16 or F64");
    }
}

std::vector<float> Safetensors::read_f32(std::string_view name) const {
    std::vector<float> values(at(name).count());
    read_f32(name, values);
    return values;
}

std::vector<std::int64_t> Safetensors::read_i64(std::string_view name) const {
    const StoredTensor& tensor = at(name);
    require(tensor.type == StoredType::I64 || tensor.type == StoredType::I32, path().string(), ": tensor ",
            one_line(name), ": dtype is ", name_of(tensor.type), ", wanted I64 or I32");
    std::vector<std::int64_t> values(tensor.count());
    const auto same = [](auto value) { return std::int64_t{value}; };
    if (tensor.type == StoredType::I64) {
        convert<std::int64_t>(tensor.bytes, std::span(values), same);
    } else {
        convert<std::int32_t>(tensor.bytes, std::span(values), same);
    }
    return values;
}

}  // namespace vkf

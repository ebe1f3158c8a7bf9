#include "models/files/weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "base/error.h"

namespace vkf {

namespace {

bool is_float(StoredType type) {
    return type == StoredType::F32 || type == StoredType::F16 || type == StoredType::BF16;
}

bool same_bytes(const StoredTensor& a, const StoredTensor& b) {
    return a.type == b.type && std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
}

/// "a, b, c and 4 more"
class List {
public:
    void add(const std::string& item) {
        if (++count_ <= 8) items_ += (items_.empty() ? "" : ", ") + item;
    }
    bool empty() const { return count_ == 0; }
    std::string text() const { return items_ + (count_ > 8 ? " and " + std::to_string(count_ - 8) + " more" : ""); }

private:
    std::string items_;
    int count_ = 0;
};

/// Shape of one of `count` parts with equally many rows.
Shape part_of(const Shape& whole, std::int64_t count) {
    std::vector<std::int64_t> extents(whole.extents().begin(), whole.extents().end());
    if (count > 1) extents[0] /= count;
    return Shape(extents);
}

}  // namespace

std::vector<std::vector<std::string>> stored_names(const StoredWeights& file, std::span<const Parameter> parameters,
                                                   const TensorNames& names) {
    List missing, extra, differing, misshapen, mistyped;
    std::vector<std::vector<std::string>> found;
    std::set<std::string, std::less<>> used;
    const auto stored_name = [&](const std::string& name) {
        const std::string longer = std::string(names.prefix) + name;
        return file.contains(name) ? name : file.contains(longer) ? longer : std::string();
    };
    const auto is_parameter = [&](std::string_view name) {
        return std::ranges::find(parameters, name, &Parameter::name) != parameters.end();
    };
    const auto stored_parts = [&](const std::string& name) -> std::vector<std::string> {
        if (std::string whole = stored_name(name); !whole.empty()) return {std::move(whole)};
        for (const TiedTensor& tie : names.tied)
            if (tie.copied == name && file.contains(tie.name) && !is_parameter(tie.name))
                return {std::string(tie.name)};
        std::vector<std::string> parts;
        if (names.elsewhere) parts = names.elsewhere(name);
        return std::ranges::all_of(parts, [&](const std::string& part) { return file.contains(part); })
                   ? parts
                   : std::vector<std::string>();
    };
    const auto is_buffer = [&](const StoredTensor& stored) {
        return std::ranges::any_of(names.buffers, [&](std::string_view end) { return stored.name.ends_with(end); }) ||
               std::ranges::any_of(names.others,
                                   [&](std::string_view begin) { return stored.name.starts_with(begin); });
    };
    /// Stored tensors that an additional one should be a copy of; empty if it is not a copy.
    const auto originals_of = [&](const StoredTensor& stored) {
        std::vector<std::string> originals;
        for (const TiedTensor& tie : names.tied)
            for (std::size_t i = 0; i < parameters.size() && stored.name == tie.name; ++i)
                if (parameters[i].name == tie.copied && found[i].size() == 1) originals.push_back(found[i].front());
        return originals;
    };
    for (const Parameter& parameter : parameters) {
        const std::vector<std::string>& parts = found.emplace_back(stored_parts(parameter.name));
        if (parts.empty()) missing.add(parameter.name);
        for (const std::string& name : parts) {
            used.insert(name);
            const StoredTensor& stored = file.at(name);
            if (!is_float(stored.type)) mistyped.add(text(name, " ", name_of(stored.type)));
            const Shape wanted = part_of(parameter.shape, std::ssize(parts));
            if (Shape(stored.shape) != wanted)
                misshapen.add(text(name, " ", Shape(stored.shape), " (wanted ", wanted, ")"));
        }
    }
    for (const StoredTensor* stored : file.tensors()) {
        if (used.contains(stored->name) || is_buffer(*stored)) continue;
        const std::vector<std::string> originals = originals_of(*stored);
        if (originals.empty()) extra.add(stored->name);
        for (const std::string& original : originals)
            if (!same_bytes(*stored, file.at(original))) differing.add(text(stored->name, " from ", original));
    }
    std::string problems;
    const auto report = [&](const char* what, const List& list) {
        if (!list.empty()) problems += text(problems.empty() ? "" : "; ", what, " ", list.text());
    };
    report("missing", missing);
    report("extra", extra);
    report("different, wanted equal:", differing);
    report("misshapen", misshapen);
    report("not F32, F16 or BF16:", mistyped);
    require(problems.empty(), file.path().string(), ": tensors do not fit ", names.config, ": ", problems);
    return found;
}

std::vector<float> read_parts(const StoredWeights& file, std::span<const std::string> parts) {
    std::vector<float> all = file.read_f32(parts.front());
    for (const std::string& part : parts.subspan(1)) {
        const std::vector<float> more = file.read_f32(part);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

void load_weights(const std::filesystem::path& path, std::span<const Parameter> parameters, State& state,
                  const TensorNames& names) {
    const StoredWeights file = StoredWeights::open(path);
    const std::vector<std::vector<std::string>> stored = stored_names(file, parameters, names);
    for (std::size_t i = 0; i < stored.size(); ++i) state.write(parameters[i].name, read_parts(file, stored[i]));
}

void load_pretrained(const std::filesystem::path& path, std::span<const Parameter> parameters, State& state,
                     const PretrainedFamily& from) {
    const StoredWeights file = StoredWeights::open(path);
    const auto stays = [&](const Parameter& parameter) {
        return !file.contains(parameter.name) &&
               std::ranges::any_of(from.heads, [&](std::string_view head) { return parameter.name.starts_with(head); });
    };
    std::vector<Parameter> read(parameters.begin(), parameters.end());
    std::erase_if(read, stays);
    load_weights(path, read, state, from.tensors);
}

void load_state(const Safetensors& file, const std::string& name, State& state) {
    if (state.type(name).dtype == DType::f32) return state.write(name, file.read_f32(name));
    const std::vector<std::int64_t> values = file.read_i64(name);
    std::vector<std::int32_t> narrow;
    for (const std::int64_t value : values) {
        require(value >= INT32_MIN && value <= INT32_MAX, file.path().string(), ": tensor ", name, " has ", value,
                ", wanted 32-bit integers");
        narrow.push_back(static_cast<std::int32_t>(value));
    }
    state.write(name, narrow);
}

namespace {

/// "element 3 of [4, 5] is nan", for the first number that is not finite; else empty.
std::string non_finite_element(std::span<const float> values, const Shape& shape) {
    const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
    return bad == values.end() ? "" : text("element ", bad - values.begin(), " of ", shape, " is ", *bad);
}

/// Type in which a state is stored: f32 as `wanted`, any other state in its own type.
StoredType stored_type(const State& state, const std::string& name, StoredType wanted) {
    if (state.type(name).dtype == DType::i32) return StoredType::I32;
    const Format format = state.format(name);
    return format == Format::f32 ? wanted : format == Format::bf16 ? StoredType::BF16 : StoredType::F16;
}

}  // namespace

void write_finite(FileWriter& file, const std::string& name, std::span<const float> values, const Shape& shape,
                  StoredType type) {
    if (const auto bad = non_finite_element(values, shape); !bad.empty()) throw NotFinite(name, ": ", bad);
    write_floats(file, values, type);
}

std::string find_non_finite(const State& state, std::span<const std::string> names) {
    for (const std::string& name : names) {
        if (state.type(name).dtype != DType::f32) continue;
        if (const std::string found = non_finite_element(state.read(name), state.type(name).shape); !found.empty())
            return text(name, ": ", found);
    }
    return {};
}

std::vector<TensorSource> state_sources(const State& state, std::span<const std::string> names, StoredType type) {
    std::vector<TensorSource> sources;
    for (const std::string& name : names) {
        const auto extents = state.type(name).shape.extents();
        const StoredType own = stored_type(state, name, type);
        sources.push_back({name, own, {extents.begin(), extents.end()}, [&state, name, own](FileWriter& file) {
                               if (own == StoredType::I32) return file.write(state.read_bytes(name));
                               write_finite(file, name, state.read(name), state.type(name).shape, own);
                           }});
    }
    return sources;
}

}  // namespace vkf

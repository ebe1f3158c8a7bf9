#include "program/accesses.h"

#include <algorithm>

#include "base/error.h"

namespace vkf {

namespace {

/// Bytes that a tensor spans, including gaps between its rows.
std::uint64_t reach(Tensor tensor) {
    if (tensor.elements() == 0) return 0;
    const std::int64_t elements = (tensor.rows() - 1) * tensor.pitch() + tensor.width();
    return static_cast<std::uint64_t>(bytes_of(elements, tensor.format()));
}

}  // namespace

std::optional<MemoryRange> reached(const Places& places, const ArgValue& value) {
    if (std::holds_alternative<std::monostate>(value)) return MemoryRange{};
    if (const auto* tensor = std::get_if<Tensor>(&value))
        return *tensor ? MemoryRange{places.tensor(*tensor), reach(*tensor)} : MemoryRange{};
    if (const auto* scratch = std::get_if<Scratch>(&value)) return places.scratch(*scratch);
    const auto* section = std::get_if<Section>(&value);
    if (!section) return std::nullopt;
    const MemoryRange whole = *reached(places, std::visit([](auto memory) { return ArgValue{memory}; }, section->of));
    const auto* tensor = std::get_if<Tensor>(&section->of);
    const auto size = [&](std::int64_t elements) {
        return static_cast<std::uint64_t>(bytes_of(elements, tensor ? tensor->format() : Format::f32));
    };
    const std::uint64_t first = size(section->first), bytes = size(section->count);
    require(first + bytes <= whole.bytes, "an argument reaches to byte ", first + bytes, " of ", whole.bytes);
    return MemoryRange{whole.at + first, bytes};
}

std::vector<Access> accesses(const Places& places, std::span<const ArgMember> members, const Args& given) {
    std::vector<Access> list;
    for (const ArgMember& member : members) {
        const auto found = std::ranges::find_if(given, [&](const auto& arg) { return arg.first == member.name; });
        if (found == given.end()) continue;
        if (member.kind == ArgKind::address) {
            const MemoryRange memory = reached(places, found->second).value_or(MemoryRange{});
            if (memory.bytes == 0) continue;
            if (member.reads) list.push_back({memory.at, memory.at + memory.bytes, false});
            if (member.writes) list.push_back({memory.at, memory.at + memory.bytes, true});
        } else if (const auto* table = std::get_if<Table>(&found->second)) {
            for (std::size_t row = 0; row < table->rows(); ++row)
                std::ranges::copy(accesses(places, member.columns, row_of(*table, row)), std::back_inserter(list));
        }
    }
    return list;
}

}  // namespace vkf

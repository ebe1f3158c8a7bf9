// Resolves an op's dispatch into the kernel's input: constants, the bytes of arguments and tables, and the memory
// that these let it read and write.

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "program/kernel_constants.h"
#include "program/program.h"

namespace vkf {

namespace {

template <class Number>
void put(std::span<std::byte> into, std::uint32_t offset, Number value) {
    std::memcpy(into.data() + offset, &value, sizeof value);
}

}  // namespace

Program::Launch Program::resolve(std::size_t node, const Dispatch& dispatch) {
    const Kernel* chosen = &kernel(*device_, kernel_request(dispatch));
    const Reflection& wants = chosen->reflection;
    const Places at = places(node);
    Launch made{node, chosen, {}, dispatch.groups, {}, dispatch.flops, dispatch.bytes};
    made.push.resize(wants.push_bytes);
    try {
        fill(made.push, wants.args, dispatch.args, at);
        made.accesses = accesses(at, wants.args, dispatch.args);
    } catch (const Error& error) {
        const Node& of = graph_->nodes()[node];
        throw Error(of.scope, of.scope.empty() ? "" : ": ", of.op->name(), ": kernel ", dispatch.kernel, ": ",
                    error.what());
    }
    return made;
}

void Program::fill(std::span<std::byte> into, std::span<const ArgMember> members, const Args& given, const Places& at) {
    for (const ArgMember& member : members) {
        if (member.kind == ArgKind::digits) {
            for (std::uint32_t digit = 0; digit < 4; ++digit) put(into, member.offset + 4 * digit, digit);
            continue;
        }
        const auto found = std::ranges::find_if(given, [&](const auto& arg) { return arg.first == member.name; });
        if (found == given.end()) throw Error("no argument '", member.name, "' was given");
        const ArgValue& value = found->second;
        if (member.kind == ArgKind::address) {
            const auto memory = reached(at, value);
            if (!memory) throw Error("argument '", member.name, "' is an address, given something else");
            put(into, member.offset, memory->at);
        } else if (const auto* table = std::get_if<Table>(&value); table && member.kind == ArgKind::table) {
            put(into, member.offset, append_table(member, *table, at));
        } else if (const auto* u = std::get_if<std::uint32_t>(&value); u && member.kind == ArgKind::u32) {
            put(into, member.offset, *u);
        } else if (const auto* i = std::get_if<std::int32_t>(&value); i && member.kind == ArgKind::i32) {
            put(into, member.offset, *i);
        } else if (const auto* f = std::get_if<float>(&value); f && member.kind == ArgKind::f32) {
            put(into, member.offset, *f);
        } else {
            throw Error("argument '", member.name, "' was given as another type");
        }
    }
    for (const auto& [name, value] : given)
        if (std::ranges::none_of(members, [&](const ArgMember& m) { return m.name == name; }))
            throw Error("takes no argument '", name, "'");
}

std::uint64_t Program::append_table(const ArgMember& member, const Table& table, const Places& at) {
    const std::size_t first = table_bytes_.size(), bytes = static_cast<std::size_t>(table.bytes());
    if (table.rows() * member.row_bytes != bytes)
        throw Error("rows of '", member.name, "' have ", member.row_bytes, " bytes, the ", table.rows(), " given ",
                    bytes);
    table_bytes_.resize(first + static_cast<std::size_t>(table.padded_bytes()));
    for (std::size_t row = 0; row < table.rows(); ++row)
        fill(std::span(table_bytes_).subspan(first + row * member.row_bytes, member.row_bytes), member.columns,
             row_of(table, row), at);
    return tables_.address() + first;
}

Places Program::places(std::size_t node) const {
    return {.tensor = [this](Tensor tensor) { return address(tensor); },
            .scratch =
                [this, node](Scratch scratch) {
                    const auto at = static_cast<std::uint64_t>(plan_.scratch[node][scratch.index]);
                    const auto bytes = static_cast<std::uint64_t>(scratches_[node][scratch.index]) * 4;
                    return MemoryRange{arena_->address(at, bytes), bytes};
                }};
}

}  // namespace vkf

#include "vulkan/kernel/reflect.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"

namespace vkf {

namespace {

// SPIR-V opcodes, decorations and storage classes that declare arguments (SPIR-V specification, §3).
enum : std::uint32_t {
    op_name = 5,
    op_member_name = 6,
    op_capability = 17,
    op_type_int = 21,
    op_type_float = 22,
    op_type_array = 28,
    op_type_runtime_array = 29,
    op_type_struct = 30,
    op_type_pointer = 32,
    op_variable = 59,
    op_decorate = 71,
    op_member_decorate = 72,
    decoration_spec_id = 1,
    decoration_array_stride = 6,
    decoration_non_writable = 24,
    decoration_non_readable = 25,
    decoration_offset = 35,
    storage_push_constant = 9,
};

struct Member {
    std::string name;
    std::uint32_t offset = 0;
    bool non_writable = false;
    bool non_readable = false;
};

struct Type {
    std::uint32_t op = 0;
    std::vector<std::uint32_t> operands;
};

/// Names, decorations and types of a module, by result id.
struct Module {
    std::map<std::uint32_t, std::string> names;
    std::map<std::uint32_t, std::map<std::uint32_t, Member>> members;
    std::map<std::uint32_t, std::uint32_t> spec_ids;
    std::map<std::uint32_t, std::uint32_t> strides;  // of arrays, in bytes
    std::map<std::uint32_t, Type> types;
    std::uint32_t push_constants = 0;  // pointer type of the block's variable
};

std::string literal(std::span<const std::uint32_t> words) {
    std::string characters;
    for (const std::uint32_t word : words)
        for (int shift = 0; shift < 32; shift += 8) {
            const char c = static_cast<char>(word >> shift & 0xff);
            if (c == 0) return characters;
            characters += c;
        }
    return characters;
}

void note(Module& module, std::uint32_t op, std::span<const std::uint32_t> at) {
    switch (op) {
        case op_name:  // an alias (`const uint LANES = SUBGROUP`) names the same id again; the declaration's name
                       // comes first
            module.names.emplace(at[0], literal(at.subspan(1)));
            break;
        case op_member_name:
            module.members[at[0]][at[1]].name = literal(at.subspan(2));
            break;
        case op_decorate:
            if (at[1] == decoration_spec_id) module.spec_ids[at[0]] = at[2];
            if (at[1] == decoration_array_stride) module.strides[at[0]] = at[2];
            break;
        case op_member_decorate: {
            Member& member = module.members[at[0]][at[1]];
            if (at[2] == decoration_offset) member.offset = at[3];
            if (at[2] == decoration_non_writable) member.non_writable = true;
            if (at[2] == decoration_non_readable) member.non_readable = true;
            break;
        }
        case op_type_int:
        case op_type_float:
        case op_type_array:
        case op_type_runtime_array:
        case op_type_struct:
        case op_type_pointer:
            module.types[at[0]] = {op, {at.begin() + 1, at.end()}};
            break;
        case op_variable:
            if (at[2] == storage_push_constant) module.push_constants = at[0];
            break;
        default:
            break;
    }
}

Module parse(std::span<const std::uint32_t> words) {
    Module module;
    each_instruction(words, [&](std::uint32_t op, std::span<const std::uint32_t> at) { note(module, op, at); });
    return module;
}

std::vector<ArgMember> arguments(const Module& module, std::uint32_t layout);

/// Array type in a buffer's struct, if it is a runtime array of structs; else empty.
std::optional<std::uint32_t> array_of_structs(const Module& module, std::uint32_t buffer) {
    const auto is = [&](std::uint32_t type, std::uint32_t op) {
        const auto found = module.types.find(type);
        return found != module.types.end() && found->second.op == op && !found->second.operands.empty();
    };
    if (!is(buffer, op_type_struct)) return std::nullopt;
    const std::uint32_t array = module.types.at(buffer).operands[0];
    if (!is(array, op_type_runtime_array) || !is(module.types.at(array).operands[0], op_type_struct))
        return std::nullopt;
    return array;
}

ArgMember argument(const Module& module, const Member& member, std::uint32_t type_id) {
    const Type& type = module.types.at(type_id);
    ArgMember arg{member.name, member.offset, ArgKind::u32, false, false};
    if (type.op == op_type_pointer) {
        arg.kind = ArgKind::address;
        const auto pointee = module.members.find(type.operands[1]);
        const bool known = pointee != module.members.end();
        arg.reads = !known || !pointee->second.at(0).non_readable;
        arg.writes = !known || !pointee->second.at(0).non_writable;
        if (const auto array = array_of_structs(module, type.operands[1])) {
            arg.kind = ArgKind::table;
            arg.columns = arguments(module, module.types.at(*array).operands[0]);
            arg.row_bytes = module.strides.at(*array);
        }
    } else if (type.op == op_type_float) {
        arg.kind = ArgKind::f32;
    } else if (type.op == op_type_int) {
        arg.kind = type.operands[1] ? ArgKind::i32 : ArgKind::u32;
    } else if (type.op == op_type_array && member.name == "digits") {
        arg.kind = ArgKind::digits;
    } else {
        throw Error("argument '", member.name, "' is neither a reference nor a 32-bit number");
    }
    return arg;
}

/// Members of a struct.
std::vector<ArgMember> arguments(const Module& module, std::uint32_t layout) {
    std::vector<ArgMember> list;
    const Type& type = module.types.at(layout);
    for (std::uint32_t i = 0; i < type.operands.size(); ++i) {
        const Member& member = module.members.at(layout).at(i);
        if (member.name.empty()) throw Error("the module has been stripped of argument names");
        list.push_back(argument(module, member, type.operands[i]));
    }
    return list;
}

}  // namespace

void each_instruction(std::span<const std::uint32_t> words,
                      const std::function<void(std::uint32_t, std::span<const std::uint32_t>)>& each) {
    if (words.size() < 5 || words[0] != 0x07230203) throw Error("not a SPIR-V module");
    for (std::size_t at = 5; at < words.size();) {
        const std::uint32_t count = words[at] >> 16;
        if (count == 0 || at + count > words.size()) throw Error("damaged SPIR-V module");
        each(words[at] & 0xffff, words.subspan(at + 1, count - 1));
        at += count;
    }
}

Reflection reflect(std::span<const std::uint32_t> words) {
    const Module module = parse(words);
    Reflection found;
    for (const auto& [result, id] : module.spec_ids) {
        const auto name = module.names.find(result);
        if (name != module.names.end()) found.constants.push_back({name->second, id});
    }
    if (module.push_constants == 0) return found;
    found.args = arguments(module, module.types.at(module.push_constants).operands[1]);
    for (const ArgMember& arg : found.args) {
        const bool address = arg.kind == ArgKind::address || arg.kind == ArgKind::table;
        const std::uint32_t bytes = address ? 8 : arg.kind == ArgKind::digits ? 16 : 4;
        found.push_bytes = std::max(found.push_bytes, arg.offset + bytes);
    }
    return found;
}

std::vector<std::uint32_t> capabilities(std::span<const std::uint32_t> words) {
    std::vector<std::uint32_t> list;
    for (std::size_t at = 5; at + 1 < words.size() && (words[at] & 0xffff) == op_capability; at += words[at] >> 16)
        list.push_back(words[at + 1]);  // capabilities precede all other instructions
    return list;
}

}  // namespace vkf

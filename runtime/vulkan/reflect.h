// What a kernel says of itself: the names, places and access of its arguments and the names of its constants.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace vkf {

/// `digits` is an array of four numbers, 0 to 3: see shaders/lib/uniform_loads.glsl. No op gives them.
enum class ArgKind : std::uint8_t { address, table, u32, i32, f32, digits };

struct ArgMember {
    std::string name;
    std::uint32_t offset = 0;  // bytes into the push constants or a table's row
    ArgKind kind = ArgKind::u32;
    bool reads = false;  // of addresses
    bool writes = false;
    std::vector<ArgMember> columns = {};  // of a table: the address of an array of structs
    std::uint32_t row_bytes = 0;          // from one row to the next
};

struct SpecConstant {
    std::string name;
    std::uint32_t id = 0;
};

struct Reflection {
    std::vector<ArgMember> args;
    std::vector<SpecConstant> constants;
    std::uint32_t push_bytes = 0;
};

/// Calls each(opcode, operands) for every instruction of a SPIR-V module, in order. Throws Error if it is damaged, or
/// none.
void each_instruction(std::span<const std::uint32_t> words,
                      const std::function<void(std::uint32_t, std::span<const std::uint32_t>)>& each);

/// Reads a SPIR-V compute module's push-constant block and specialisation constants. Throws Error if the module has
/// been stripped of names or uses argument types other than references, uint, int and float, and other arrays than
/// `digits`.
Reflection reflect(std::span<const std::uint32_t> words);

/// What a SPIR-V module declares that it needs of a device, by SPIR-V's numbers.
std::vector<std::uint32_t> capabilities(std::span<const std::uint32_t> words);

}  // namespace vkf

// Reflection of a kernel: names, offsets and access of its arguments, and names of its constants.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace vkf {

/// `digits` is an array of the numbers 0 to 3 for shaders/lib/uniform_loads.glsl. The runtime sets it, not an op.
enum class ArgKind : std::uint8_t { address, table, u32, i32, f32, digits };

struct ArgMember {
    std::string name;
    std::uint32_t offset = 0;  // in bytes, within the push constants or a table's row
    ArgKind kind = ArgKind::u32;
    bool reads = false;  // for addresses
    bool writes = false;
    std::vector<ArgMember> columns = {};  // for a table, which is the address of an array of structs
    std::uint32_t row_bytes = 0;          // for a table: distance from one row to the next
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

/// Calls each(opcode, operands) for every instruction of a SPIR-V module, in order. Throws Error if the words are not a
/// module, or a damaged one.
void each_instruction(std::span<const std::uint32_t> words,
                      const std::function<void(std::uint32_t, std::span<const std::uint32_t>)>& each);

/// Reads a SPIR-V compute module's push-constant block and specialisation constants. Throws Error if the module has
/// been stripped of names, or if an argument is not a reference, uint, int, float or the array `digits`.
Reflection reflect(std::span<const std::uint32_t> words);

/// Capabilities that a SPIR-V module declares, by SPIR-V's numbers.
std::vector<std::uint32_t> capabilities(std::span<const std::uint32_t> words);

}  // namespace vkf

#include "vulkan/shared_memory.h"

#include <optional>

#include "base/error.h"
#include "vulkan/kernel/reflect.h"

namespace vkf {

namespace {

// SPIR-V opcodes from which lengths of shared arrays are computed (SPIR-V specification, §3.49).
enum : std::uint32_t {
    op_type_bool = 20,
    op_type_int = 21,
    op_type_float = 22,
    op_type_vector = 23,
    op_type_array = 28,
    op_type_pointer = 32,
    op_constant_true = 41,
    op_constant_false = 42,
    op_constant = 43,
    op_spec_constant_true = 48,
    op_spec_constant_false = 49,
    op_spec_constant = 50,
    op_spec_constant_op = 52,
    op_variable = 59,
    op_decorate = 71,
    op_i_add = 128,
    op_i_sub = 130,
    op_i_mul = 132,
    op_u_div = 134,
    op_u_mod = 137,
    op_logical_equal = 164,
    op_logical_not_equal = 165,
    op_logical_or = 166,
    op_logical_and = 167,
    op_logical_not = 168,
    op_select = 169,
    op_i_equal = 170,
    op_i_not_equal = 171,
    op_u_greater_than = 172,
    op_s_greater_than = 173,
    op_u_greater_than_equal = 174,
    op_s_greater_than_equal = 175,
    op_u_less_than = 176,
    op_s_less_than = 177,
    op_u_less_than_equal = 178,
    op_s_less_than_equal = 179,
    op_shift_right_logical = 194,
    op_shift_left_logical = 196,
    op_bitwise_or = 197,
    op_bitwise_and = 199,
    decoration_spec_id = 1,
    storage_workgroup = 4,
};

using Operands = std::span<const std::uint32_t>;
using Number = std::optional<std::uint32_t>;

/// Result of an operation on two numbers; empty if the operation is unknown.
Number computed(std::uint32_t op, std::uint32_t a, std::uint32_t b) {
    const auto signed_a = static_cast<std::int32_t>(a), signed_b = static_cast<std::int32_t>(b);
    switch (op) {
        case op_i_add:
            return a + b;
        case op_i_sub:
            return a - b;
        case op_i_mul:
            return a * b;
        case op_u_div:
            return b ? Number(a / b) : std::nullopt;
        case op_u_mod:
            return b ? Number(a % b) : std::nullopt;
        case op_logical_equal:
        case op_i_equal:
            return a == b;
        case op_logical_not_equal:
        case op_i_not_equal:
            return a != b;
        case op_logical_or:
        case op_bitwise_or:
            return a | b;
        case op_logical_and:
        case op_bitwise_and:
            return a & b;
        case op_u_greater_than:
            return a > b;
        case op_s_greater_than:
            return signed_a > signed_b;
        case op_u_greater_than_equal:
            return a >= b;
        case op_s_greater_than_equal:
            return signed_a >= signed_b;
        case op_u_less_than:
            return a < b;
        case op_s_less_than:
            return signed_a < signed_b;
        case op_u_less_than_equal:
            return a <= b;
        case op_s_less_than_equal:
            return signed_a <= signed_b;
        case op_shift_right_logical:
            return a >> (b & 31);
        case op_shift_left_logical:
            return a << (b & 31);
        default:
            return std::nullopt;
    }
}

/// Sums the bytes of shared memory in one pass over a module: everything is declared before it is used.
class SharedMemory {
public:
    explicit SharedMemory(const std::map<std::uint32_t, std::uint32_t>& constants) : constants_(constants) {}

    void note(std::uint32_t op, Operands at) {
        switch (op) {
            case op_decorate:
                if (at[1] == decoration_spec_id) spec_ids_[at[0]] = at[2];
                break;
            case op_type_bool:
                bytes_[at[0]] = 4;
                break;
            case op_type_int:
            case op_type_float:
                bytes_[at[0]] = at[1] / 8;
                break;
            case op_type_vector:
                bytes_[at[0]] = bytes_.at(at[1]) * at[2];
                break;
            case op_type_array:
                if (numbers_.contains(at[2]) && bytes_.contains(at[1])) bytes_[at[0]] = bytes_[at[1]] * numbers_[at[2]];
                break;
            case op_type_pointer:
                pointees_[at[0]] = at[2];
                break;
            case op_constant_true:
            case op_spec_constant_true:
                numbers_[at[1]] = specialized(at[1], 1);
                break;
            case op_constant_false:
            case op_spec_constant_false:
                numbers_[at[1]] = specialized(at[1], 0);
                break;
            case op_constant:
            case op_spec_constant:
                numbers_[at[1]] = specialized(at[1], at[2]);
                break;
            case op_spec_constant_op:
                if (const Number value = computed(at.subspan(2))) numbers_[at[1]] = *value;
                break;
            case op_variable:
                if (at[2] == storage_workgroup) add(pointees_.at(at[0]));
                break;
            default:
                break;
        }
    }

    std::uint64_t sum = 0;

private:
    std::uint32_t specialized(std::uint32_t result, std::uint32_t own) const {
        const auto id = spec_ids_.find(result);
        if (id == spec_ids_.end()) return own;
        const auto value = constants_.find(id->second);
        return value == constants_.end() ? own : value->second;
    }

    Number computed(Operands at) const {
        const auto operand = [&](std::size_t i) -> Number {
            const auto found = i < at.size() ? numbers_.find(at[i]) : numbers_.end();
            return found == numbers_.end() ? std::nullopt : Number(found->second);
        };
        const Number a = operand(1), b = operand(2), c = operand(3);
        if (at[0] == op_logical_not) return a ? Number(!*a) : std::nullopt;
        if (at[0] == op_select) return a ? (*a ? b : c) : std::nullopt;
        return a && b ? vkf::computed(at[0], *a, *b) : std::nullopt;
    }

    void add(std::uint32_t type) {
        const auto found = bytes_.find(type);
        if (found == bytes_.end()) throw Error("what a kernel shares has a size that cannot be computed");
        sum += found->second;
    }

    const std::map<std::uint32_t, std::uint32_t>& constants_;
    std::map<std::uint32_t, std::uint32_t> spec_ids_, numbers_, pointees_;  // by result id
    std::map<std::uint32_t, std::uint64_t> bytes_;                          // bytes of types, by result id
};

}  // namespace

std::uint64_t shared_bytes(std::span<const std::uint32_t> words,
                           const std::map<std::uint32_t, std::uint32_t>& constants) {
    SharedMemory made(constants);
    each_instruction(words, [&](std::uint32_t op, Operands at) { made.note(op, at); });
    return made.sum;
}

}  // namespace vkf

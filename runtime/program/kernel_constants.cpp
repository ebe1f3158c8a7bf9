#include "program/kernel_constants.h"

#include <cstring>
#include <type_traits>

namespace vkf {

namespace {

std::uint32_t bits(const ConstantValue& value) {
    return std::visit(
        [](auto v) {
            std::uint32_t word = 0;
            if constexpr (std::is_same_v<decltype(v), bool>)
                word = v ? 1 : 0;
            else
                std::memcpy(&word, &v, sizeof word);
            return word;
        },
        value);
}

}  // namespace

KernelConstants kernel_constants(const std::vector<std::pair<std::string, ConstantValue>>& constants) {
    KernelConstants made;
    for (const auto& [name, value] : constants) made.emplace_back(name, bits(value));
    return made;
}

KernelRequest kernel_request(const Dispatch& dispatch) {
    return {dispatch.kernel, kernel_constants(dispatch.constants), dispatch.cpu};
}

}  // namespace vkf

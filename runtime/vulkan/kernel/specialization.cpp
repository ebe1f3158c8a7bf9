#include "vulkan/kernel/specialization.h"

#include <map>
#include <string>

#include "base/error.h"
#include "vulkan/shared_memory.h"

namespace vkf {

void Specialization::set(std::uint32_t id, std::uint32_t value) {
    constexpr std::uint32_t nobody = 1000;
    for (auto next = static_cast<std::uint32_t>(entries.size()); next <= id; ++next) {
        entries.push_back({nobody + next, next * 4, 4});
        data.push_back(0);
    }
    entries[id].constantID = id;
    data[id] = value;
}

VkSpecializationInfo Specialization::info() const {
    return {static_cast<std::uint32_t>(entries.size()), entries.data(), data.size() * 4, data.data()};
}

namespace {

std::string join(const std::vector<SpecConstant>& constants) {
    std::string names;
    for (const SpecConstant& constant : constants) names += (names.empty() ? "" : ", ") + constant.name;
    return names;
}

void require_limits(const DeviceInfo& device, const Kernel& kernel, std::span<const std::uint32_t> code,
                    const Specialization& values) {
    std::map<std::uint32_t, std::uint32_t> constants;
    for (std::size_t i = 0; i < values.entries.size(); ++i) constants[values.entries[i].constantID] = values.data[i];
    for (const SpecConstant& constant : kernel.reflection.constants)
        if (constant.name == "GROUP" && constants.contains(constant.id) && constants[constant.id] > device.max_group)
            throw Error("kernel ", kernel.name, " has workgroups of ", constants[constant.id], " invocations, ",
                        device.name, " has ", device.max_group, " at most");
    const std::uint64_t shared = shared_bytes(code, constants);
    if (shared > device.shared_bytes)
        throw Error("kernel ", kernel.name, " shares ", shared, " bytes in a workgroup, ", device.name, " has ",
                    device.shared_bytes);
}

}  // namespace

Specialization specialize(const DeviceInfo& device, const Kernel& kernel, const KernelRequest& request,
                          std::span<const std::uint32_t> code) {
    Specialization made;
    for (const auto& [name, value] : request.constants) {
        const SpecConstant* found = nullptr;
        for (const SpecConstant& constant : kernel.reflection.constants)
            if (constant.name == name) found = &constant;
        if (!found)
            throw Error("kernel ", kernel.name, " has no constant '", name,
                        "'; it has: ", join(kernel.reflection.constants));
        made.set(found->id, value);
    }
    for (const SpecConstant& constant : kernel.reflection.constants) {
        if (constant.name == "SUBGROUP") made.set(constant.id, device.subgroup_size);
        if (constant.name == "CPU") made.set(constant.id, request.cpu);
    }
    require_limits(device, kernel, code, made);
    return made;
}

}  // namespace vkf

#include "vulkan/cpu/shader_objects.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/small_file.h"
#include "base/random.h"
#include "vulkan/kernel/specialization.h"

namespace vkf {

namespace fs = std::filesystem;

namespace {

/// Binary of a shader object, 16-byte aligned as the extension requires.
using Binary = std::vector<std::byte>;

/// Description of a binary's origin, in one line.
std::string origin(const Device& device, const KernelRequest& request) {
    const std::string names[] = {request.name};
    return text(key_of(request), " subgroup=", device.info().subgroup_size, " module=", kernels_hash(names));
}

fs::path file_of(const DeviceHandles& handles, const std::string& origin) {
    return fs::path(handles.cache_path) / text(hash_name(origin));
}

/// First line of a file: it detects files of other kernels, whose file name may be equal, and damaged files.
std::string first_line(const std::string& origin, std::span<const std::byte> binary) {
    return text(origin, " content=", hash_name({reinterpret_cast<const char*>(binary.data()), binary.size()}), '\n');
}

std::optional<Binary> read_binary(const fs::path& path, const std::string& origin) {
    constexpr std::uint64_t largest = 64 << 20;  // bytes; kernels take some hundred thousand
    try {
        const std::string content = read_small_text(path, largest, Links::refused);
        const std::size_t line = content.find('\n');
        if (line == std::string::npos) return std::nullopt;
        const auto bytes = std::as_bytes(std::span(content)).subspan(line + 1);
        if (!content.starts_with(first_line(origin, bytes))) return std::nullopt;
        return Binary(bytes.begin(), bytes.end());
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

void write_binary(const fs::path& path, const std::string& origin, const Binary& binary) {
    try {
        fs::create_directories(path.parent_path());
        replace_file(path, [&](FileWriter& file) {
            file.write(first_line(origin, binary));
            file.write(binary);
        });
    } catch (const std::exception&) {
        // The binary only saves time: a run must not fail because the home directory is read-only.
    }
}

Binary binary_of(const DeviceHandles& handles, VkShaderEXT shader) {
    std::size_t size = 0;
    check(vkGetShaderBinaryDataEXT(handles.device, shader, &size, nullptr), "vkGetShaderBinaryDataEXT");
    Binary made(size);
    check(vkGetShaderBinaryDataEXT(handles.device, shader, &size, made.data()), "vkGetShaderBinaryDataEXT");
    made.resize(size);
    return made;
}

VkShaderEXT made_of(const DeviceHandles& handles, VkShaderCreateInfoEXT info, const Binary& binary) {
    info.codeType = VK_SHADER_CODE_TYPE_BINARY_EXT;
    info.codeSize = binary.size();
    info.pCode = binary.data();
    VkShaderEXT shader = VK_NULL_HANDLE;
    const VkResult result = vkCreateShadersEXT(handles.device, 1, &info, nullptr, &shader);
    return result == VK_SUCCESS ? shader : VK_NULL_HANDLE;
}

}  // namespace

VkShaderEXT make_shader_object(const Device& device, const Kernel& kernel, const KernelRequest& request) {
    const DeviceHandles& handles = device.handles();
    const std::span<const std::uint32_t> code = kernel_code(kernel.name);
    const Specialization values = specialize(device.info(), kernel, request, code);
    const VkSpecializationInfo constants = values.info();
    VkShaderRequiredSubgroupSizeCreateInfoEXT subgroup{};
    subgroup.sType = VK_STRUCTURE_TYPE_SHADER_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT;
    subgroup.requiredSubgroupSize = device.info().subgroup_size;
    VkShaderCreateInfoEXT info{};
    info.sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT;
    if (handles.subgroups.required) info.pNext = &subgroup;
    if (handles.subgroups.known) info.flags = VK_SHADER_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    info.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT;
    info.codeSize = code.size_bytes();
    info.pCode = code.data();
    info.pName = "main";
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &kernel_arguments;
    info.pSpecializationInfo = &constants;

    const bool kept = !handles.cache_path.empty();
    const std::string what = origin(device, request);
    const fs::path path = kept ? file_of(handles, what) : fs::path();
    if (const auto found = kept ? read_binary(path, what) : std::nullopt)
        if (VkShaderEXT made = made_of(handles, info, *found)) return made;

    VkShaderEXT compiled = VK_NULL_HANDLE;
    check(vkCreateShadersEXT(handles.device, 1, &info, nullptr, &compiled), "vkCreateShadersEXT");
    const Binary binary = binary_of(handles, compiled);
    if (kept) write_binary(path, what, binary);
    VkShaderEXT smaller = made_of(handles, info, binary);
    if (!smaller) return compiled;
    vkDestroyShaderEXT(handles.device, compiled, nullptr);
    return smaller;
}

void limit_binaries(const std::string& folder, std::uintmax_t bytes) {
    struct File {
        fs::path path;
        fs::file_time_type written;
        std::uintmax_t bytes;
    };
    try {
        std::vector<File> files;
        std::uintmax_t sum = 0;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            files.push_back({entry.path(), entry.last_write_time(), entry.file_size()});
            sum += files.back().bytes;
        }
        std::ranges::sort(files, {}, &File::written);
        for (const File& oldest : files) {
            if (sum <= bytes) break;
            fs::remove(oldest.path);
            sum -= oldest.bytes;
        }
    } catch (const std::exception&) {
        // Another process may remove files at the same time.
    }
}

}  // namespace vkf

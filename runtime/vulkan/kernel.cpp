#include "vulkan/kernel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <map>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "vulkan/handles.h"
#include "vulkan/shared_memory.h"
#include "vulkan/spirv.h"

namespace vkf {

namespace {

const SpirvModule* find_module(const std::string& name) {
    for (const SpirvModule& module : embedded_spirv())
        if (module.name == name) return &module;
    return nullptr;
}

const SpirvModule& module_named(const std::string& name) {
    if (const SpirvModule* module = find_module(name)) return *module;
    throw Error("there is no kernel '", name, "' in this build");
}

/// Which matrices a kernel multiplies, by the capabilities that its module declares.
struct Abilities {
    bool matrices = false, flexible = false, workgroup = false, bf16 = false;
};

Abilities abilities(const SpirvModule& module) {
    constexpr std::uint32_t cooperative = 6022, reductions = 5430, conversions = 5431, tensors = 5439, bf16 = 5118;
    Abilities made;
    for (const std::uint32_t capability : capabilities(module.words)) {
        made.matrices |= capability == cooperative;
        made.flexible |= capability == reductions || capability == conversions;
        made.workgroup |= capability == tensors;
        made.bf16 |= capability == bf16;
    }
    return made;
}

std::string join(const std::vector<SpecConstant>& constants) {
    std::string names;
    for (const SpecConstant& constant : constants) names += (names.empty() ? "" : ", ") + constant.name;
    return names;
}

/// Values for a pipeline's constants, in the form Vulkan takes them. Entry i has id i, for the validation layers of
/// Debian 13 (1.4.309) look there for a cooperative matrix's extents; an id without a value gets one that no kernel
/// has.
struct Specialization {
    std::vector<VkSpecializationMapEntry> entries;
    std::vector<std::uint32_t> data;
    VkSpecializationInfo info{};

    void set(std::uint32_t id, std::uint32_t value) {
        constexpr std::uint32_t nobody = 1000;
        for (auto next = static_cast<std::uint32_t>(entries.size()); next <= id; ++next) {
            entries.push_back({nobody + next, next * 4, 4});
            data.push_back(0);
        }
        entries[id].constantID = id;
        data[id] = value;
        info = {static_cast<std::uint32_t>(entries.size()), entries.data(), data.size() * 4, data.data()};
    }
};

Specialization specialize(const Kernel& kernel, const KernelRequest& request, std::uint32_t subgroup) {
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
        if (constant.name == "SUBGROUP") made.set(constant.id, subgroup);
        if (constant.name == "CPU") made.set(constant.id, request.cpu);
    }
    return made;
}

/// Throws Error if a workgroup would be larger, or would share more, than the device can: a driver need not notice.
void require_limits(const DeviceInfo& device, const Kernel& kernel, std::span<const std::uint32_t> words,
                    const Specialization& values) {
    std::map<std::uint32_t, std::uint32_t> constants;
    for (std::size_t i = 0; i < values.entries.size(); ++i) constants[values.entries[i].constantID] = values.data[i];
    for (const SpecConstant& constant : kernel.reflection.constants)
        if (constant.name == "GROUP" && constants.contains(constant.id) && constants[constant.id] > device.max_group)
            throw Error("kernel ", kernel.name, " has workgroups of ", constants[constant.id], " invocations, ",
                        device.name, " has ", device.max_group, " at most");
    const std::uint64_t shared = shared_bytes(words, constants);
    if (shared > device.shared_bytes)
        throw Error("kernel ", kernel.name, " shares ", shared, " bytes in a workgroup, ", device.name, " has ",
                    device.shared_bytes);
}

std::string key_of(const KernelRequest& request) {
    std::string key = request.cpu ? request.name + " on a CPU" : request.name;
    for (const auto& [constant, value] : request.constants) key += text(' ', constant, '=', value);
    return key;
}

/// A pipeline on its way.
struct Making {
    const KernelRequest* request;
    std::string key;
    std::unique_ptr<Kernel> made;
    std::exception_ptr failure;

    void make(const Device& device) {
        try {
            made = std::make_unique<Kernel>(describe_kernel(request->name));
            const auto start = std::chrono::steady_clock::now();
            made->pipeline = make_pipeline(device, *made, *request, device.handles().cache);
            made->compile_ms =
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        } catch (...) {
            failure = std::current_exception();
        }
    }
};

/// By this thread and others, each taking the next that nobody has begun.
void make_all(const Device& device, std::span<Making> list) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < list.size(); i = next++) list[i].make(device);
    };
    const std::size_t threads = std::min<std::size_t>(list.size(), compiling_threads());
    std::vector<std::jthread> others;
    try {
        while (others.size() + 1 < threads) others.emplace_back(work);
    } catch (const std::system_error&) {
        // No more threads are to be had: those that are there do the work.
    }
    work();
}

}  // namespace

unsigned compiling_threads() {
    constexpr unsigned most = 8;  // each has memory of its own
    return std::clamp(std::thread::hardware_concurrency(), 1u, most);
}

bool has_matrix_kernels(MatrixElement element) {
    return std::ranges::any_of(embedded_spirv(), [&](const SpirvModule& module) {
        const Abilities of = abilities(module);
        return of.matrices && !of.flexible && of.bf16 == (element == MatrixElement::bf16);
    });
}

bool has_workgroup_matrix_kernels(MatrixElement element) {
    return std::ranges::any_of(embedded_spirv(), [&](const SpirvModule& module) {
        const Abilities of = abilities(module);
        return of.workgroup && of.bf16 == (element == MatrixElement::bf16);
    });
}

std::uint64_t kernels_hash(std::span<const std::string> names) {
    std::uint64_t hash = 0;
    for (const std::string& name : names) {
        const SpirvModule* module = find_module(name);
        const auto bytes = std::as_bytes(module ? module->words : std::span<const std::uint32_t>());
        hash = 3 * hash + hash_name(name);
        hash = 3 * hash + hash_name({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    return hash;
}

Kernel describe_kernel(const std::string& name) {
    Kernel made;
    made.name = name;
    made.reflection = reflect(module_named(name).words);
    if (made.reflection.push_bytes > 128) throw Error("kernel ", name, " takes more than 128 bytes of arguments");
    return made;
}

VkPipeline make_pipeline(const Device& device, const Kernel& kernel, const KernelRequest& request,
                         VkPipelineCache cache, VkPipelineCreateFlags flags) {
    const DeviceHandles& to = device.handles();
    const std::span<const std::uint32_t> words = module_named(kernel.name).words;
    const std::uint32_t subgroup = device.info().subgroup_size;
    const Specialization values = specialize(kernel, request, subgroup);
    require_limits(device.info(), kernel, words, values);
    VkShaderModuleCreateInfo code{};
    code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    code.codeSize = words.size_bytes();
    code.pCode = words.data();
    VkShaderModule shader = VK_NULL_HANDLE;
    check(vkCreateShaderModule(to.device, &code, nullptr, &shader), "vkCreateShaderModule");

    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size{};
    size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    size.requiredSubgroupSize = subgroup;
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.flags = flags;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &values.info;
    if (to.subgroups.known) info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    if (to.subgroups.required) info.stage.pNext = &size;
    info.layout = to.layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = vkCreateComputePipelines(to.device, cache, 1, &info, nullptr, &pipeline);
    vkDestroyShaderModule(to.device, shader, nullptr);
    check(result, "vkCreateComputePipelines");
    return pipeline;
}

void make_kernels(Device& device, std::span<const KernelRequest> requests) {
    DeviceHandles& handles = device.handles();
    std::vector<Making> list;
    for (const KernelRequest& request : requests) {
        std::string key = key_of(request);
        const auto same = [&](const Making& other) { return other.key == key; };
        if (!handles.kernels.contains(key) && std::ranges::none_of(list, same))
            list.push_back({&request, std::move(key), nullptr, nullptr});
    }
    if (list.empty()) return;
    make_all(device, list);
    if (list.size() > 1) trim_heap();  // compilers leave each thread's heap much larger than what they keep
    std::exception_ptr failure;
    for (Making& one : list) {
        if (!failure) failure = one.failure;
        if (one.failure) continue;
        handles.name(VK_OBJECT_TYPE_PIPELINE, reinterpret_cast<std::uint64_t>(one.made->pipeline), one.key);
        handles.kernels.emplace(std::move(one.key), std::move(one.made));
    }
    if (failure) std::rethrow_exception(failure);
}

const Kernel& kernel(Device& device, const KernelRequest& request) {
    make_kernels(device, {&request, 1});
    return *device.handles().kernels.at(key_of(request));
}

void open_pipeline_cache(Device& device) {
    DeviceHandles& handles = device.handles();
    VkPhysicalDeviceProperties properties{};
    vkGetPhysicalDeviceProperties(handles.physical, &properties);
    std::string found;
    if (const auto folder = cache_folder()) {
        const auto path = *folder / text(properties.vendorID, '-', properties.deviceID, '-',
                                         hexadecimal(properties.pipelineCacheUUID), ".pipelines");
        handles.cache_path = path.string();
        try {
            if (std::filesystem::is_regular_file(path)) found = read_text(path);
        } catch (const std::exception&) {
            found.clear();  // unreadable: as good as none
        }
    }
    VkPipelineCacheCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = found.size();
    info.pInitialData = found.data();
    check(vkCreatePipelineCache(handles.device, &info, nullptr, &handles.cache), "vkCreatePipelineCache");
    handles.cache_bytes = found.size();
}

void save_pipeline_cache(Device& device) {
    const DeviceHandles& handles = device.handles();
    if (handles.cache_path.empty() || !handles.cache) return;
    try {
        std::size_t size = 0;
        check(vkGetPipelineCacheData(handles.device, handles.cache, &size, nullptr), "vkGetPipelineCacheData");
        if (size <= handles.cache_bytes) return;
        std::string data(size, '\0');
        check(vkGetPipelineCacheData(handles.device, handles.cache, &size, data.data()), "vkGetPipelineCacheData");
        data.resize(size);
        std::filesystem::create_directories(std::filesystem::path(handles.cache_path).parent_path());
        write_atomically(handles.cache_path, data);
    } catch (const std::exception&) {
        // The cache only saves time: a run must not fail because a home directory is read-only.
    }
}

}  // namespace vkf

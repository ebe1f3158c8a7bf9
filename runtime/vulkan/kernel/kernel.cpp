#include "vulkan/kernel/kernel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/files/file.h"
#include "base/files/private_folder.h"
#include "base/files/small_file.h"
#include "base/os/memory.h"
#include "base/random.h"
#include "vulkan/cpu/shader_objects.h"
#include "vulkan/handles.h"
#include "vulkan/kernel/specialization.h"
#include "vulkan/kernel/spirv.h"

namespace vkf {

namespace {

const SpirvModule* find_module(const std::string& name) {
    for (const SpirvModule& module : embedded_spirv())
        if (module.name == name) return &module;
    return nullptr;
}

/// Cooperative matrices that a kernel multiplies, by the capabilities that its module declares.
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

/// A kernel that is being made.
struct Making {
    const KernelRequest* request;
    std::string key;
    std::unique_ptr<Kernel> made;
    std::exception_ptr failure;

    void make(const Device& device) {
        try {
            made = std::make_unique<Kernel>(describe_kernel(request->name));
            const auto start = std::chrono::steady_clock::now();
            if (device.handles().shader_objects)
                made->handle = make_shader_object(device, *made, *request);
            else
                made->handle = make_pipeline(device, *made, *request, device.handles().cache);
            made->compile_ms =
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        } catch (...) {
            failure = std::current_exception();
        }
    }
};

using GoOn = std::function<bool(std::size_t done, std::size_t all)>;

/// Makes kernels in this thread and others; each takes the next one that is not begun. One thread at a time calls
/// `go_on`.
void make_all(const Device& device, std::span<Making> list, const GoOn& go_on) {
    std::atomic<std::size_t> next = 0;
    std::size_t done = 0;
    std::mutex asking;
    const auto work = [&] {
        for (std::size_t i = next++; i < list.size(); i = next++) {
            list[i].make(device);
            const std::scoped_lock one(asking);
            if (go_on && !go_on(++done, list.size())) next = list.size();
        }
    };
    const bool cpu = device.info().kind == DeviceKind::cpu;
    const std::size_t threads = std::min<std::size_t>(list.size(), compiling_threads(cpu));
    std::vector<std::jthread> others;
    try {
        while (others.size() + 1 < threads) others.emplace_back(work);
    } catch (const std::system_error&) {
        // No more threads can be started: the existing ones do the work.
    }
    work();
}

/// Makes the requested kernels that the device lacks, and gives them to it. Returns a failure for each that could not
/// be made; those not begun because `go_on` returned false have none.
std::vector<Making> make_lacking(Device& device, std::span<const KernelRequest> requests, const GoOn& go_on) {
    DeviceHandles& handles = device.handles();
    std::vector<Making> list;
    std::set<std::string> keys;
    for (const KernelRequest& request : requests)
        if (std::string key = key_of(request); !handles.kernels.contains(key) && keys.insert(key).second)
            list.push_back({&request, std::move(key), nullptr, nullptr});
    make_all(device, list, go_on);
    if (list.size() > 1) trim_heap();  // compilers leave each thread's heap much larger than its contents
    for (Making& one : list) {
        if (!one.made || one.failure) continue;
        handles.name(handles.shader_objects ? VK_OBJECT_TYPE_SHADER_EXT : VK_OBJECT_TYPE_PIPELINE,
                     reinterpret_cast<std::uint64_t>(one.made->handle), one.key);
        handles.kernels.emplace(one.key, std::move(one.made));
    }
    return list;
}

}  // namespace

std::string key_of(const KernelRequest& request) {
    std::string key = request.cpu ? request.name + " on a CPU" : request.name;
    for (const auto& [constant, value] : request.constants) key += text(' ', constant, '=', value);
    return key;
}

unsigned compiling_threads(bool cpu) {
    // Each thread needs memory. A CPU device's compilers share memory and processors with its kernels.
    const unsigned most = cpu ? 8 : 64;
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

std::span<const std::uint32_t> kernel_code(const std::string& name) {
    if (const SpirvModule* module = find_module(name)) return module->words;
    throw Error("there is no kernel '", name, "' in this build");
}

Kernel describe_kernel(const std::string& name) {
    Kernel made;
    made.name = name;
    made.reflection = reflect(kernel_code(name));
    if (made.reflection.push_bytes > 128) throw Error("kernel ", name, " takes more than 128 bytes of arguments");
    return made;
}

VkPipeline make_pipeline(const Device& device, const Kernel& kernel, const KernelRequest& request,
                         VkPipelineCache cache, VkPipelineCreateFlags flags) {
    const DeviceHandles& to = device.handles();
    const std::span<const std::uint32_t> words = kernel_code(kernel.name);
    const Specialization values = specialize(device.info(), kernel, request, words);
    const VkSpecializationInfo constants = values.info();
    VkShaderModuleCreateInfo code{};
    code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    code.codeSize = words.size_bytes();
    code.pCode = words.data();
    VkShaderModule shader = VK_NULL_HANDLE;
    check(vkCreateShaderModule(to.device, &code, nullptr, &shader), "vkCreateShaderModule");

    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo size{};
    size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
    size.requiredSubgroupSize = device.info().subgroup_size;
    VkComputePipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
    info.flags = flags;
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &constants;
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
    for (const Making& one : make_lacking(device, requests, {}))
        if (one.failure) std::rethrow_exception(one.failure);
}

void make_kernels_ahead(Device& device, std::span<const KernelRequest> requests, const GoOn& go_on) {
    make_lacking(device, requests, go_on);
}

const Kernel& kernel(Device& device, const KernelRequest& request) {
    make_kernels(device, {&request, 1});
    return *device.handles().kernels.at(key_of(request));
}

namespace {

constexpr std::uint64_t most_cached = 256 << 20;  // bytes; some thousand kernels

}  // namespace

void open_kernel_cache(Device& device) {
    DeviceHandles& handles = device.handles();
    VkPhysicalDeviceProperties properties{};
    vkGetPhysicalDeviceProperties(handles.physical, &properties);
    std::string found;
    if (const auto folder = private_cache_folder()) {
        const auto path = *folder / text(properties.vendorID, '-', properties.deviceID, '-',
                                         hexadecimal(properties.pipelineCacheUUID),
                                         handles.shader_objects ? ".shaders" : ".pipelines");
        handles.cache_path = path.string();
        try {
            if (!handles.shader_objects) found = read_small_text(path, most_cached, Links::refused);
        } catch (const std::exception&) {
            found.clear();  // an unreadable cache counts as none
        }
    }
    if (handles.shader_objects) return;
    VkPipelineCacheCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = found.size();
    info.pInitialData = found.data();
    check(vkCreatePipelineCache(handles.device, &info, nullptr, &handles.cache), "vkCreatePipelineCache");
    handles.cache_bytes = found.size();
}

void save_kernel_cache(Device& device) {
    const DeviceHandles& handles = device.handles();
    if (handles.cache_path.empty()) return;
    if (handles.shader_objects) return limit_binaries(handles.cache_path, most_cached);
    if (!handles.cache) return;
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
        // The cache only saves time: a run must not fail because the home directory is read-only.
    }
}

}  // namespace vkf

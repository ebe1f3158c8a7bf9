#include "apps/inspect/facts_document.h"

#include <algorithm>

namespace vkf {

namespace {

using nlohmann::ordered_json;

ordered_json document(const ListedMatrix& at) {
    ordered_json made{{"extension", at.flexible ? "VK_NV_cooperative_matrix2" : "VK_KHR_cooperative_matrix"},
                      {at.flexible ? "m_multiple_of" : "m", at.m},
                      {at.flexible ? "n_multiple_of" : "n", at.n},
                      {at.flexible ? "k_multiple_of" : "k", at.k},
                      {"a", at.a},
                      {"b", at.b},
                      {"c", at.c},
                      {"result", at.result},
                      {"scope", at.scope},
                      {"saturates", at.saturates},
                      {"refusal", at.refusal}};
    if (at.invocations > 0) made["invocations"] = at.invocations;
    return made;
}

/// Object of the pairs, empty if there are none.
template <class Pairs>
ordered_json object(const Pairs& pairs) {
    ordered_json made = ordered_json::object();
    for (const auto& [name, value] : pairs) made[name] = value;
    return made;
}

}  // namespace

std::uint64_t host_visible_device_bytes(const DeviceFacts& facts) {
    const auto has = [](const MemoryType& type, const char* flag) { return std::ranges::count(type.flags, flag) > 0; };
    std::uint64_t bytes = 0;
    for (const MemoryType& type : facts.memory_types)
        if (has(type, "device local") && has(type, "host visible") && type.heap < facts.heaps.size())
            bytes = std::max(bytes, facts.heaps[type.heap].bytes);
    return bytes;
}

ordered_json document(const DeviceFacts& facts) {
    ordered_json queues = ordered_json::array(), heaps = queues, types = queues, matrices = queues;
    for (const QueueFamily& at : facts.queue_families)
        queues.push_back({{"flags", at.flags}, {"queues", at.queues}, {"timestamp_bits", at.timestamp_bits}});
    for (const MemoryHeap& at : facts.heaps) heaps.push_back({{"bytes", at.bytes}, {"flags", at.flags}});
    for (const MemoryType& at : facts.memory_types) types.push_back({{"heap", at.heap}, {"flags", at.flags}});
    for (const ListedMatrix& at : facts.matrices) matrices.push_back(document(at));
    return {{"vendor_id", facts.vendor_id},           {"device_id", facts.device_id},
            {"driver_version", facts.driver_version}, {"queue_families", std::move(queues)},
            {"queue_family", facts.queue_family},     {"memory_heaps", std::move(heaps)},
            {"memory_types", std::move(types)},       {"host_visible_device_bytes", host_visible_device_bytes(facts)},
            {"listed_matrices", std::move(matrices)}, {"limits", object(facts.limits)},
            {"extensions", object(facts.versions)}};
}

}  // namespace vkf

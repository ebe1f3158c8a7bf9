// Inspection of a program: submitted commands, times of nodes, the first number that is not finite, writes past an end.

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "program/numbers.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

std::size_t Program::segments() const {
    std::size_t count = 0;
    for (const Commands& part : commands_) count += part.recording().segments.size();
    return count;
}

std::size_t Program::barriers() const {
    std::size_t count = 0;
    for (const Commands& part : commands_) count += part.recording().barriers();
    return count;
}

std::vector<const Recording*> Program::recordings() const {
    const HostSlot& slot = host_slots_[started_];
    std::vector<const Recording*> list;
    if (const auto load = slot.loads.find(loaded_); load != slot.loads.end()) list.push_back(&load->second.recording());
    for (const Commands& part : commands_) list.push_back(&part.recording());
    list.push_back(&slot.store.recording());
    return list;
}

std::vector<NodeTime> Program::node_times() const {
    std::vector<double> spans;
    for (const Commands& part : commands_) {
        const std::vector<double> more = part.stamps_ms();
        spans.insert(spans.end(), more.begin(), more.end());
    }
    std::vector<NodeTime> times;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
        if (i == 0 || launches_[i].node != launches_[i - 1].node) {
            const Node& node = graph_->nodes()[launches_[i].node];
            require(times.size() < spans.size(), "node times need a program with stamps, and a run");
            times.push_back({launches_[i].node, node.scope, std::string(node.op->name()), launches_[i].kernel->name,
                             spans[times.size()], 0, 0});
        }
        if (times.back().flops == 0 && launches_[i].flops > 0) times.back().kernel = launches_[i].kernel->name;
        times.back().flops += launches_[i].flops;
        times.back().bytes += launches_[i].bytes;
    }
    return times;
}

std::vector<float> Program::transient_values(Tensor tensor) const {
    const Value& value = graph_->value(tensor);
    const auto at = static_cast<std::uint64_t>(plan_.storage[value.storage] + bytes_of(value.offset, tensor.format()));
    const auto width = static_cast<std::size_t>(tensor.width()), pitch = static_cast<std::size_t>(tensor.pitch());
    const auto rows = static_cast<std::size_t>(tensor.rows());
    const std::int64_t reach = rows == 0 ? 0 : (tensor.rows() - 1) * tensor.pitch() + tensor.width();
    std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(reach, tensor.format())));
    arena_->read(at, bytes);
    std::vector<float> values = floats_of(bytes, tensor.format());
    for (std::size_t r = 1; r < rows && pitch > width; ++r)  // values between the rows belong to other tensors
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(r * pitch), width,
                    values.begin() + static_cast<std::ptrdiff_t>(r * width));
    values.resize(rows * width);
    return values;
}

std::string Program::find_non_finite() {
    while (under_way() > 0) finish();
    std::map<std::string, std::vector<std::byte>> saved;
    for (const Storage& storage : graph_->storages())
        if (storage.role == Role::state && storage.version > 0) saved[storage.name] = state_->read_bytes(storage.name);
    if (const Commands* inputs = load()) wait(*device_, submit(*device_, std::span(&inputs, 1)));
    std::string found;
    for (std::size_t i = 0; i < launches_.size() && found.empty();) {
        const std::size_t index = launches_[i].node;
        Recorder recorder(*device_);
        for (; i < launches_.size() && launches_[i].node == index; ++i)
            recorder.dispatch(*launches_[i].kernel, launches_[i].push, launches_[i].groups, launches_[i].accesses);
        wait(*device_, recorder.finish().submit());
        const Node& node = graph_->nodes()[index];
        for (std::size_t k = 0; k < node.out.size() && found.empty(); ++k) {
            const Tensor out = node.out[k];
            const bool in_arena = graph_->storage(out).role == Role::transient;
            if (out.dtype() != DType::f32 || (in_arena && plan_.storage[graph_->value(out).storage] == no_place))
                continue;
            std::vector<float> values;
            if (graph_->storage(out).role == Role::state)
                values = state_->read(graph_->storage(out).name);
            else
                values = transient_values(out);
            const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
            if (bad != values.end())
                found = text(node.scope, node.scope.empty() ? "" : ": ", node.op->name(), ": output ", k, ", element ",
                             bad - values.begin(), " of ", out.shape(), " is ", *bad);
        }
    }
    for (const auto& [name, bytes] : saved) state_->write_bytes(name, bytes);
    return found;
}

std::string Program::damaged_guards() const {
    require(options_.guarded, "guard bands need a program compiled with them");
    std::vector<std::pair<std::int64_t, std::int64_t>> owned;  // begin and end in the arena
    for (std::size_t s = 0; s < plan_.storage.size(); ++s)
        if (plan_.storage[s] != no_place)
            owned.emplace_back(plan_.storage[s], plan_.storage[s] + graph_->storages()[s].bytes());
    for (std::size_t node = 0; node < scratches_.size(); ++node)
        for (std::size_t k = 0; k < scratches_[node].size(); ++k)
            owned.emplace_back(plan_.scratch[node][k], plan_.scratch[node][k] + 4 * scratches_[node][k]);
    owned.emplace_back(plan_.bytes, plan_.bytes);
    std::ranges::sort(owned);

    std::string damage;
    const auto check = [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::uint32_t> words(static_cast<std::size_t>((end - begin) / 4));
        arena_->read(static_cast<std::uint64_t>(begin), std::as_writable_bytes(std::span(words)));
        for (std::size_t i = 0; i < words.size() && damage.size() <= 1000; ++i) {
            if (words[i] == poison) continue;
            const std::int64_t at = begin + 4 * static_cast<std::int64_t>(i);
            damage += text("word ", at / 4, " of the arena, outside every tensor, was written");
            for (std::size_t s = 0; s < plan_.storage.size(); ++s)
                if (const std::int64_t distance = at - plan_.storage[s];
                    plan_.storage[s] != no_place && std::abs(distance) < 4096)
                    damage += text("; ", distance, " bytes from the start of a ", graph_->storages()[s].type);
            damage += '\n';
        }
    };
    // Tensors are left out: to read those of a product that is tried out takes longer than all else of the trial.
    std::int64_t begin = 0;
    for (const auto& [next, end] : owned) {
        if (begin < next) check(begin, next);
        begin = std::max(begin, end);
    }
    return damage;
}

}  // namespace vkf

// Runs of a program: writes inputs, starts runs and waits for them, reads outputs.

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "program/numbers.h"
#include "program/program.h"
#include "vulkan/device/device.h"

namespace vkf {

const Program::Place& Program::named(std::span<const Place> list, std::string_view name) {
    const auto found = std::ranges::find_if(list, [&](const Place& at) { return at.name == name; });
    if (found == list.end()) throw InputError("the program has no input or output '", name, "'");
    return *found;
}

void Program::write_bytes(std::string_view input, DType dtype, std::span<const std::byte> data) {
    const std::size_t slot = free_host_slot();
    const Place& at = named(input_places_, input);
    const auto count = static_cast<std::int64_t>(data.size() / 4);
    require(at.type.dtype == dtype && at.type.shape.elements() == count, "input '", input, "' is ", at.type, ", given ",
            count, dtype == DType::f32 ? " floats" : " integers");
    std::ranges::copy(data, host_slots_[slot].inputs.mapped(at.offset, data.size()).begin());
    written_[static_cast<std::size_t>(&at - input_places_.data())] = true;
}

void Program::write(std::string_view input, std::span<const float> values) {
    write_bytes(input, DType::f32, std::as_bytes(values));
}

void Program::write(std::string_view input, std::span<const std::int32_t> values) {
    write_bytes(input, DType::i32, std::as_bytes(values));
}

std::size_t Program::free_host_slot() {
    require(runs_.size() < 2, "two runs of a program are under way already");
    if (host_slots_.size() == 1) {
        if (runs_.empty()) return started_;
        host_slots_.push_back(make_host_slot());
        memory_.inputs = memory_.inputs / one_run_at_a_time.inputs * overlapping_runs.inputs;
        memory_.outputs = memory_.outputs / one_run_at_a_time.outputs * overlapping_runs.outputs;
    }
    return 1 - started_;
}

const Commands* Program::load() {
    HostSlot& slot = host_slots_[free_host_slot()];
    loaded_ = std::exchange(written_, InputSet(written_.size(), false));
    if (std::ranges::find(loaded_, true) == loaded_.end()) return nullptr;
    auto found = slot.loads.find(loaded_);
    if (found == slot.loads.end()) found = slot.loads.emplace(loaded_, record_load(slot.inputs, loaded_)).first;
    return &found->second;
}

void Program::start() {
    const std::size_t k = free_host_slot();
    std::vector<const Commands*> parts;
    if (const Commands* inputs = load()) parts.push_back(inputs);
    const auto begun = Pace::Clock::now();
    for (const Commands& part : commands_) {
        if (hook_ && &part != &commands_.front()) {
            wait(*device_, submit(*device_, std::exchange(parts, {}), pace_.joined()));
            std::vector<HookedTensor> tensors = hooked();
            hook_(tensors);
        }
        parts.push_back(&part);
    }
    parts.push_back(&host_slots_[k].store);
    runs_.push_back({submit(*device_, parts, pace_.joined()), k, begun});
    started_ = k;
}

void Program::set_hook(Hook hook) {
    require(!hook || !graph_->hooked().empty(), "the program's graph has no hook");
    hook_ = std::move(hook);
}

std::vector<HookedTensor> Program::hooked() {
    std::vector<HookedTensor> list;
    for (const Tensor& tensor : graph_->hooked()) {
        const Value& value = graph_->value(tensor);
        const Storage& storage = graph_->storage(tensor);
        require(storage.role == Role::transient || storage.role == Role::state, "a hook is for what is computed");
        const auto offset = static_cast<std::uint64_t>(bytes_of(value.offset, tensor.format()));
        const auto [memory, at] =
            storage.role == Role::state
                ? state_->place(storage)
                : std::pair(arena_.get(), static_cast<std::uint64_t>(plan_.storage[value.storage]));
        list.emplace_back(*memory, at + offset, tensor.elements());
    }
    return list;
}

void Program::finish() {
    require(!runs_.empty(), "no run of the program is under way");
    wait(*device_, runs_.front().ticket);
    pace_.ran(segments(), Pace::Clock::now() - runs_.front().begun);
    finished_ = runs_.front().slot;
    runs_.erase(runs_.begin());
}

void Program::run() {
    start();
    while (!runs_.empty()) finish();
}

void Program::repeat() {
    while (!runs_.empty()) finish();
    std::vector<const Commands*> parts;
    for (const Commands& part : commands_) parts.push_back(&part);
    wait(*device_, submit(*device_, parts, pace_.joined()));
}

std::span<const std::byte> Program::read_bytes(std::string_view output, DType dtype) const {
    const Place& at = named(output_places_, output);
    require(at.type.dtype == dtype, "output '", output, "' is ", at.type, ", asked for as ",
            dtype == DType::f32 ? "floats" : "integers");
    return host_slots_[finished_].outputs.mapped(at.offset, static_cast<std::uint64_t>(at.bytes()));
}

std::vector<float> Program::read(std::string_view output) const {
    return floats_of(read_bytes(output, DType::f32), named(output_places_, output).format);
}

std::vector<std::int32_t> Program::read_ints(std::string_view output) const {
    return ints_of(read_bytes(output, DType::i32));
}

float Program::read_scalar(std::string_view output) const {
    const std::vector<float> values = read(output);
    require(values.size() == 1, "output '", output, "' has ", values.size(), " elements, not one");
    return values[0];
}

double Program::flops() const {
    double total = 0;
    for (const Launch& launch : launches_) total += launch.flops;
    return total;
}

}  // namespace vkf

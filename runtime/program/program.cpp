#include "program/program.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/os/memory.h"
#include "graph/autotuner.h"
#include "graph/lower.h"
#include "passes/run_passes.h"
#include "program/kernel_constants.h"
#include "vulkan/device/device.h"
#include "vulkan/kernel/kernel.h"

namespace vkf {

namespace {

constexpr std::int64_t guard_bytes = 256;

double mebibytes(std::int64_t bytes) {
    return std::round(static_cast<double>(bytes) / (1 << 20) * 10) / 10;
}

template <class Layout>
Arena arena_of(Device& device, const Layout& layout, Memory intent, const char* name) {
    return {device, static_cast<std::uint64_t>(layout.bytes), static_cast<std::uint64_t>(layout.limit), intent, name};
}

/// The shape that kernels are built for, among those that a graph may use: first one of the format of its activations,
/// then the largest that divides the tiles of runtime/ops/matmul/gemm_config.cpp.
std::optional<MatrixShape> best_matrices(const std::vector<MatrixShape>& shapes, const Graph& graph) {
    const auto worth = [&](const MatrixShape& at) {
        const bool bf16 = at.element == MatrixElement::bf16;
        return std::pair(bf16 == (graph.activations == Format::bf16), at.m * at.n * at.k);
    };
    std::optional<MatrixShape> best;
    for (const MatrixShape& at : shapes)
        if (has_matrix_kernels(at.element) && may_round(graph, at.element) && (!best || worth(at) > worth(*best)))
            best = at;
    return best;
}

}  // namespace

bool may_round(const Graph& graph, MatrixElement element) {
    if (graph.activations == Format::f32) return false;
    if (element == MatrixElement::bf16) return graph.activations == Format::bf16;
    // fp16 is finer, but its range ends at 65504 and 2^-24. A model's values stay within it; gradients do only if the
    // loss is scaled, as it is if activations are kept in fp16.
    return graph.activations == Format::f16 || !graph.differentiated;
}

DeviceTraits traits(const Device& device) {
    const DeviceInfo& info = device.info();
    DeviceTraits made;
    made.cpu = info.kind == DeviceKind::cpu;
    made.subgroup_size = info.subgroup_size;
    made.max_group = info.max_group;
    made.compute_units = info.compute_units.count;
    made.flops_per_second = made.cpu ? 3e10 : info.kind == DeviceKind::discrete ? 5e12 : 5e11;
    made.bytes_per_second = made.cpu ? 5e9 : info.kind == DeviceKind::discrete ? 2e11 : 2e10;
    made.shared_bytes = info.shared_bytes;
    made.registers = info.registers;
    made.uniform_loads = made.cpu && info.uniform_loads;
    made.unrolled_products = made.uniform_loads && info.checked_pushes;
    made.memory_bytes = static_cast<std::int64_t>(info.memory_bytes);
    made.buffer_bytes = static_cast<std::int64_t>(info.buffer_bytes);
    made.autotuner = device.attached<Autotuner>();
    return made;
}

DeviceTraits traits(const Device& device, const Graph& graph) {
    const DeviceInfo& info = device.info();
    DeviceTraits made = traits(device);
    made.matrices = best_matrices(info.matrices, graph);
    // Kernels of workgroup matrices read and write no 16-bit numbers other than those they compute with. With more
    // invocations, each would have only a few elements of a tile.
    constexpr std::uint32_t most = 256;
    const MatrixElement kept = graph.activations == Format::bf16 ? MatrixElement::bf16 : MatrixElement::fp16;
    if (made.matrices && made.matrices->element == kept && has_workgroup_matrix_kernels(kept))
        for (const GroupMatrices& at : info.workgroup_matrices)
            if (at.element == kept && at.group <= most)
                made.workgroup_matrices = std::max(made.workgroup_matrices, at.group);
    // NVIDIA's GPUs transpose while they load, and their driver is the only one with matrices of a workgroup.
    made.transposing_loads = made.workgroup_matrices > 0;
    return made;
}

// --- Compile -------------------------------------------------------------------------------------

Program::Program(Device& device, Graph& graph, State& state, const ProgramOptions& options)
    : device_(&device), state_(&state), graph_(&graph), options_(options), pace_(options.segment_ms) {
    options_.shares = nullptr;  // may be gone later
    const DeviceTraits device_traits = options.traits ? *options.traits : traits(device, graph);
    run_passes(graph, passes_for(device_traits));
    if (device_traits.autotuner) device_traits.autotuner->prepare(device_traits, graph);
    const LiveNodes live = live_nodes(graph);
    std::vector<std::pair<std::size_t, std::vector<Dispatch>>> lowered;
    std::vector<std::vector<std::int64_t>> scratches(graph.nodes().size());
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (!live[i] || node.is_view()) continue;
        Lowered made = lower(graph, live, node, device_traits);
        scratches[i] = std::move(made.scratches);
        memory_.tables += made.tables;
        lowered.emplace_back(i, std::move(made.dispatches));
    }
    std::int64_t limit = device_traits.buffer_bytes;
    if (options.shares) limit = std::max(limit, static_cast<std::int64_t>(options.shares->arena_->limit()));
    plan_ = plan(graph, live, scratches, {.guard = options_.guarded ? guard_bytes : 0, .limit = limit});
    scratches_ = std::move(scratches);
    allocate(options.shares);
    std::vector<KernelRequest> kernels;
    for (const auto& [node, dispatches] : lowered)
        std::ranges::transform(dispatches, std::back_inserter(kernels), kernel_request);
    make_kernels(device, kernels);
    for (const auto& [node, dispatches] : lowered)
        for (const Dispatch& dispatch : dispatches) launches_.push_back(resolve(node, dispatch));
    tables_.write(0, std::exchange(table_bytes_, {}));
    record();
    host_slots_.push_back(make_host_slot());
}

void Program::lay_out() {
    for (const Storage& storage : graph_->storages()) {
        if (storage.role == Role::state) memory_.states += storage.bytes();
        if (storage.role == Role::constant) memory_.constants += storage.bytes();
        if (storage.role == Role::input) input_places_.push_back({storage.name, storage.type, storage.format});
    }
    written_.assign(input_places_.size(), false);
    loaded_.assign(input_places_.size(), true);
    for (const NamedTensor& output : graph_->outputs())
        output_places_.push_back({output.name, output.tensor.type(), output.tensor.format()});
    const auto lay = [&](auto& places) {
        std::vector<std::int64_t> sizes;
        for (const Place& at : places) sizes.push_back(at.bytes());
        const Packing layout = pack_beside(sizes, static_cast<std::int64_t>(device_->info().buffer_bytes));
        for (std::size_t i = 0; i < places.size(); ++i)
            places[i].offset = static_cast<std::uint64_t>(layout.offsets[i]);
        return layout;
    };
    input_layout_ = lay(input_places_);
    output_layout_ = lay(output_places_);
}

void Program::allocate(const Program* shares) {
    lay_out();
    memory_.arena = plan_.bytes;
    memory_.bound = plan_.bound;
    memory_.inputs = one_run_at_a_time.inputs * input_layout_.bytes;
    memory_.outputs = one_run_at_a_time.outputs * output_layout_.bytes;
    const bool shared = shares && !options_.guarded &&
                        shares->arena_->limit() == static_cast<std::uint64_t>(plan_.limit) &&
                        shares->arena_->bytes() >= static_cast<std::uint64_t>(plan_.bytes);
    require_room(shared);
    require_buffers();
    state_->reserve(*graph_);
    if (shared)
        arena_ = shares->arena_;
    else
        arena_ = std::make_shared<Arena>(arena_of(*device_, plan_, Memory::device, "activations"));
    inputs_ = arena_of(*device_, input_layout_, Memory::device, "inputs");
    inputs_.fill(0);
    tables_ = Buffer(*device_, static_cast<std::uint64_t>(memory_.tables), Memory::device, "tables");
    if (options_.guarded) arena_->fill(poison);
}

void Program::require_room(bool shared) const {
    const std::int64_t fresh = state_->lacking(*graph_);
    const std::int64_t arena = shared ? 0 : memory_.arena;
    const std::int64_t wanted = arena + fresh + memory_.inputs + memory_.outputs + memory_.tables;
    const auto available = static_cast<std::int64_t>(device_->free_bytes());
    if (wanted > available)
        throw Error("not enough memory: ", mebibytes(wanted), " MiB more wanted (activations ", mebibytes(arena),
                    ", parameters and optimiser ", mebibytes(fresh), ", inputs ", mebibytes(memory_.inputs),
                    ", outputs ", mebibytes(memory_.outputs), "), ", device_->info().name, " has ",
                    mebibytes(available), " free", memory_limits());
}

void Program::require_buffers() const {
    for (const Node& node : graph_->nodes())
        for (std::size_t k = 0; k < node.out.size(); ++k)
            if (const Storage& storage = graph_->storage(node.out[k]);
                storage.role == Role::transient && plan_.storage[graph_->value(node.out[k]).storage] != no_place)
                require_buffer(*device_,
                               text(node.scope, node.scope.empty() ? "" : ": ", node.op->name(), ": output ", k, ' ',
                                    storage.type),
                               storage.bytes());
    for (const Place& at : input_places_) require_buffer(*device_, text("input '", at.name, "' ", at.type), at.bytes());
}

std::uint64_t Program::address(Tensor tensor) const {
    const Value& value = graph_->value(tensor);
    const Storage& storage = graph_->storages()[value.storage];
    const auto offset = static_cast<std::uint64_t>(bytes_of(value.offset, storage.format));
    const auto bytes = static_cast<std::uint64_t>(storage.bytes());
    switch (storage.role) {
        case Role::input:
            return inputs_.address(named(input_places_, storage.name).offset, bytes) + offset;
        case Role::state:
        case Role::constant:
            return state_->address(storage) + offset;
        case Role::transient:
            break;
    }
    return arena_->address(static_cast<std::uint64_t>(plan_.storage[value.storage]), bytes) + offset;
}

void Program::set_stamps(bool stamps) {
    require(runs_.empty(), "a run is under way");
    options_.stamps = stamps;
    record();
}

void Program::record() {
    commands_.clear();
    const DeviceTraits device_traits = options_.traits ? *options_.traits : traits(*device_);
    double segment = 0;  // continues in the next part, since parts are submitted as one
    const auto record_part = [&](std::size_t first, std::size_t end) {
        Recorder recorder(*device_, device_traits.cpu ? 1 : open_phases_of_gpu);
        for (std::size_t i = first; i < end; ++i) {
            const Launch& launch = launches_[i];
            if (options_.stamps && (i == first || launch.node != launches_[i - 1].node)) recorder.stamp();
            const double ms = 1e3 * std::max(launch.flops / device_traits.flops_per_second,
                                             launch.bytes / device_traits.bytes_per_second);
            if (segment > 0 && segment + ms > options_.segment_ms) {
                recorder.cut();
                segment = 0;
            }
            segment += ms;
            recorder.dispatch(*launch.kernel, launch.push, launch.groups, launch.accesses);
        }
        if (options_.stamps) recorder.stamp();
        commands_.push_back(recorder.finish());
    };
    if (graph_->hooked().empty()) {
        record_part(0, launches_.size());
    } else {
        const std::size_t nodes = graph_->nodes_before_hook();
        const auto behind = std::ranges::find_if(launches_, [&](const Launch& at) { return at.node >= nodes; });
        const auto middle = static_cast<std::size_t>(behind - launches_.begin());
        record_part(0, middle);
        record_part(middle, launches_.size());
    }
}

Program::HostSlot Program::make_host_slot() const {
    HostSlot slot{.inputs = arena_of(*device_, input_layout_, Memory::upload, "inputs"),
                  .outputs = arena_of(*device_, output_layout_, Memory::readback, "outputs"),
                  .loads = {},
                  .store = {}};
    const InputSet all(input_places_.size(), true);
    slot.loads.emplace(all, record_load(slot.inputs, all));
    Recorder store(*device_);
    for (std::size_t i = 0; i < output_places_.size(); ++i) {
        const Tensor tensor = graph_->outputs()[i].tensor;
        const Value& value = graph_->value(tensor);
        require(graph_->storage(tensor).role == Role::transient, "output '", output_places_[i].name,
                "' must be computed, not a leaf");
        const auto from =
            static_cast<std::uint64_t>(plan_.storage[value.storage] + bytes_of(value.offset, tensor.format()));
        const auto bytes = static_cast<std::uint64_t>(output_places_[i].bytes());
        const auto [holder, at] = arena_->place(from, bytes);
        const auto [host, to] = slot.outputs.place(output_places_[i].offset, bytes);
        store.copy(*holder, at, *host, to, bytes);
    }
    slot.store = store.finish();
    return slot;
}

Commands Program::record_load(const Arena& from, const InputSet& inputs) const {
    Recorder load(*device_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto bytes = static_cast<std::uint64_t>(input_places_[i].bytes());
        if (!inputs[i] || bytes == 0) continue;
        const auto [host, at] = from.place(input_places_[i].offset, bytes);
        const auto [holder, to] = inputs_.place(input_places_[i].offset, bytes);
        load.copy(*host, at, *holder, to, bytes);
    }
    return load.finish();
}

}  // namespace vkf

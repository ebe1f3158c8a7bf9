#include "graph/graph.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"

namespace vkf {

// --- Shapes and handles --------------------------------------------------------------------------

std::int64_t Shape::operator[](int axis) const {
    const int rank = static_cast<int>(extents_.size());
    const int index = axis < 0 ? axis + rank : axis;
    require(index >= 0 && index < rank, "axis ", axis, " of a tensor with shape ", *this);
    return extents_[static_cast<std::size_t>(index)];
}

std::int64_t Shape::elements() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents_) count *= extent;
    return count;
}

std::int64_t Shape::rows() const {
    std::int64_t count = 1;
    for (std::size_t i = 0; i + 1 < extents_.size(); ++i) count *= extents_[i];
    return count;
}

Shape Shape::with_width(std::int64_t width) const {
    Shape changed = *this;
    if (changed.extents_.empty()) changed.extents_.push_back(1);
    changed.extents_.back() = width;
    return changed;
}

std::ostream& operator<<(std::ostream& stream, const Shape& shape) {
    stream << '[';
    for (std::size_t i = 0; i < shape.rank(); ++i) stream << (i ? ", " : "") << shape.extents()[i];
    return stream << ']';
}

std::ostream& operator<<(std::ostream& stream, const TensorType& type) {
    return stream << (type.dtype == DType::f32 ? "f32" : "i32") << type.shape;
}

std::string_view kept(Format format) {
    return format == Format::f32 ? "" : format == Format::bf16 ? " in bf16" : " in f16";
}

const TensorType& Tensor::type() const {
    return graph_->value(*this).type;
}
Format Tensor::format() const {
    return graph_->storage(*this).format;
}
std::int64_t Tensor::pitch() const {
    return graph_->value(*this).pitch;
}

// --- Op defaults ---------------------------------------------------------------------------------

bool Op::reference(std::span<const Array>, std::span<Array>) const {
    return false;
}
std::vector<Tensor> Op::expand(std::span<const Tensor>) const {
    return {};
}
std::optional<std::vector<Tensor>> Op::vjp(const Vjp&) const {
    return std::nullopt;
}
std::optional<View> Op::view(std::span<const Tensor>, std::size_t) const {
    return std::nullopt;
}
KernelTraits Op::kernel_traits(std::span<const Tensor>) const {
    return {};
}
std::optional<std::size_t> Op::updates(std::size_t) const {
    return std::nullopt;
}
bool Op::optional_output(std::size_t) const {
    return false;
}
bool Op::may_alias(std::size_t, std::size_t) const {
    return false;
}

std::size_t Table::rows() const {
    const auto length = [](const Column& column) {
        return std::visit([](const auto& cells) { return cells.size(); }, column);
    };
    const std::size_t first = columns.empty() ? 0 : length(columns.front().second);
    for (const auto& [name, column] : columns)
        require(length(column) == first, "a table's column '", name, "' has ", length(column), " rows, the first ",
                first);
    return first;
}

std::int64_t Table::bytes() const {
    std::int64_t row = 0;
    bool addresses = false;
    for (const auto& [name, column] : columns) {
        const bool tensors = std::holds_alternative<std::vector<Tensor>>(column);
        row += tensors ? 8 : 4;
        addresses = addresses || tensors;
    }
    if (addresses) row = (row + 7) / 8 * 8;
    return static_cast<std::int64_t>(rows()) * row;
}

Args row_of(const Table& table, std::size_t row) {
    Args args;
    for (const auto& [name, column] : table.columns)
        args.emplace_back(name, std::visit([&](const auto& cells) { return ArgValue{cells.at(row)}; }, column));
    return args;
}

Scratch Lowering::scratch(std::int64_t elements) {
    scratches.push_back(elements);
    return Scratch{static_cast<std::uint32_t>(scratches.size() - 1)};
}

Scratch Lowering::shared_scratch(std::optional<Scratch>& shared, std::int64_t elements) {
    if (!shared) shared = scratch(elements);
    scratches[shared->index] = std::max(scratches[shared->index], elements);
    return *shared;
}

std::uint32_t checked_u32(std::int64_t value) {
    require(value >= 0 && value <= std::numeric_limits<std::uint32_t>::max(), value,
            " numbers in one tensor are too many, wanted at most 4294967295: a smaller batch, shorter sequences or a "
            "narrower model");
    return static_cast<std::uint32_t>(value);
}

// --- Graph ---------------------------------------------------------------------------------------

Tensor Graph::leaf(std::string name, TensorType type, Role role) {
    const auto id = static_cast<std::uint32_t>(values_.size());
    const std::int64_t pitch = type.shape.width();
    values_.push_back({type, static_cast<std::uint32_t>(storages_.size()), 0, 0, pitch});
    storages_.push_back({std::move(type), role, name});
    leaves_.push_back({std::move(name), Tensor(*this, id)});
    return leaves_.back().tensor;
}

NamedTensor* Graph::leaf_named(std::string_view name) {
    const auto place = leaf_places_.find(name);
    return place == leaf_places_.end() ? nullptr : &leaves_[place->second];
}

Tensor Graph::input(std::string name, TensorType type) {
    const bool is_new = leaf_places_.emplace(name, leaves_.size()).second;
    require(is_new, "two leaves are called '", name, "'");
    return leaf(std::move(name), std::move(type), Role::input);
}

Tensor Graph::state(std::string name, TensorType type, Format format) {
    require(format == Format::f32 || (type.dtype == DType::f32 && type.shape.width() % 2 == 0), "state '", name,
            "' is ", type, ", wanted f32 rows of even width", kept(format));
    if (const NamedTensor* known = leaf_named(name)) {
        const Tensor tensor = known->tensor;
        require(storage(tensor).role == Role::state, "'", name, "' is an input, not a state");
        require(tensor.type() == type && tensor.format() == format, "state '", name, "' is ", tensor.type(),
                kept(tensor.format()), ", asked for as ", type, kept(format));
        return tensor;
    }
    leaf_places_.emplace(name, leaves_.size());
    const Tensor made = leaf(std::move(name), std::move(type), Role::state);
    storages_.back().format = format;
    return made;
}

void Graph::output(std::string name, Tensor tensor) {
    require(tensor.contiguous(), "output '", name, "' is a slice; make it contiguous first");
    for (const NamedTensor& known : outputs_) require(known.name != name, "two outputs are called '", name, "'");
    outputs_.push_back({std::move(name), tensor});
}

namespace {

std::set<std::uint32_t> ids_of(std::span<const Tensor> tensors) {
    std::set<std::uint32_t> ids;
    for (const Tensor& tensor : tensors) ids.insert(tensor.id());
    return ids;
}

}  // namespace

void Graph::hook(std::vector<Tensor> tensors) {
    require(hooked_.empty(), "a graph has one hook");
    for (const Tensor& tensor : tensors)
        require(tensor.dtype() == DType::f32 && tensor.format() == Format::f32 && tensor.contiguous(), "a hook is for ",
                tensor.type(), kept(tensor.format()), ", wanted contiguous f32");
    const std::set<std::uint32_t> ids = ids_of(tensors);
    for (const Node& node : nodes_)
        for (const Tensor& in : node.in)
            if (in && ids.contains(in.id()))
                throw InputError(node.scope, node.scope.empty() ? "" : ": ", node.op->name(), ": reads ", in.type(),
                                 " before its hook");
    hooked_ = std::move(tensors);
}

std::size_t Graph::nodes_before_hook() const {
    const std::set<std::uint32_t> ids = ids_of(hooked_);
    const auto makes = [&](const Node& node) {
        return std::ranges::any_of(node.out, [&](Tensor out) { return ids.contains(out.id()); });
    };
    const auto last = std::ranges::find_if(nodes_.rbegin(), nodes_.rend(), makes);
    return static_cast<std::size_t>(nodes_.rend() - last);
}

std::vector<Tensor> Graph::add(std::shared_ptr<const Op> op, std::vector<Tensor> in) {
    const auto where = [&] { return (scope.empty() ? std::string() : scope + ": ") + std::string(op->name()) + ": "; };
    require(!passes_ran, where(), "is added to a graph whose passes have run");
    std::vector<TensorType> types;
    for (const Tensor& tensor : in) {
        types.push_back(tensor ? tensor.type() : TensorType{DType::f32, {0}});
        if (!tensor) continue;
        require(&tensor.graph() == this, where(), "an input belongs to another graph");
        require(value(tensor).version == storage(tensor).version, where(), "reads '", storage(tensor).name,
                "' after it was overwritten");
    }
    std::vector<TensorType> out_types;
    try {
        out_types = op->infer(types);
    } catch (const InputError& error) {
        throw InputError(where(), error.what());
    }
    Node node{op, std::move(in), {}, scope};
    for (std::size_t i = 0; i < out_types.size(); ++i) {
        Value made{out_types[i], 0, 0, 0, out_types[i].shape.width()};
        if (const auto view = op->view(node.in, i)) {
            const Value& base = value(node.in[0]);
            made.storage = base.storage;
            made.version = base.version;
            made.offset = base.offset + view->offset;
            made.pitch = view->pitch;
        } else if (const auto target = op->updates(i)) {
            const Value& base = value(node.in[*target]);
            require(out_types[i] == base.type, where(), "would overwrite ", base.type, " with ", out_types[i]);
            require(storages_[base.storage].role != Role::constant, where(), "would overwrite a constant");
            require(base.version == storages_[base.storage].version, where(), "would overwrite '",
                    storages_[base.storage].name, "' twice");
            made = base;
            made.version = ++storages_[base.storage].version;
            NamedTensor* leaf = leaf_named(storages_[made.storage].name);  // its name now stands for the new value
            if (leaf && value(leaf->tensor).storage == made.storage && value(leaf->tensor).offset == made.offset &&
                leaf->tensor.type() == made.type)
                leaf->tensor = Tensor(*this, static_cast<std::uint32_t>(values_.size()));
        } else {
            made.storage = static_cast<std::uint32_t>(storages_.size());
            storages_.push_back({out_types[i], Role::transient, {}});
        }
        node.out.emplace_back(*this, static_cast<std::uint32_t>(values_.size()));
        values_.push_back(std::move(made));
    }
    nodes_.push_back(std::move(node));
    return nodes_.back().out;
}

void Graph::rewrite(const std::function<std::optional<Node>(std::size_t i, Node node)>& by) {
    std::vector<Node> old = std::exchange(nodes_, {});
    std::vector<std::size_t> begins, ends;  // by old node: the range of nodes that replaces it
    for (std::size_t i = 0; i < old.size(); ++i) {
        std::optional<Node> made = by(i, std::move(old[i]));
        begins.push_back(nodes_.size());
        if (made) nodes_.push_back(std::move(*made));
        ends.push_back(nodes_.size());
    }
    for (Region& region : regions_)
        if (region.first < region.end) region = {begins[region.first], ends[region.end - 1]};
}

void Graph::make_slice(Tensor part, Tensor whole, const View& place) {
    const Value& base = value(whole);
    Value& moved = values_[part.id()];
    moved.storage = base.storage;
    moved.version = base.version;
    moved.offset = base.offset + place.offset;
    moved.pitch = place.pitch;
}

void Graph::move_values(std::span<const std::uint32_t> all, Tensor flat, std::int64_t offset) {
    const Value base = value(flat);
    for (const std::uint32_t id : all) {
        Value& moved = values_[id];
        moved.storage = base.storage;
        moved.version = base.version;
        moved.offset += base.offset + offset;
    }
}

void Graph::mark_region(std::size_t first) {
    require(first <= nodes_.size() && (regions_.empty() || regions_.back().end <= first), "a region from node ", first,
            " overlaps another");
    regions_.push_back({first, nodes_.size()});
}

namespace {

Tensor find(const std::vector<NamedTensor>& list, std::string_view kind, std::string_view name) {
    for (const NamedTensor& entry : list)
        if (entry.name == name) return entry.tensor;
    std::string known;
    for (const NamedTensor& entry : list) known += (known.empty() ? "" : ", ") + entry.name;
    throw InputError("no ", kind, " '", name, "'; there are: ", known);
}

}  // namespace

Tensor Graph::input_named(std::string_view name) const {
    return find(leaves_, "input", name);
}
Tensor Graph::output_named(std::string_view name) const {
    return find(outputs_, "output", name);
}

std::string Graph::dump() const {
    std::string lines;
    const auto list = [](const std::vector<Tensor>& tensors) {
        std::string joined;
        for (const Tensor& t : tensors)
            joined += (joined.empty() ? "" : ", ") +
                      (t ? text('%', t.id(), ' ', t.type(), kept(t.format())) : std::string("-"));
        return joined;
    };
    for (const Node& node : nodes_)
        lines += text(list(node.out), " = ", node.op->name(), '(', list(node.in), ')',
                      node.scope.empty() ? "" : "  # " + node.scope, '\n');
    return lines;
}

LiveNodes live_nodes(const Graph& graph) {
    LiveNodes live{std::vector<bool>(graph.nodes().size()), std::vector<bool>(graph.storages().size())};
    for (const NamedTensor& output : graph.outputs()) live.are_read[graph.value(output.tensor).storage] = true;
    for (const Tensor& hooked : graph.hooked()) live.are_read[graph.value(hooked).storage] = true;
    for (std::size_t i = graph.nodes().size(); i-- > 0;) {
        const Node& node = graph.nodes()[i];
        live.nodes[i] = std::any_of(node.out.begin(), node.out.end(), [&](const Tensor& out) {
            return live.are_read[graph.value(out).storage] || graph.storage(out).role == Role::state;
        });
        if (!live[i]) continue;
        for (const Tensor& in : node.in)
            if (in) live.are_read[graph.value(in).storage] = true;
    }
    return live;
}

std::vector<Tensor> outputs_to_make(const Graph& graph, const LiveNodes& live, const Node& node) {
    std::vector<Tensor> made = node.out;
    for (std::size_t k = 0; k < made.size(); ++k)
        if (node.op->optional_output(k) && !live.are_read[graph.value(made[k]).storage]) made[k] = Tensor();
    return made;
}

}  // namespace vkf

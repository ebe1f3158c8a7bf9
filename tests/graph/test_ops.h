// Ops that only tests of the graph need, and a function that returns the message of an exception.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "graph/graph.h"

namespace vkf::test {

/// Message of the InputError that `run` throws; empty if it throws none.
inline std::string message(const std::function<void()>& run) {
    try {
        run();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

/// y = x, without a known derivative.
class Opaque : public Op {
public:
    std::string_view name() const override { return "opaque"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[0]}; }
    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        out[0].at = in[0].at;
        return true;
    }
    void lower(Lowering&) const override {}
};

/// An op that cannot be evaluated: its reference throws.
class Failing : public Opaque {
public:
    bool reference(std::span<const Array>, std::span<Array>) const override { throw Error("evaluated"); }
};

/// w += x in place; the result deliberately has the type of x.
class AddInto : public Op {
public:
    std::string_view name() const override { return "accumulate"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override { return {in[1]}; }
    bool reference(std::span<const Array> in, std::span<Array> out) const override {
        for (std::size_t i = 0; i < out[0].at.size(); ++i) out[0].at[i] = in[0].at[i] + in[1].at[i];
        return true;
    }
    std::optional<std::size_t> updates(std::size_t) const override { return 0; }
    void lower(Lowering&) const override {}
};

/// An op that consists only of its definition in plain ops.
class Expanded : public Op {
public:
    using Definition = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
    Expanded(std::size_t outputs, Definition definition) : outputs_(outputs), definition_(std::move(definition)) {}

    std::string_view name() const override { return "expanded"; }
    std::vector<TensorType> infer(std::span<const TensorType> in) const override {
        return std::vector<TensorType>(outputs_, in[0]);
    }
    std::vector<Tensor> expand(std::span<const Tensor> in) const override { return definition_(in); }
    void lower(Lowering&) const override {}

private:
    std::size_t outputs_;
    Definition definition_;
};

}  // namespace vkf::test

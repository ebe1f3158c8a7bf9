// Layers that models share: functions from tensors to tensors, with parameters found through their scope.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "models/attention/variant.h"
#include "models/scope.h"
#include "ops/rows/norm.h"

namespace vkf {

struct LinearOptions {
    bool bias = true;
    bool out_in = false;  // W is stored [out, in], as in PyTorch's Linear and most others, not [in, out] as in GPT-2
    Init init = Init::normal(0.02f);
    Init bias_init = Init::zeros();
    std::function<Tensor(Tensor)> weight_as = {};  // function of W that replaces W in the product
    float factor = 1.0f;                           // multiplies x·W
    std::optional<Shape> weight_shape = {};  // stored shape of W, if it has more axes than two (as a convolution's)
    Tensor addend = {};                      // added to the result, as a residual
    Tensor row_scale = {};                   // scales all but the addend: a factor per sample, [B, 1, ..., 1]
};

/// The stored weight W of a linear map from `in` to `out` numbers: [in, out], or [out, in] if the options say so.
Tensor linear_weight(const Scope& scope, std::int64_t in, std::int64_t out, const LinearOptions& options);

/// factor · x·W + b: [..., in] → [..., out]; with an adapter (models/adapters/lora.h), factor · (x·W + x·ΔW) + b.
Tensor linear(const Scope& scope, Tensor x, std::int64_t out, const LinearOptions& options = {});

/// residual + drop(x·W + b). Without dropout the product's kernel computes all, including stochastic depth.
Tensor add_linear(const Scope& scope, Tensor residual, Tensor x, LinearOptions options);

/// Name of the second output map W^s beside a first one of this name.
std::string second_map(std::string_view name);

/// residual + drop(W^o·main + W^s·extra) of a variant's output. W^o has the name `name`, W^s `name`_s; W^s has no bias.
Tensor output_maps(const Scope& scope, std::string_view name, const VariantOutput& mixed, std::int64_t out,
                   LinearOptions options, Tensor residual);

/// LayerNorm over the last axis with weight and, if wanted, bias.
Tensor layer_norm(const Scope& scope, Tensor x, bool bias, float eps);

/// RMSNorm over the last axis with a weight.
Tensor rms_norm(const Scope& scope, Tensor x, float eps);

/// Passes x through blocks 0, 1, … one after the other, in scopes of these numbers; each is a region of the graph.
Tensor stack(const Scope& scope, std::int64_t blocks, Tensor x,
             const std::function<Tensor(const Scope& block, Tensor x)>& block);

}  // namespace vkf

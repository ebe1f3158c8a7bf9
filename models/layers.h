// The layers that models share: functions from tensors to tensors, with parameters found through their scope.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "models/attention/mixer.h"
#include "models/scope.h"
#include "ops/norm.h"

namespace vkf {

struct LinearOptions {
    bool bias = true;
    bool out_in = false;  // W is stored [out, in], as PyTorch's Linear and most others do, not [in, out] as GPT-2
    Init init = Init::normal(0.02f);
    Init bias_init = Init::zeros();
    std::function<Tensor(Tensor)> weight_as = {};  // what W is multiplied as, if not as it is
    float factor = 1.0f;                           // of x·W
    std::optional<Shape> weight_shape = {};  // how W is stored, where that has more axes than two (a convolution's)
    Tensor addend = {};                      // added to the result, as a residual
    Tensor row_scale = {};                   // scales all but that: a factor for each sample, [B, 1, ..., 1]
};

/// factor · x·W + b: [..., in] → [..., out]; with an adapter here (models/lora.h), factor · (x·W + x·ΔW) + b.
Tensor linear(const Scope& scope, Tensor x, std::int64_t out, const LinearOptions& options = {});

/// residual + drop(x·W + b). Without dropout the product's kernel does it all, stochastic depth included.
Tensor add_linear(const Scope& scope, Tensor residual, Tensor x, LinearOptions options);

/// residual + drop(W^o·first + W^s·second) of what a mixer makes. W^o is called `name`, W^s `name`_s; W^s has no bias.
Tensor output_maps(const Scope& scope, std::string_view name, const MixerOutput& mixed, std::int64_t out,
                   LinearOptions options, Tensor residual);

/// LayerNorm over the last axis with weight and, if wanted, bias.
Tensor layer_norm(const Scope& scope, Tensor x, bool bias, float eps);

/// RMSNorm over the last axis with a weight.
Tensor rms_norm(const Scope& scope, Tensor x, float eps);

/// x through blocks 0, 1, … one after the other, in scopes of those numbers; each is a region of the graph.
Tensor stack(const Scope& scope, std::int64_t blocks, Tensor x,
             const std::function<Tensor(const Scope& block, Tensor x)>& block);

}  // namespace vkf

// Shared by tests of translation models' golden files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "golden.h"

namespace vkf::test {

/// The gradient of a score is p·(d − Σ p·d), a difference of numbers d = <d_o, v>, so those of queries and keys are as
/// precise as those of values are. That of the keys' bias is zero. Recurrent models have no map of values; there the
/// gradients of all maps in scores are as precise as that of the map of the context is.
inline std::string terms_of_scores(const std::string& name) {
    const std::string attention = "grad.decoder.attn.";
    if (name.starts_with(attention)) return attention + "linear_out.weight";
    for (const std::string_view map : {".q_proj.", ".k_proj."})
        if (const std::size_t at = name.find(map); at != std::string::npos)
            return name.substr(0, at) + ".v_proj." + name.substr(at + map.size());
    return "";
}

/// Compares logits, except those at padding, which have no meaning and are zero in the file, loss and every gradient.
inline void expect_translation_golden(const Safetensors& expected,
                                      const std::function<std::vector<float>(const std::string&)>& read) {
    const std::vector<std::int32_t> targets = integers(expected, "targets");
    const auto read_real = [&](const std::string& name) {
        std::vector<float> values = read(name);
        if (name != "logits") return values;
        const std::size_t width = values.size() / targets.size();
        for (std::size_t i = 0; i < values.size(); ++i)
            if (targets[i / width] < 0) values[i] = 0;
        return values;
    };
    expect_golden(expected, read_real, tolerance(static_cast<double>(expected.read_f32("rounding")[0])),
                  terms_of_scores);
}

}  // namespace vkf::test

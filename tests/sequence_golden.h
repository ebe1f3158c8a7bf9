// Shared by tests of sequence classifiers' golden files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "golden.h"

namespace vkf::test {

/// The gradient of a score is p·(d − Σ p·d), a difference of numbers d = <d_o, v>, so those of queries and keys are as
/// precise as those of values are. That of the keys' bias is zero.
inline std::string terms_of_bert_scores(const std::string& name) {
    for (const std::string_view map : {".self.query.", ".self.key."})
        if (const std::size_t at = name.find(map); at != std::string::npos)
            return name.substr(0, at) + ".self.value." + name.substr(at + map.size());
    return "";
}

/// Compares logits, loss and every gradient.
inline void expect_sequence_golden(const Safetensors& expected,
                                   const std::function<std::vector<float>(const std::string&)>& read) {
    expect_golden(expected, read, tolerance(static_cast<double>(expected.read_f32("rounding")[0])),
                  terms_of_bert_scores);
}

}  // namespace vkf::test

// Shared by tests of sequence classifiers' golden files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "golden.h"

namespace vkf::test {

/// The gradient of a score is p·(d − Σ p·d), a difference of numbers d = <d_o, v>, so those of queries and keys are as
/// precise as those of values are. That of the keys' bias is zero.
inline std::string terms_of_bert_scores(const std::string& name) {
    for (const std::string_view map : {"query", "key"})
        for (const auto& [before, after] : {std::pair{".self.", "."}, {".", "_global."}}) {
            const std::string whole = text(before, map, after);
            if (const std::size_t at = name.find(whole); at != std::string::npos)
                return text(name.substr(0, at), before, "value", after, name.substr(at + whole.size()));
        }
    return "";
}

/// Compares logits, loss and every gradient.
inline void expect_sequence_golden(const Safetensors& expected,
                                   const std::function<std::vector<float>(const std::string&)>& read) {
    expect_golden(expected, read, tolerance(static_cast<double>(expected.read_f32("rounding")[0])),
                  terms_of_bert_scores);
}

}  // namespace vkf::test

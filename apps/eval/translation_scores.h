// BLEU and chrF2 of translations, with sacrebleu's signatures.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/bleu.h"
#include "models/translation/chrf.h"

namespace vkf {

class TranslationScores {
public:
    /// `references` is the number of references of each line.
    explicit TranslationScores(std::size_t references) : references_(references) {}

    void add(std::string_view translation, const std::vector<std::string>& references);

    /// Scores and signatures as members of a document.
    nlohmann::ordered_json document() const;
    /// Lines of sacrebleu's form: one for BLEU, one for chrF2.
    std::string lines() const;

private:
    std::string bleu_signature() const;
    std::string chrf_signature() const;

    std::size_t references_;
    Bleu bleu_;
    ChrF chrf_;
};

}  // namespace vkf

// The largest batch, context and model that some memory holds, found by analysing graphs; `inspect --fit`.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/inspect/analysis.h"
#include "apps/inspect/inspected_model.h"
#include "apps/inspect/largest_size.h"

namespace vkf {

/// Memory in which a model is to fit.
struct Room {
    std::int64_t bytes = 0;
    std::int64_t buffer = std::numeric_limits<std::int64_t>::max();  // bytes of the largest buffer
    std::string device = {};                                         // its name; empty: there is none
};

/// Answer for one kind of work.
struct FittedSize {
    LargestSize largest;
    std::int64_t width = 0;       // of the model, h
    std::int64_t parameters = 0;  // of the model
};

/// The largest value of one quantity, with all others as they are.
struct Fit {
    std::string key;        // in documents: "batch_size"
    std::string one, many;  // for people: "one row of a batch", "rows of a batch"
    FittedSize training = {}, inference = {};
    std::string note = {};  // a sentence about what else grows
    bool resizes = false;   // the quantity is one of the model's
};

/// Finds the largest batch, context (of models of tokens), number of layers and number of heads of a given width. For
/// training, a run's programs are planned; for inference, those that write texts with room for a whole context, or if
/// there are none, the logits of a batch. Throws Error if nothing fits, naming the least memory that does.
std::vector<Fit> find_fits(const InspectedModel& model, const TraitsFor& traits_for, const Room& room);

std::string fits_text(const std::vector<Fit>& fits, const Room& room, bool generates);
nlohmann::ordered_json fits_document(const std::vector<Fit>& fits, const Room& room, bool generates);

}  // namespace vkf

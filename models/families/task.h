// Tasks: what models are for. A family's graph is of one task. Data, loss, training and evaluation belong to the task,
// and are the same for all its families; apps/tasks.h has the commands of each.
#pragma once

#include <string_view>
#include <vector>

#include "models/config/field.h"

namespace vkf {

struct Task {
    std::string_view model;        // "vision model", for people; more of them are called "vision models"
    std::vector<Dimension> sizes;  // sizes that every configuration of the task has, beside the number of layers
};

/// Texts: features and logits of tokens (models/language_model.h).
const Task& language_task();
/// Images: logits of their classes (models/image_model.h).
const Task& image_task();
/// Pairs of sentences: logits of the tokens of a target that belongs to a source (models/translation_model.h).
const Task& translation_task();
/// Sequences of tokens, such as texts: logits of their classes (models/sequence_model.h).
const Task& sequence_task();

}  // namespace vkf

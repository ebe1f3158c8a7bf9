// Report of `inspect --fit`.

#include <nlohmann/json.hpp>

#include "apps/cli/common.h"
#include "apps/inspect/inspect_fit.h"

namespace vkf {

using nlohmann::ordered_json;

namespace {

const char* name_of_inference(bool generates) {
    return generates ? "generation" : "inference";
}

std::string memory_words(std::int64_t bytes) {
    return bytes_text(static_cast<double>(bytes));
}

/// The size with what it means for the model: "31, h = 1984, 1.20 G parameters".
std::string fit_cell(const Fit& fit, const FittedSize& at) {
    if (at.largest.size == 0) return "none";
    std::string words = text(at.largest.size);
    if (fit.key == "heads" && at.width > 0) words += text(", h = ", at.width);
    if (fit.resizes) words += text(", ", count_text(static_cast<double>(at.parameters)), " parameters");
    return words;
}

/// The first size that does not fit, and the reason.
std::string next_words(const Fit& fit, const FittedSize& at, const char* work, const Room& room) {
    const std::int64_t size = at.largest.size + 1;
    const std::string subject = text(size == 1 ? fit.one : text(size, ' ', fit.many), " in ", work);
    if (!at.largest.next.refusal.empty()) return text(subject, ": ", at.largest.next.refusal);
    return text(subject, ": ", memory_words(at.largest.next.bytes - room.bytes), " too much");
}

ordered_json fit_document(const Fit& fit, const FittedSize& at) {
    ordered_json made{{"largest", at.largest.size}, {"bytes", at.largest.bytes}};
    if (at.largest.next.refusal.empty())
        made["next_bytes"] = at.largest.next.bytes;
    else
        made["next_refusal"] = at.largest.next.refusal;
    if (fit.resizes) made["parameters"] = at.parameters;
    if (fit.key == "heads") made["width"] = at.width;
    made["analyses"] = at.largest.evaluations;
    return made;
}

}  // namespace

std::string fits_text(const std::vector<Fit>& fits, const Room& room, bool generates) {
    const char* const inference = name_of_inference(generates);
    std::vector<std::vector<std::string>> rows{{"largest", "training", "takes", inference, "takes"}};
    std::string limits, notes;
    const auto bytes = [](const FittedSize& at) { return at.largest.size > 0 ? memory_words(at.largest.bytes) : ""; };
    for (const Fit& fit : fits) {
        rows.push_back({fit.many, fit_cell(fit, fit.training), bytes(fit.training), fit_cell(fit, fit.inference),
                        bytes(fit.inference)});
        limits += text("  ", next_words(fit, fit.training, "training", room), "; ",
                       next_words(fit, fit.inference, inference, room), "\n");
        if (!fit.note.empty()) notes += fit.note + "\n";
    }
    const std::string place = room.device.empty() ? "" : text(" of ", room.device);
    return text("\nThe largest that fits in ", memory_words(room.bytes), place, ", other sizes as above\n", table(rows),
                "The next larger does not fit:\n", limits, notes);
}

ordered_json fits_document(const std::vector<Fit>& fits, const Room& room, bool generates) {
    ordered_json training = ordered_json::object(), inference = ordered_json::object();
    for (const Fit& fit : fits) {
        training[fit.key] = fit_document(fit, fit.training);
        inference[fit.key] = fit_document(fit, fit.inference);
    }
    ordered_json made{{"memory", room.bytes}};
    if (!room.device.empty()) {
        made["device"] = room.device;
        made["largest_buffer"] = room.buffer;
    }
    made["training"] = std::move(training);
    made[name_of_inference(generates)] = std::move(inference);
    return made;
}

}  // namespace vkf

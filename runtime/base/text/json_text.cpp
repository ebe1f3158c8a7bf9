#include "base/text/json_text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text/plain_text.h"
#include "base/text/utf8.h"

namespace vkf {

using nlohmann::ordered_json;

namespace {

/// Escapes other characters than C0 that steer terminals; nlohmann escapes C0. They occur only in strings.
std::string escaped(const std::string& document) {
    std::string made;
    made.reserve(document.size());
    for (std::size_t at = 0; at < document.size();) {
        const auto [value, bytes] = decode_utf8(document, at);
        if (steers_terminals(value) && value != '\n') {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(value));
            made += escape;
        } else {
            made.append(document, at, bytes);
        }
        at += bytes;
    }
    return made;
}

double rounded(double value) {
    if (!std::isfinite(value) || value == std::nearbyint(value)) return value;
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.10g", value);
    return std::strtod(digits, nullptr);
}

}  // namespace

std::string json_text(const ordered_json& value, int indent) {
    return escaped(value.dump(indent, ' ', false, ordered_json::error_handler_t::replace));
}

ordered_json rounded(ordered_json value) {
    if (value.is_number_float()) return rounded(value.get<double>());
    if (value.is_structured())
        for (auto& part : value) part = rounded(std::move(part));
    return value;
}

std::string document_text(const ordered_json& document) {
    return json_text(rounded(document), 2) + "\n";
}

}  // namespace vkf

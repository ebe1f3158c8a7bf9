// Results that a command prints at its end.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/cli/common.h"
#include "base/text/json_text.h"
#include "base/text/plain_text.h"

namespace vkf {

/// Prints one line per key, or with --json one document.
inline void print_facts(const Common& common, const nlohmann::ordered_json& facts) {
    if (common.json) return print_json(facts);
    for (const auto& [key, value] : facts.items())
        print(
            text(key, ' ', plain_line(value.is_string() ? value.get<std::string>() : json_text(rounded(value))), '\n'));
}

}  // namespace vkf

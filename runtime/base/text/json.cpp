#include "base/text/json.h"

#include "base/text/json_builder.h"

namespace vkf {

using nlohmann::json;

json parse_json(std::string_view words, const std::string& subject, std::size_t depth) {
    return JsonBuilder(subject, depth).parse(words);
}

std::string one_line(const json& value) {
    std::string line = value.dump(-1, ' ', true, json::error_handler_t::replace);
    return line.size() <= 120 ? line : line.substr(0, 120) + "…";
}

}  // namespace vkf

#include "base/json.h"

#include <set>
#include <vector>

#include "base/error.h"

namespace vkf {

using nlohmann::json;

json parse_json(std::string_view words, const std::string& subject, std::size_t depth) {
    // To the parser a zero byte ends the text; whatever follows would go unread.
    const std::size_t zero = words.find('\0');
    require(zero == words.npos, subject, " is not JSON (byte ", zero, " is zero)");
    std::vector<std::set<std::string, std::less<>>> keys(1);  // of the objects that are open
    const auto check = [&](int open, json::parse_event_t event, json& value) {
        const auto level = static_cast<std::size_t>(open);
        if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
            require(level < depth, subject, " nests deeper than ", depth, " levels");
            keys.resize(level + 1);
            keys.emplace_back();
        } else if (event == json::parse_event_t::key) {
            if (!keys[level].insert(value.get<std::string>()).second)
                throw InputError(subject, " has ", one_line(value), " twice");
        }
        return true;
    };
    try {
        return json::parse(words.begin(), words.end(), check);
    } catch (const json::parse_error& error) {
        throw InputError(subject, " is not JSON (byte ", error.byte, " of ", words.size(), ")");
    } catch (const json::exception&) {
        throw InputError(subject, " is not JSON (a number is out of range)");
    }
}

std::string one_line(const json& value) {
    std::string line = value.dump(-1, ' ', true, json::error_handler_t::replace);
    return line.size() <= 120 ? line : line.substr(0, 120) + "…";
}

}  // namespace vkf

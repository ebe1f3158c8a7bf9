#include "base/text/json_builder.h"

#include <utility>

#include "base/error.h"
#include "base/text/json.h"

namespace vkf {

using nlohmann::json;

json JsonBuilder::parse(std::string_view words) {
    // The parser ends the text at a zero byte, and would not read the rest.
    const std::size_t zero = words.find('\0');
    require(zero == words.npos, subject_, " is not JSON (byte ", zero, " is zero)");
    bytes_ = words.size();
    json::sax_parse(words.begin(), words.end(), this);
    return std::move(root_);
}

bool JsonBuilder::key(string_t& value) {
    if (hands_over()) {
        key_ = std::move(value);
        values_ = 0;
        return true;
    }
    const auto [at, fresh] = open_.back()->get_ref<json::object_t&>().try_emplace(std::move(value));
    require(fresh, subject_, " has ", one_line(at->first), " twice");
    slot_ = &at->second;
    return true;
}

bool JsonBuilder::parse_error(std::size_t byte, const std::string&, const json::exception& error) {
    constexpr int out_of_range = 406;
    if (error.id == out_of_range) throw InputError(subject_, " is not JSON (a number is out of range)");
    throw InputError(subject_, " is not JSON (byte ", byte, " of ", bytes_, ")");
}

json& JsonBuilder::add(json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (take_ && ++values_ > most_)
        throw InputError(subject_, ": ", one_line(key_), " has more than ", most_, " values");
    if (hands_over()) return member_ = std::move(value);
    if (open_.back()->is_array()) return open_.back()->emplace_back(std::move(value));
    return *slot_ = std::move(value);
}

bool JsonBuilder::put(json value) {
    add(std::move(value));
    if (hands_over()) hand_over();
    return true;
}

bool JsonBuilder::open(json container) {
    require(open_.size() < depth_, subject_, " nests deeper than ", depth_, " levels");
    open_.push_back(&add(std::move(container)));
    return true;
}

bool JsonBuilder::close() {
    open_.pop_back();
    if (hands_over()) hand_over();
    return true;
}

void JsonBuilder::hand_over() {
    if (!root_.is_object()) return;
    take_(key_, member_);
    member_ = nullptr;
}

}  // namespace vkf

// JSON values built from a parser's events: parses a text of any size with no more memory than its values take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// Takes the events of nlohmann's parser. Throws InputError, beginning with `subject`, if objects and arrays nest
/// deeper than `depth`, if an object has a key twice, and if the text is not JSON.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    using json = nlohmann::json;
    using Take = std::function<void(const std::string& key, const json& value)>;

    JsonBuilder(const std::string& subject, std::size_t depth) : subject_(subject), depth_(depth) {}
    /// Passes the members of the outermost object to `take` one by one and keeps none. `take` must handle keys that
    /// come twice. A member of more than `most` values is refused.
    JsonBuilder(const std::string& subject, std::size_t depth, std::size_t most, Take take)
        : subject_(subject), depth_(depth), most_(most), take_(std::move(take)) {}

    /// Parses the whole text; returns its value without the members that were passed to `take`.
    json parse(std::string_view words);

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t&) override { return put(value); }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t&) override { return false; }  // JSON has none
    bool start_object(std::size_t) override { return open(json::object()); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(json::array()); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override;
    bool parse_error(std::size_t byte, const std::string& token, const json::exception& error) override;

private:
    bool hands_over() const { return take_ && open_.size() == 1; }
    json& add(json value);
    bool put(json value);
    bool open(json container);
    bool close();
    void hand_over();

    const std::string& subject_;
    std::size_t depth_, most_ = 0, bytes_ = 0, values_ = 0;
    Take take_;
    json root_, member_;
    std::string key_;          // key of the member that is passed on next
    std::vector<json*> open_;  // objects and arrays, the outermost first
    json* slot_ = nullptr;     // place of an object's next value
};

}  // namespace vkf

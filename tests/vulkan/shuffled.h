// What stands between two barriers in another order.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace vkf::test {

/// Programs compiled while this lives run each phase's commands in an order drawn from the seed; without one, as they
/// were recorded.
class Shuffled {
public:
    explicit Shuffled(const std::optional<std::string>& seed) {
        if (const char* value = std::getenv(name)) before_ = value;
        set(seed);
    }
    Shuffled(const Shuffled&) = delete;
    ~Shuffled() { set(before_); }

private:
    static constexpr const char* name = "VKFORMER_SHUFFLE";

    static void set(const std::optional<std::string>& value) {
        if (value)
            ::setenv(name, value->c_str(), 1);
        else
            ::unsetenv(name);
    }

    std::optional<std::string> before_;
};

}  // namespace vkf::test

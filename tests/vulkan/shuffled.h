// Runs the commands between two barriers in another order.
#pragma once

#include <optional>
#include <string>

#include "base/os/os.h"

namespace vkf::test {

/// Programs compiled while this object lives run each phase's commands in an order drawn from the seed; without a seed,
/// in the order in which they were recorded.
class Shuffled {
public:
    explicit Shuffled(const std::optional<std::string>& seed) { set(seed); }
    Shuffled(const Shuffled&) = delete;
    ~Shuffled() { set(before_); }

private:
    static constexpr const char* name = "VKFORMER_SHUFFLE";

    static void set(const std::optional<std::string>& value) { os::set_environment(name, value); }

    std::optional<std::string> before_ = os::environment(name);
};

}  // namespace vkf::test

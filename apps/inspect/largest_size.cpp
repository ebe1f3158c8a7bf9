#include "apps/inspect/largest_size.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"

namespace vkf {

namespace {

struct Point {
    std::int64_t size = 0;
    Demand demand = {};

    bool fits(std::int64_t room) const { return demand.refusal.empty() && demand.bytes <= room; }
};

/// Size at which the line through both points reaches `room`; nothing if it does not rise.
std::optional<double> crossing(const Point& a, const Point& b, std::int64_t room) {
    if (!a.demand.refusal.empty() || !b.demand.refusal.empty()) return {};
    const double rise = static_cast<double>(b.demand.bytes - a.demand.bytes),
                 run = static_cast<double>(b.size - a.size);
    if (rise <= 0) return {};
    return static_cast<double>(a.size) + static_cast<double>(room - a.demand.bytes) * run / rise;
}

}  // namespace

LargestSize largest_size(const std::function<Demand(std::int64_t size)>& demand, std::int64_t room, std::int64_t most) {
    LargestSize found;
    const auto at = [&](std::int64_t size) {
        ++found.evaluations;
        return Point{size, demand(size)};
    };
    Point below = at(1);  // the largest size that is known to fit
    if (!below.fits(room)) return {.next = below.demand, .evaluations = found.evaluations};
    Point before = below;        // the largest but one
    std::optional<Point> above;  // the smallest size that is known not to fit
    for (bool bisects = false; (above ? above->size : most + 1) - below.size > 1; bisects = !bisects) {
        const std::int64_t end = above ? above->size : most + 1;
        const std::optional<double> line = above ? crossing(below, *above, room) : crossing(before, below, room);
        // Without an upper bound sizes at least double, and follow the line for three doublings at most.
        std::int64_t next = above ? below.size + (end - below.size) / 2 : 2 * below.size;
        if (line && above && !bisects) next = static_cast<std::int64_t>(*line);
        if (line && !above)
            next = static_cast<std::int64_t>(
                std::clamp(*line, static_cast<double>(below.size + 1), 8.0 * static_cast<double>(below.size)));
        const Point tried = at(std::clamp(next, below.size + 1, end - 1));
        if (tried.fits(room))
            before = std::exchange(below, tried);
        else
            above = tried;
    }
    found.size = below.size;
    found.bytes = below.demand.bytes;
    found.next = above ? above->demand : Demand{.refusal = text("sizes beyond ", most, " are not tried")};
    return found;
}

}  // namespace vkf

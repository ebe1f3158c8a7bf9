// Progress and messages of a device's autotuner while it tries out kernels.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apps/cli/progress.h"

namespace vkf {

/// Shows stages one after the other, each with a line of progress, and notes between them.
class TuningProgress {
public:
    explicit TuningProgress(const Common& common) : common_(common) {}

    /// The first update of a stage begins its line; the last update removes it.
    void update(std::string_view title, std::string_view unit, std::size_t done, std::size_t all) {
        const auto count = [](std::size_t number) { return static_cast<std::int64_t>(number); };
        if (title != title_) stage_.emplace(common_, title_ = title, std::string(unit), count(all));
        stage_->update(count(done));
        if (done < all) return;
        stage_.reset();
        title_.clear();
    }

    void tell(std::string_view line) {
        if (stage_) stage_->clear();
        note(common_, line);
    }

private:
    const Common& common_;
    std::string title_;
    std::optional<Progress> stage_;
};

}  // namespace vkf

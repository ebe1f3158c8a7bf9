#include "apps/cli/matrix_trial.h"

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "apps/cli/common.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/raw_output.h"
#include "base/error.h"
#include "base/os/child_process.h"
#include "base/os/os.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "checks/device/matrix_products.h"
#include "program/tuning_cache.h"

namespace vkf {

// --- The process that tries ----------------------------------------------------------------------

namespace {

constexpr const char* listing = "list";

void say(const nlohmann::ordered_json& line) {
    print_as_is(json_text(line) + "\n");
}

/// True if the device can still be used after an error.
bool is_usable(const Device& device) {
    try {
        device.wait_idle();
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

void try_matrices(const Common& common, std::int64_t first) {
    Device device(wanted_device(common), {}, [](const DeviceInfo&) {
        say({{"part", listing}, {"product", -1}});
        return MatrixFaults();
    });
    if (device.info().kind != DeviceKind::cpu) device.set_patience(std::chrono::seconds(20));
    const std::vector<checks::MatrixProduct> list = checks::matrix_products(device);
    for (std::int64_t i = first; i < std::ssize(list); ++i) {
        const checks::MatrixProduct& product = list[static_cast<std::size_t>(i)];
        say({{"part", product.part}, {"product", i}});
        try {
            const std::string fault = product.fault(device);
            if (!fault.empty()) say({{"fault", text(product.name, ": ", fault)}});
        } catch (const Error& error) {
            // Other errors, such as too little memory, are no fault of the matrices.
            if (is_usable(device)) continue;
            say({{"fault", text(product.name, ": ", error.what())}});
            throw;
        }
    }
}

// --- The process that starts it ------------------------------------------------------------------

namespace {

using Clock = std::chrono::steady_clock;

/// A process that tries a device's matrices, from a product on.
class TrialProcess {
public:
    TrialProcess(const DeviceInfo& device, std::int64_t first) : process_(words_of(device, first)) {}

    /// Waits until it ends, or ends it if a part takes too long. Returns the fault of the part that it was in, if it
    /// did not end by itself.
    std::string finish() {
        while (process_.open() || !process_.ended()) {
            stop_if_interrupted();
            process_.read(output_, errors_, std::chrono::milliseconds(20));
            for (std::size_t end; (end = output_.find('\n')) != std::string::npos; output_.erase(0, end + 1))
                take(output_.substr(0, end));
            if (Clock::now() - since_ < patience()) continue;
            process_.kill();
            return text("does not end within ", patience().count(), " s");
        }
        // The program's own statuses: done, failed, bad input, interrupted.
        for (const int own : {0, 1, 2, 130})
            if (process_.status() == own) return {};
        return status_text(process_.status());
    }

    /// Part and product that it was in; no part if none has begun. Products that were wrong.
    const std::string& part() const { return part_; }
    std::int64_t product() const { return product_; }
    const MatrixFaults& wrong() const { return wrong_; }
    /// True if it ended after all products.
    bool done() { return process_.ended() && process_.status() == 0; }
    std::string complaint() const { return errors_.substr(0, errors_.find('\n')); }

private:
    static std::vector<std::string> words_of(const DeviceInfo& device, std::int64_t first) {
        std::vector<std::string> words = program_words();
        words.insert(words.end(), {"check", "--try-matrices", std::to_string(first), "--device",
                                   std::to_string(device.index), "--quiet"});
        return words;
    }

    std::chrono::seconds patience() const {
        // A driver may compile a kernel for long, but answers a question at once.
        return std::chrono::seconds(part_.empty() ? 30 : part_ == listing ? 10 : 60);
    }

    void take(const std::string& words) {
        const nlohmann::json line = parse_json(words, "a line of a trial of matrices");
        since_ = Clock::now();
        if (line.contains("fault")) {
            wrong_.try_emplace(part_, line.at("fault"));
            return;
        }
        part_ = line.at("part");
        product_ = line.at("product");
    }

    ChildProcess process_;
    std::string output_, errors_, part_;
    std::int64_t product_ = -1;
    MatrixFaults wrong_;
    Clock::time_point since_ = Clock::now();
};

/// Faults of a device's matrices. A process that does not end by itself is followed by one that begins with the next
/// product. Throws Error if no verdict is possible.
MatrixFaults tried(const DeviceInfo& device) {
    MatrixFaults faults;
    for (std::int64_t first = 0;;) {
        TrialProcess process(device, first);
        const std::string fault = process.finish();
        faults.insert(process.wrong().begin(), process.wrong().end());
        if (process.done()) return faults;
        const bool lost = process.wrong().contains(process.part());  // the process has said so, and given up
        if (process.part().empty() || (fault.empty() && !lost))
            throw Error(fault.empty() ? process.complaint() : fault);
        if (!lost) faults.try_emplace(process.part(), fault);
        if (process.part() == listing) return faults;
        first = process.product() + 1;
    }
}

/// Verdict of an earlier command; nothing if there is none.
std::optional<MatrixFaults> kept(const DeviceInfo& device) {
    try {
        if (const auto place = tuning_cache_place()) return read_tuning_cache(device, *place).matrices;
    } catch (const InputError&) {
        // The file is made anew.
    }
    return std::nullopt;
}

void keep(const DeviceInfo& device, const MatrixFaults& faults) {
    try {
        if (const auto place = tuning_cache_place()) write_tuning_cache(device, *place, {.matrices = faults});
    } catch (const std::exception&) {
        // The cache only saves time.
    }
}

std::string one_line(const MatrixFaults& faults) {
    std::string list;
    for (const auto& [part, fault] : faults)
        list += text(list.empty() ? "" : "; ", part == listing ? "a process that asked for them " : part + ": ", fault);
    return list;
}

MatrixFaults verdict(const DeviceInfo& device, const std::function<void(const std::string&)>& tell) {
    std::optional<MatrixFaults> faults = kept(device);
    const char* advice = " (`vkformer check --forget` lets them be tried again)";
    if (!faults) {
        try {
            faults = tried(device);
            keep(device, *faults);
        } catch (const Error& error) {
            faults = MatrixFaults{{listing, text("gave no answer: ", error.what())}};
            advice = "";
        }
    }
    if (!faults->empty() && tell)
        tell(text("cooperative matrices of ", device.name, " are not used: ", one_line(*faults), advice));
    return *faults;
}

}  // namespace

MatrixTrial matrix_trial(std::function<void(const std::string&)> tell) {
    if (os::environment("VKFORMER_MATRIX_TRIAL") == "off") return {};
    return [tell = std::move(tell)](const DeviceInfo& device) {
        // A command may list devices several times.
        static std::map<std::string, MatrixFaults> known;
        const std::string key = text(device.identity, ' ', device.driver, ' ', device.subgroup_size);
        if (const auto found = known.find(key); found != known.end()) return found->second;
        return known[key] = verdict(device, tell);
    };
}

}  // namespace vkf

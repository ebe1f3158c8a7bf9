#include "base/error.h"
#include "models/data/images/md5.h"

namespace vkf {

// Uses the system's md5sum, since fetching needs other programs anyway: our own digest would be code to maintain, a
// library one more dependency, both for a check that runs once per download.
std::string md5_of(const std::filesystem::path& path, const GoOn& go_on) {
    const Outcome outcome = run_program({"md5sum", "--", path.string()}, go_on);
    if (outcome.stopped || outcome.status != 0) throw Error("cannot check ", path.string(), ": ", outcome.complaint());
    const std::size_t from = outcome.output.starts_with('\\') ? 1 : 0;  // marks a name with odd characters
    return outcome.output.substr(from, 32);
}

}  // namespace vkf

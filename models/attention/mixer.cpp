#include "models/attention/mixer.h"

#include <algorithm>

#include "base/error.h"

namespace vkf {

#define MIXER(function) const Mixer& function();
#include "models/attention/mixers.def"
#undef MIXER

std::span<const Mixer* const> mixers() {
    static const Mixer* const all[] = {
#define MIXER(function) &function(),
#include "models/attention/mixers.def"
#undef MIXER
    };
    return all;
}

const Mixer& mixer_named(std::string_view name) {
    for (const Mixer* mixer : mixers())
        if (mixer->name == name) return *mixer;
    std::string known;
    for (const std::string& other : mixer_names()) known += (known.empty() ? "" : ", ") + other;
    throw InputError("unknown attention variant '", name, "'; there are: ", known);
}

std::vector<std::string> mixer_names() {
    std::vector<std::string> names;
    for (const Mixer* mixer : mixers()) names.emplace_back(mixer->name);
    return names;
}

std::string mixers_with(std::string_view option_key) {
    std::vector<std::string> names;
    for (const Mixer* mixer : mixers()) {
        const std::vector<Field> own = mixer->options.places();
        if (std::ranges::find(own, option_key, &Field::key) != own.end()) names.emplace_back(mixer->name);
    }
    return listed(names);
}

}  // namespace vkf

// attentionx: the consensus discrepancy between the values and their weighted sum,
//     φ_i = v_i − γ·o_i  (gamma on the sum, 000 eq 10-11)   or   φ_i = γ·v_i − o_i  (on the value, 001 eq 9-10).

#include <limits>

#include "models/attention/variant.h"
#include "models/families/task.h"

namespace vkf {

namespace {

struct AttentionX {
    float gamma = 1.0f;
    GammaOn on = GammaOn::sum;

    std::vector<Field> fields() {
        constexpr float any = std::numeric_limits<float>::max();
        static constexpr std::pair<const char*, GammaOn> words[] = {{"sum", GammaOn::sum}, {"value", GammaOn::value}};
        return {{.key = "gamma",
                 .value = Number{.value = &gamma, .least = -any, .most = any},
                 .help = "attentionx's gamma; else the papers' choice for the model",
                 .unset_by_default = true},
                {.key = "gamma_on",
                 .value = choice(on, words),
                 .help = "attentionx: v - gamma o (sum) or gamma v - o (value)"}};
    }
    bool operator==(const AttentionX&) const = default;
};

/// The papers' rule: gamma is 1 where no token attends to itself, as in their vision transformers. Where tokens attend
/// to themselves, gamma is above 1 on the sum and below 1 on the value.
void choose(AttentionConfig& config, const Task& task, const Given& given) {
    auto& own = config.options.as<AttentionX>();
    const bool gamma = given("gamma");
    if (!given("mask_diagonal")) config.mask_diagonal = &task == &image_task() && (!gamma || own.gamma == 1.0f);
    if (!gamma) own.gamma = config.mask_diagonal ? 1.0f : own.on == GammaOn::sum ? 3.0f : 0.5f;
}

VariantOutput mix(const AttentionContext& at) {
    const auto& own = at.config.options.as<AttentionX>();
    return {at.discrepancy(own.gamma, own.on)};
}

}  // namespace

const AttentionVariant& attentionx_variant() {
    static const AttentionVariant variant{.name = "attentionx", .mix = mix, .options = AttentionX(), .choose = choose};
    return variant;
}

}  // namespace vkf

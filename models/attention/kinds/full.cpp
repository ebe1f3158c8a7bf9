// full: every query attends to every key that the model's own mask shows it.

#include "models/attention/kind.h"

namespace vkf {

const AttentionKind& full_attention_kind() {
    static const AttentionKind kind{.name = "full"};
    return kind;
}

}  // namespace vkf

// standard: o_i itself (AttentionX 000 eq 9; BeliefFormer 002 eq 6-9).

#include "models/attention/attention.h"

namespace vkf {

Signals standard(const Heads& heads) {
    return {heads.o};
}

}  // namespace vkf

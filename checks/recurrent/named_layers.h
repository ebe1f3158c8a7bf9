// The recurrent layers, for tables that have a case of each.
#pragma once

#include <array>

#include "ops/recurrent/sequence.h"

namespace vkf::checks {

struct NamedLayer {
    const char* name;
    Cell cell;
    RecurrentSequence (*layer)(Tensor, Tensor, Tensor, const RecurrentOptions&);
};

inline std::array<NamedLayer, 3> recurrent_layers() {
    return {{{"rnn", Cell::rnn, rnn}, {"lstm", Cell::lstm, lstm}, {"gru", Cell::gru, gru}}};
}

}  // namespace vkf::checks

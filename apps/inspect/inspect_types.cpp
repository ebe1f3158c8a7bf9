#include "apps/inspect/inspect_types.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <vector>

#include "apps/cli/common.h"

namespace vkf {

namespace {

/// "h.3.attn.c_attn: matmul" → "h.*.attn.c_attn: matmul".
std::string without_numbers(const std::string& scoped) {
    static const std::regex number(R"((^|[.])[0-9]+(?=[.:]))");
    return std::regex_replace(scoped, number, "$1*");
}

/// Tensors of a training step, of any block, that stay fp32 for the same reason.
struct WideTensors {
    std::string made_by, why;
    Shape shape;
    std::int64_t tensors = 0, bytes = 0;
};

/// Groups of tensors that stay fp32, most bytes first.
std::vector<WideTensors> wide_tensors(const Analysis& a) {
    std::vector<WideTensors> list;
    for (const Resident& r : a.residents) {
        if (r.why_f32.empty()) continue;
        const WideTensors one{without_numbers(r.scope + (r.scope.empty() ? "" : ": ") + r.op),
                              without_numbers(r.why_f32), r.shape};
        const auto alike = [&](const WideTensors& at) {
            return at.made_by == one.made_by && at.why == one.why && at.shape == one.shape;
        };
        const auto found = std::ranges::find_if(list, alike);
        WideTensors& group = found != list.end() ? *found : list.emplace_back(one);
        ++group.tensors;
        group.bytes += r.bytes;
    }
    std::ranges::stable_sort(list, std::greater(), &WideTensors::bytes);
    return list;
}

}  // namespace

nlohmann::ordered_json types_document(const Analysis& a) {
    auto list = nlohmann::ordered_json::array();
    for (const WideTensors& at : wide_tensors(a)) {
        const auto extents = at.shape.extents();
        list.push_back({{"made_by", at.made_by},
                        {"shape", std::vector(extents.begin(), extents.end())},
                        {"tensors", at.tensors},
                        {"bytes", at.bytes},
                        {"why_f32", at.why}});
    }
    return list;
}

std::string types_text(const Analysis& a) {
    std::vector<std::vector<std::string>> rows{{"bytes", "tensors", "shape", "made by", "fp32 because"}};
    for (const WideTensors& at : wide_tensors(a))
        rows.push_back(
            {bytes_text(static_cast<double>(at.bytes)), text(at.tensors), text(at.shape), at.made_by, at.why});
    const auto half = std::ranges::count_if(a.residents, [](const Resident& r) { return r.format != Format::f32; });
    return text("\nOf ", a.residents.size(), " tensors of a training step ", half, " are kept in 16 bits; in fp32:\n",
                table(rows));
}

}  // namespace vkf

#include "apps/bench/compile_report.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/files/file.h"
#include "base/text/json.h"

namespace vkf {

using nlohmann::ordered_json;

ordered_json document(const CompileReport& report) {
    ordered_json list = ordered_json::array();
    for (const CompiledKernel& k : report.kernels) {
        ordered_json entry{{"kernel", k.kernel}, {"implementation", nullptr}};
        if (!k.implementation.empty()) entry["implementation"] = k.implementation;
        entry.update({{"precision", k.precision}, {"family", k.family}, {"name", k.name}, {"shape", k.shape}});
        if (!k.layout.empty()) entry["layout"] = k.layout;
        entry["uses"] = k.uses;
        entry["constants"] = k.constants;
        if (!k.error.empty()) {
            entry["error"] = k.error;
        } else {
            entry["compile_ms"] = k.compile_ms;
            for (std::size_t i = 0; i < k.figures.size(); ++i) entry[figure_names[i]] = figure_document(k.figures[i]);
            ordered_json& own = entry["statistics"] = ordered_json::object();
            for (const auto& [name, value] : k.statistics) own[name] = figure_document(value);
        }
        if (!k.isa.empty()) entry["isa"] = k.isa;
        list.push_back(std::move(entry));
    }
    ordered_json root = document(report.head);
    root["kernels"] = std::move(list);
    return root;
}

bool is_compile_report(const nlohmann::json& root) {
    return root.is_object() && root.contains("kernels") && root["kernels"].is_array();
}

CompileReport read_compile_report(const std::filesystem::path& path) {
    const std::string wrong = path.string() + ": is no report of vkformer bench compile: ";
    const nlohmann::json root = parse_json(read_text(path), wrong + "it");
    try {
        CompileReport made{.head = read_head(root), .kernels = {}};
        for (const nlohmann::json& entry : root.at("kernels")) {
            const nlohmann::json& implementation = entry.at("implementation");
            CompiledKernel k{.kernel = entry.at("kernel"),
                             .implementation = implementation.is_null() ? "" : implementation.get<std::string>(),
                             .precision = entry.at("precision"),
                             .family = entry.at("family"),
                             .name = entry.at("name"),
                             .shape = entry.at("shape"),
                             .layout = entry.value("layout", ""),
                             .uses = entry.at("uses"),
                             .constants = entry.at("constants"),
                             .isa = entry.value("isa", ""),
                             .error = entry.value("error", "")};
            if (k.error.empty()) {
                k.compile_ms = entry.at("compile_ms");
                for (std::size_t i = 0; i < k.figures.size(); ++i)
                    if (const nlohmann::json& figure = entry.at(figure_names[i]); !figure.is_null())
                        k.figures[i] = figure.get<double>();
            }
            made.kernels.push_back(std::move(k));
        }
        return made;
    } catch (const nlohmann::json::exception&) {
        throw InputError(wrong, "a key is missing, or its value is of another kind");
    }
}

std::string constants_text(const CompiledKernel& kernel) {
    std::string made;
    for (const auto& [name, value] : kernel.constants.items())
        made += text(made.empty() ? "" : " ", name, '=', value.is_boolean() ? text(value.get<bool>()) : value.dump());
    return made;
}

std::string figure_text(const std::optional<double>& figure) {
    return figure ? fixed(*figure, 0) : "-";
}

ordered_json figure_document(const std::optional<double>& figure) {
    constexpr double exact = 1LL << 53;
    if (!figure) return nullptr;
    if (std::abs(*figure) < exact && *figure == std::floor(*figure)) return static_cast<std::int64_t>(*figure);
    return *figure;
}

std::vector<std::vector<std::string>> rows_of(const CompileReport& report) {
    std::vector<std::vector<std::string>> rows{{"kernel", "implementation", "precision", "first use", "uses", "ms",
                                                "registers", "spills", "scratch", "shared", "occupancy", "instructions",
                                                "matrix", "truncating", "cycles", "constants"}};
    for (const CompiledKernel& k : report.kernels) {
        rows.push_back({k.kernel, k.implementation, k.precision,
                        text(k.name, ' ', k.shape, k.layout.empty() ? "" : " ", k.layout), text(k.uses)});
        std::vector<std::string>& row = rows.back();
        row.push_back(k.error.empty() ? fixed(k.compile_ms, 1) : "failed");
        for (const auto& figure : k.figures) row.push_back(figure_text(figure));
        row.push_back(constants_text(k));
    }
    return rows;
}

CompileComparison compare(const CompileReport& a, const CompileReport& b) {
    using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, std::string>;
    const auto key = [](const CompiledKernel& k) {
        return Key{k.family, k.name, k.shape, k.layout, k.precision, k.implementation, k.kernel};
    };
    std::map<Key, std::vector<const CompiledKernel*>> of_b;
    for (const CompiledKernel& k : b.kernels) of_b[key(k)].push_back(&k);
    CompileComparison made;
    std::map<Key, std::size_t> taken;
    for (const CompiledKernel& k : a.kernels) {
        const std::vector<const CompiledKernel*>& same = of_b[key(k)];
        if (std::size_t& next = taken[key(k)]; next < same.size())
            made.pairs.emplace_back(&k, same[next++]);
        else
            ++made.only_a;
    }
    made.only_b = std::ssize(b.kernels) - std::ssize(made.pairs);
    return made;
}

}  // namespace vkf

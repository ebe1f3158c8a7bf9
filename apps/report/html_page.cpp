#include "apps/report/html_page.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text/xml.h"

namespace vkf {

namespace {

constexpr const char* PAGE_STYLE =
    ":root{color-scheme:light dark}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1360px;margin:0 auto;padding:0 16px 48px;background:#fff;"
    "color:#222}"
    "h1{font-size:24px}h2{font-size:19px;margin-top:40px;border-bottom:1px solid #ddd}"
    ".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));gap:16px}"
    "figure{margin:0}svg,img{width:100%;height:auto;display:block}img{image-rendering:pixelated;background:#fff}"
    ".table{overflow-x:auto}table{border-collapse:collapse}"
    "th,td{padding:4px 12px 4px 0;text-align:left;border-bottom:1px solid #ddd;white-space:nowrap}"
    "td.words{white-space:normal;overflow-wrap:anywhere}h3{font-size:16px}"
    "td{vertical-align:top}pre{margin:0;font:13px/1.45 ui-monospace,monospace;white-space:pre-wrap}"
    "td.number{text-align:right;font-variant-numeric:tabular-nums}"
    "@media(prefers-color-scheme:dark){body{background:#16181c;color:#ddd}h2,th,td{border-color:#333}}";

/// True for a cell of digits, as "17", "0.25" or "1:05".
bool is_number(const std::string& cell) {
    const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    return std::ranges::any_of(cell, digit) && std::ranges::all_of(cell, [&](char c) {
               return digit(static_cast<unsigned char>(c)) || c == '.' || c == ':';
           });
}

}  // namespace

std::string html_document(const std::string& title, const std::string& body) {
    return text("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n",
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>", xml_text(title),
                "</title>\n<style>", PAGE_STYLE, "</style></head><body>\n<h1>", xml_text(title), "</h1>\n", body,
                "</body></html>\n");
}

std::string html_cell(const std::string& words, bool number) {
    return text(number ? "<td class=\"number\">" : "<td>", xml_text(words), "</td>");
}

std::string html_heading_row(const std::vector<std::string>& headings) {
    std::string made = "<tr>";
    for (const std::string& heading : headings) made += text("<th>", xml_text(heading), "</th>");
    return made + "</tr>\n";
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
    std::string made = "<div class=\"table\"><table>\n";
    const auto is_empty = [](const std::string& cell) { return cell.empty(); };
    if (!std::ranges::all_of(rows.front(), is_empty)) made += html_heading_row(rows.front());
    for (std::size_t i = 1; i < rows.size(); ++i) {
        made += "<tr>";
        for (const std::string& cell : rows[i]) made += html_cell(cell, is_number(cell));
        made += "</tr>\n";
    }
    return made + "</table></div>\n";
}

std::string html_heading(const std::string& words) {
    return text("<h2>", xml_text(words), "</h2>\n");
}

std::string html_paragraph(const std::string& words) {
    return text("<p>", xml_text(words), "</p>\n");
}

}  // namespace vkf

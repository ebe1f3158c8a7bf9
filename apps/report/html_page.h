// Parts of a page of HTML that needs no network and no script, in light and dark colours.
#pragma once

#include <string>
#include <vector>

namespace vkf {

/// The page, with its title as the first heading. `body` is HTML.
std::string html_document(const std::string& title, const std::string& body);

/// A table's cell; numbers stand to the right.
std::string html_cell(const std::string& words, bool number = false);
std::string html_heading_row(const std::vector<std::string>& headings);
/// A table; the first row is the heading, none if its cells are empty. Numbers stand to the right.
std::string html_table(const std::vector<std::vector<std::string>>& rows);

std::string html_heading(const std::string& words);
std::string html_paragraph(const std::string& words);

}  // namespace vkf

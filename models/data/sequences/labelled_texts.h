// Texts with labels: files of examples, and folders with a folder of texts for each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace vkf {

/// Label i is that of text i. No text is empty.
struct LabelledTexts {
    std::string name;  // file or folder, for messages
    std::vector<std::string> texts, labels;

    std::size_t size() const { return texts.size(); }
};

/// Names of the two fields of an object in a .jsonl file.
struct LabelKeys {
    std::string text = "text", label = "label";
};

/// Parses "TEXT,LABEL". Throws: InputError naming the words if they are not two names with a comma between them.
LabelKeys label_keys(const std::string& words);

/// Reads one file: .tsv with a text, one tab and its label on each line, or .jsonl with an object per line, whose label
/// is a string or a whole number. A first line "Source<tab>Target" or "text<tab>label" of a .tsv file is a header.
/// UTF-8; blank lines are left out.
/// Throws: InputError naming file and line that is no example; for a file without any; and for files of other kinds.
LabelledTexts read_labelled_file(const std::filesystem::path& path, const LabelKeys& keys = {});

/// Reads a split of the data at a path:
///
///     directory with train.tsv, val.tsv, test.tsv    the split's file; .jsonl likewise
///     directory with train/CLASS/…, val/…, test/…    text files below, whose folder is the label, as IMDb's are
///     FILE.tsv, FILE.jsonl                           every tenth example is the split "val", the others are "train"
///
/// If a directory has no split "val", every tenth example of "train" is, and not of "train".
/// Throws: InputError naming the path if it has no such split, else as read_labelled_file does.
LabelledTexts read_labelled_split(const std::filesystem::path& path, std::string_view split,
                                  const LabelKeys& keys = {});

/// Distinct labels of some texts: in the order of their numbers if all are whole numbers, else in that of their bytes.
std::vector<std::string> classes_of(const std::vector<const LabelledTexts*>& sets);

}  // namespace vkf

// Texts with labels, their tokens, and batches of sequences.

#include "models/data/sequences/labelled_sequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "models/data/sequences/text_tokens.h"
#include "scratch.h"

namespace vkf::test {
namespace {

using Words = std::vector<std::string>;

TEST(HostLabelledTexts, FilesOfBothFormsAreRead) {
    const Scratch scratch;
    for (const char* header : {"", "Source\tTarget\n", "text\tlabel\r\n"}) {
        const LabelledTexts tsv =
            read_labelled_file(scratch.file("a.tsv", std::string(header) + "[MAX 1 2 ]\t2\n\nto be\tb\n"));
        EXPECT_EQ(tsv.texts, (Words{"[MAX 1 2 ]", "to be"}));
        EXPECT_EQ(tsv.labels, (Words{"2", "b"}));
    }
    const std::filesystem::path json =
        scratch.file("a.jsonl", "{\"text\": \"two\\nlines\", \"label\": 1}\n{\"label\": \"b\", \"text\": \"x\"}\n");
    EXPECT_EQ(read_labelled_file(json).texts, (Words{"two\nlines", "x"}));
    EXPECT_EQ(read_labelled_file(json).labels, (Words{"1", "b"}));
    const std::filesystem::path named = scratch.file("b.jsonl", R"({"sentence": "x", "class": 0})");
    EXPECT_EQ(read_labelled_file(named, label_keys("sentence,class")).labels, Words{"0"});
}

TEST(HostLabelledTexts, BrokenFilesAreRefusedByLine) {
    const Scratch scratch;
    const auto refusal = [&](const char* name, const char* content) {
        return complaint([&] { read_labelled_file(scratch.file(name, content)); });
    };
    expect_holds(refusal("a.tsv", "a\t1\nno label\n"), "a.tsv: line 2: wanted a text and its label");
    expect_holds(refusal("a.tsv", "a\tb\t1\n"), "a.tsv: line 1: wanted a text and its label");
    expect_holds(refusal("a.tsv", "a\t1\n \t1\n"), "a.tsv: line 2 has no text");
    expect_holds(refusal("a.tsv", "a\t\n"), "a.tsv: line 1 has no label");
    expect_holds(refusal("a.tsv", "Source\tTarget\n"), "a.tsv: has no example");
    expect_holds(refusal("a.tsv", "a\xff\t1\n"), "UTF-8");
    expect_holds(refusal("a.txt", "a\t1\n"), "wanted texts with labels, .tsv or .jsonl");
    expect_holds(refusal("a.jsonl", "{\"text\": \"a\"}\n"), "line 1: wanted an object with a text 'text' and a label");
    expect_holds(refusal("a.jsonl", "{\"text\": \"a\", \"label\": 1.5}\n"), "line 1: wanted an object");
    expect_holds(refusal("a.jsonl", "\n[1]\n"), "line 2: wanted an object");
    for (const char* fields : {"a", ",a", "a,"}) expect_holds(complaint([&] { label_keys(fields); }), "--label-fields");
}

TEST(HostLabelledTexts, SplitsAreFilesOrFoldersOrEveryTenthExample) {
    const Scratch scratch;
    std::string lines;
    for (char c = 'a'; c < 'a' + 20; ++c) lines += std::string(1, c) + "\t" + (c < 'k' ? "0" : "1") + "\n";
    const std::filesystem::path file = scratch.file("all.tsv", lines);
    EXPECT_EQ(read_labelled_split(file, "val").texts, (Words{"j", "t"}));
    const Words rest = read_labelled_split(file, "train").texts;
    EXPECT_EQ(rest.size(), 18u);
    for (const char* held_out : {"j", "t"}) EXPECT_EQ(std::ranges::count(rest, held_out), 0);
    expect_holds(complaint([&] { read_labelled_split(file, "test"); }), "has no split 'test'");

    scratch.file("one/train.tsv", lines);
    EXPECT_EQ(read_labelled_split(scratch.path() / "one", "val").texts, (Words{"j", "t"}));
    EXPECT_EQ(read_labelled_split(scratch.path() / "one", "train").size(), 18u);
    scratch.file("one/val.jsonl", R"({"text": "z", "label": 1})");
    EXPECT_EQ(read_labelled_split(scratch.path() / "one", "val").texts, Words{"z"});
    EXPECT_EQ(read_labelled_split(scratch.path() / "one", "train").size(), 20u);
    expect_holds(complaint([&] { read_labelled_split(scratch.path() / "one", "test"); }), "wanted test.tsv");
    scratch.file("one/val.tsv", "z\t1\n");
    expect_holds(complaint([&] { read_labelled_split(scratch.path() / "one", "val"); }), "val.tsv and val.jsonl");

    scratch.file("films/test/pos/1.txt", "good\r\nfilm");
    scratch.file("films/test/neg/deep/2.txt", "bad");
    scratch.file("films/test/notes.txt", "of no class");
    const LabelledTexts films = read_labelled_split(scratch.path() / "films", "test");
    EXPECT_EQ(films.labels, (Words{"neg", "pos"}));
    EXPECT_EQ(films.texts[1], "good\nfilm");
}

TEST(HostLabelledTexts, ClassesAreInTheOrderOfNumbersOrOfBytes) {
    const LabelledTexts numbers{"", {"a", "b", "c"}, {"10", "9", "10"}}, words{"", {"a", "b"}, {"b", "a"}};
    EXPECT_EQ(classes_of({&numbers}), (Words{"9", "10"}));
    EXPECT_EQ(classes_of({&words}), (Words{"a", "b"}));
    EXPECT_EQ(classes_of({&numbers, &words}), (Words{"10", "9", "a", "b"}));
}

/// The vocabulary is the same after it was stored as a file that other programs read.
TEST(HostTextTokens, WordsAndBytesSurviveTheirFile) {
    const Words texts{"[MAX 2 9 [MIN 4 7 ] 0 ]", " na\u00efve\t2\n[CLS] "};
    const Scratch scratch;
    for (const SavedTokenizer& made : {byte_tokenizer(), word_tokenizer(texts)}) {
        for (const auto& [name, content] : made.files) scratch.file(name, content);
        const SavedTokenizer read = load_tokenizer(scratch.path());
        EXPECT_EQ(made->difference(*read), "");
        EXPECT_EQ(made->begin_of_text(), read->begin_of_text());
        EXPECT_FALSE(read->closing_token().has_value());
        for (const std::string text : {"[MAX 2 9 [MIN 4 7 ] 0 ]", "unseen \u00fc\n", "na\u00efve", "[CLS]"})
            EXPECT_EQ(made->encode(text), read->encode(text)) << text;
    }
}

TEST(HostTextTokens, AWordIsOneTokenAndAByteAnother) {
    const Words texts{"[MAX 2 19 ]", "2 ab"};
    const SavedTokenizer words = word_tokenizer(texts), bytes = byte_tokenizer();
    EXPECT_EQ(words->size(), 256u + 3 + 1);  // 19, [MAX and ab; 2 and ] are bytes
    EXPECT_EQ(words->encode("ab\n2  19 ]"), (Tokens{258, '2', 256, ']'}));
    EXPECT_EQ(words->encode("abc"), (Tokens{'a', 'b', 'c'}));
    EXPECT_EQ(words->begin_of_text(), 259);
    EXPECT_EQ(bytes->size(), 257u);
    EXPECT_EQ(bytes->encode("a \u00fc"), (Tokens{'a', ' ', 0xc3, 0xbc}));
    EXPECT_EQ(bytes->begin_of_text(), 256);
}

TEST(HostLabelledSequences, AreCutAndHaveTheirClasses) {
    const LabelledTexts set{"a.tsv", {"abcdef", "ab", "xyz"}, {"no", "yes", "no"}};
    const SavedTokenizer bytes = byte_tokenizer();
    const Words classes{"no", "yes"};
    const LabelledSequences found(set, *bytes, classes, 2, 4);
    EXPECT_EQ(found.size(), 3u);
    EXPECT_EQ(found.cut(), 1u);
    const auto tokens = [&](std::size_t i) { return Tokens(found.tokens(i).begin(), found.tokens(i).end()); };
    EXPECT_EQ(tokens(0), (Tokens{256, 'a', 'b', 'c'}));
    EXPECT_EQ(tokens(1), (Tokens{256, 'a', 'b'}));
    EXPECT_EQ(tokens(2), (Tokens{256, 'x', 'y', 'z'}));
    EXPECT_EQ((std::vector{found.label(0), found.label(1), found.label(2)}), (std::vector<std::int32_t>{0, 1, 0}));

    const auto refusal = [&](const LabelledTexts& texts, const Words& names) {
        return complaint([&] { LabelledSequences(texts, *bytes, names, 2, 4); });
    };
    EXPECT_EQ(refusal(set, {"no", "maybe"}),
              "a.tsv: example 2: the label is 'yes', wanted one of the model's 2 classes");
    EXPECT_EQ(refusal({"a.tsv", {"a", "b"}, {"1", "2"}}, {}), "a.tsv: example 2: the label is '2', wanted 0 to 1");
    EXPECT_EQ(refusal({"a.tsv", {"a"}, {"-1"}}, {}), "a.tsv: example 1: the label is '-1', wanted 0 to 1");
    EXPECT_EQ(refusal({"a.tsv", {"a", "b"}, {"1", "0"}}, {}), "");
}

/// Sequences of 1 to 9 bytes, each of another content, whose class is their length modulo 2.
LabelledSequences numbered_sequences(std::size_t count) {
    LabelledTexts set{.name = "numbered"};
    for (std::size_t i = 0; i < count; ++i) {
        set.texts.push_back(std::string(1 + i * 5 % 9, static_cast<char>('a' + i)));
        set.labels.push_back(std::to_string(set.texts.back().size() % 2));
    }
    return {set, *byte_tokenizer(), {}, 2, 100};
}

TEST(HostSequenceBatches, HaveEverySequenceOnceAnEpochWithItsLengthAndClass) {
    const LabelledSequences sequences = numbered_sequences(23);
    const SequenceBatches batches("train", sequences, {.rows = 4, .buckets = 3, .seed = 5});
    EXPECT_EQ(batches.shapes().size(), 3u);
    EXPECT_EQ(batches.shapes().back().length, 10);
    std::vector<std::string> orders;
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        std::string order;
        for (std::uint64_t i = epoch * batches.count(); i < (epoch + 1) * batches.count(); ++i) {
            const SequenceShape& shape = batches.shapes()[batches.shape_of(i)];
            const Batch batch = batches.at(i);
            ASSERT_EQ(std::ssize(batch.at("tokens")), shape.rows * shape.length);
            ASSERT_EQ(std::ssize(batch.at("lengths")), shape.rows);
            std::int64_t real = 0;
            for (std::int64_t row = 0; row < shape.rows; ++row) {
                const auto at = static_cast<std::size_t>(row);
                const std::int32_t length = batch.at("lengths")[at], target = batch.at("targets")[at];
                if (length == 0) {
                    EXPECT_EQ(target, -1);
                    continue;
                }
                ++real;
                const auto first = batch.at("tokens").begin() + row * shape.length;
                EXPECT_EQ(*first, 256);
                EXPECT_TRUE(std::all_of(first + 1, first + length, [&](std::int32_t t) { return t == first[1]; }));
                EXPECT_TRUE(std::all_of(first + length, first + shape.length, [](std::int32_t t) { return t == 0; }));
                EXPECT_EQ(target, (length - 1) % 2);
                order += static_cast<char>(first[1]);
            }
            EXPECT_EQ(real, batches.sequences(i));
            EXPECT_EQ(batches.at(i), batch);
        }
        EXPECT_EQ(std::set<char>(order.begin(), order.end()).size(), 23u);
        EXPECT_EQ(order.size(), 23u);
        orders.push_back(order);
    }
    EXPECT_NE(orders[0], orders[1]);
    double used = 0, room = 0;
    for (std::uint64_t i = 0; i < batches.count(); ++i) {
        const SequenceShape& shape = batches.shapes()[batches.shape_of(i)];
        room += static_cast<double>(shape.rows * shape.length);
    }
    for (std::size_t i = 0; i < sequences.size(); ++i) used += static_cast<double>(sequences.length(i));
    EXPECT_DOUBLE_EQ(batches.padding(), 1 - used / room);
}

TEST(HostSequenceBatches, AreInOrderUnlessShuffled) {
    const LabelledSequences sequences = numbered_sequences(10);
    const SequenceBatches batches("val", sequences, {.rows = 100, .buckets = 1, .shuffled = false});
    ASSERT_EQ(batches.count(), 1u);
    EXPECT_EQ(batches.shapes().front(), (SequenceShape{10, 10}));
    const Batch batch = batches.at(7);
    for (std::int32_t i = 0; i < 10; ++i) EXPECT_EQ(batch.at("tokens")[static_cast<std::size_t>(10 * i + 1)], 'a' + i);
}

}  // namespace
}  // namespace vkf::test

#!/usr/bin/python3
"""Makes subword_tokens.json: byte-pair codes in both versions of subword-nmt's file, and the symbols of texts.

  VKFORMER_DATA=… tests/golden/make_subword_tokens.py

Written from the paper (Sennrich, Haddow and Birch 2016, algorithm 1) and from the definition of the vocabulary in
models/tokenizers/bpe/subword_nmt.h. Of the texts in $VKFORMER_DATA/multi30k the file has only the number of tokens and
a hash of them, with the codes that come with these texts."""
import collections
import json
import lzma
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
END = "</w>"
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]

CORPUS = """zwei junge männer sitzen vor einem haus und essen äpfel
two young men are sitting in front of a house and eating apples
ein mann mit einem orangefarbenen hut , der etwas anstarrt .
a man in an orange hat starring at something .
aaaa aaaa aaa aaaaa banana bananas ananas papaya
fünf menschen in winterjacken und mit helmen stehen im schnee , mit schneemobilen im hintergrund .
five people wearing winter jackets and helmets stand in the snow , with snowmobiles in the background .
日本 日本語 🙂🙂 🙂"""

TEXTS = ["", " ", "a", "men", "a man in a house .", "  two   spaces ", "line\nends\r\nare spaces\r", "ein wintermann",
         "aaaaaaa", "aaaaaaaa a aa", "banananas", "日本日本語 🙂", "Zebra", "☃", "a☃", "☃a", "a☃a ☃☃", "x\ty",
         "non\u00a0breaking", "<s> </s> <unk> @@ </w> a</w>", "schneemann-schneemänner", "snow" * 40]

# The last merges make aab, with which an earlier one joins aa: aa+b joins everywhere before aab+aa is looked for.
BACKWARD = ["a a", "a b", "a ab", "aab aa", "aa b", "b c</w>"]
BACKWARD_TEXTS = ["babaabaababc", "aabaabc", "aaaabaabaabaac", "c", "bc", "aac", "aaaaac"]


def symbols_of(word, version):
    characters = list(word)
    if version == "0.1":
        return characters + [END]
    return characters[:-1] + [characters[-1] + END]


def joined(symbols, pair):
    """All occurrences of the pair joined, from left to right."""
    made = []
    while symbols:
        if tuple(symbols[:2]) == pair:
            made.append(pair[0] + pair[1])
            symbols = symbols[2:]
        else:
            made.append(symbols[0])
            symbols = symbols[1:]
    return made


def learn(text, version, merges):
    """Joins the most frequent pair again and again; of pairs that are as frequent, the last in the order of texts."""
    words = collections.Counter(text.split())
    segmented = {word: symbols_of(word, version) for word in words}
    pairs = []
    while len(pairs) < merges:
        counts = collections.Counter()
        for word, symbols in segmented.items():
            for pair in zip(symbols, symbols[1:]):
                counts[pair] += words[word]
        best = max(counts, key=lambda pair: (counts[pair], pair))
        pairs.append(best)
        segmented = {word: joined(symbols, best) for word, symbols in segmented.items()}
    return pairs


class Codes:
    def __init__(self, pairs, version):
        self.version = version
        self.rank = {pair: rank for rank, pair in enumerate(pairs)}
        self.cache = {}
        self.vocabulary = list(SPECIAL)
        listed = set()
        for left, right in pairs:
            for symbol in (left, right, left + right):
                plain = symbol[:-len(END)] if symbol.endswith(END) else symbol
                if not plain:
                    continue
                both = len(plain) == 1 or version == "0.1"
                for form in (plain, plain + END) if both else (symbol,):
                    if form not in listed:
                        listed.add(form)
                        self.vocabulary.append(form)
        self.number = {form: len(SPECIAL) + i for i, form in enumerate(self.vocabulary[len(SPECIAL):])}

    def word(self, word):
        """Symbols of a word; the last one has the suffix </w>."""
        if word not in self.cache:
            symbols = symbols_of(word, self.version)
            while True:
                known = [pair for pair in zip(symbols, symbols[1:]) if pair in self.rank]
                if not known:
                    break
                symbols = joined(symbols, min(known, key=self.rank.get))
            if symbols[-1] == END:
                symbols = symbols[:-2] + [symbols[-2] + END]
            self.cache[word] = symbols
        return self.cache[word]

    def symbols(self, text):
        words = text.replace("\n", " ").replace("\r", " ").split(" ")
        return [symbol for word in words if word for symbol in self.word(word)]

    def tokens(self, text):
        return [self.number.get(symbol, SPECIAL.index("<unk>")) for symbol in self.symbols(text)]

    def shown(self, token):
        """A token as subword-nmt writes it."""
        if token < len(SPECIAL):
            return SPECIAL[token]
        symbol = self.vocabulary[token]
        return symbol[:-len(END)] if symbol.endswith(END) else symbol + "@@"


def file_of(pairs, version):
    head = "" if version == "0.1" else "#version: %s\n" % version
    return head + "".join("%s %s\n" % pair for pair in pairs)


def pairs_of(file):
    lines = file.rstrip("\n").split("\n")
    version = lines.pop(0).split()[1] if lines[0].startswith("#version:") else "0.1"
    return [tuple(line.split(" ")) for line in lines], version


def case(pairs, version, texts):
    codes = Codes(pairs, version)
    return {"codes": file_of(pairs, version), "vocabulary": [codes.shown(i) for i in range(len(codes.vocabulary))],
            "texts": [[text, [codes.shown(token) for token in codes.tokens(text)]] for text in texts]}


def summary(tokens):
    hashed = 0xcbf29ce484222325  # FNV-1a
    for byte in struct.pack("<%di" % len(tokens), *tokens):
        hashed = (hashed ^ byte) * 0x100000001b3 % 2**64
    return {"tokens": len(tokens), "hash": "%016x" % hashed}


def multi30k(folder):
    with open(os.path.join(folder, "bpe-codes.en-de"), encoding="utf-8", newline="\n") as file:
        codes = Codes(*pairs_of(file.read()))
    made = {"size": len(codes.vocabulary), "texts": {}}
    for name in ["train", "val", "test_2016_flickr"]:
        for language in ["de", "en"]:
            path = "%s.lc.norm.tok.%s.xz" % (name, language)
            with lzma.open(os.path.join(folder, path), "rt", encoding="utf-8", newline="\n") as file:
                made["texts"][path] = summary(codes.tokens(file.read()))
    return made


def main():
    golden = {"learnt": case(learn(CORPUS, "0.2", 120), "0.2", TEXTS),
              "learnt, version 0.1": case(learn(CORPUS, "0.1", 120), "0.1", TEXTS),
              "backward": case([tuple(line.split()) for line in BACKWARD], "0.2", BACKWARD_TEXTS),
              "multi30k": multi30k(os.path.join(os.environ["VKFORMER_DATA"], "multi30k"))}
    with open(os.path.join(HERE, "subword_tokens.json"), "w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=False, indent=0)
        file.write("\n")


main()

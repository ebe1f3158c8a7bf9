#!/usr/bin/python3
"""Makes wordpiece_tokens.json: a vocabulary of WordPiece, and the pieces of texts under several normalizers.

  tests/golden/make_wordpiece_tokens.py

Written from the paper (Devlin et al. 2019) and from the documented behaviour of Hugging Face's BertNormalizer and
BertPreTokenizer, on Python's tables of Unicode."""
import json
import os
import random
import string
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "play", "##ing", "##ed", "un", "##believ", "##able", "Berlin", "berlin", "straße", "##ße", "中", "国",
         "語", "##語", "é", "##é", "cafe", "café", "И", "и", "й", "##й", "й", "##ий", "σ", "ς", "##σ", "##ς", "i\u0307",
         "##\u0307", "한국", "##어", "\u1112\u1161", "##\u11ab", "½", "##²", "²", "ﬁ", "##ﬁ", "№", "€", "##\u0e33", "ก",
         "…", "„", "“", "«", "»", "¿", "–", "—", "·", "##\u093e", "न", "\ufb2a", "ש", "`", ";", "Ω", "ω", "K", "k"]
HAN = [(0x3400, 0x4dbf), (0x4e00, 0x9fff), (0xf900, 0xfaff), (0x20000, 0x2a6df), (0x2a700, 0x2b73f), (0x2b740, 0x2b81f),
       (0x2b820, 0x2ceaf), (0x2f800, 0x2fa1f)]
NORMALIZERS = {"uncased": {}, "cased": {"lowercase": False}, "accents": {"strip_accents": False},
               "cased without accents": {"lowercase": False, "strip_accents": True},
               "no han": {"handle_chinese_chars": False}, "unclean": {"clean_text": False}}
TEXTS = ["", "   ", "The playing of unbelievable plays!", "I'm played, un-played; (the) [MASK] [CLS]",
         "Café CAFÉ Cafe\u0301", "Straße STRASSE STRAẞE", "中国語 in 中国", "İstanbul İ i\u0307 ı", "ΣΊΣΥΦΟΣ σς",
         "Ий ИЙ Й И\u0306", "한국어 \u1112\u1161\u11ab", "½ x² ﬁne ﬁ №5", "a\x00b\ufffdc\x07d\u200be\u00adf",
         "tabs\tand\nlines\r\nand\u0085others\u2028here\u00a0there\u3000x", "\x0b\x0c\x1c x",
         "„quoted“ «¿what?» – — … ·", "$5+3=8<9>7|^`~", "नाना ก\u0e33", "\ufb2a \u2126 \u212a \u037e \u1fef",
         "a" * 100, "a" * 101, "é" * 100, "é" * 101, "x" * 99 + "!" + "y" * 101, "\U0001f642 smile\U0001f642",
         "\ue000\uf900", "a\u0301\u0327b\u0323\u0307", "the\u2000play\u2001ed"]


def is_space(c):
    return c in "\t\n\v\f\r \x85" or unicodedata.category(c) in ("Zs", "Zl", "Zp")


def is_sign(c):
    return c in string.punctuation or unicodedata.category(c).startswith("P")


def normalized(text, clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True):
    if clean_text:
        kept = [c for c in text if c in "\t\n\r" or
                not (c in "\0\ufffd" or unicodedata.category(c) in ("Cc", "Cf", "Co"))]
        text = "".join(" " if is_space(c) else c for c in kept)
    if handle_chinese_chars:
        text = "".join(" %s " % c if any(a <= ord(c) <= b for a, b in HAN) else c for c in text)
    if lowercase if strip_accents is None else strip_accents:
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    if lowercase:
        text = "".join(c.lower() for c in text)
    return text


def words_of(text):
    word = ""
    for c in text:
        if is_space(c) or is_sign(c):
            if word:
                yield word
            word = ""
            if is_sign(c):
                yield c
        else:
            word += c
    if word:
        yield word


def pieces_of(word, vocabulary):
    pieces, start = [], 0
    while len(word) <= 100 and start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces or ["[UNK]"]


def random_texts(count):
    of = random.Random(20)
    alphabet = "".join(WORDS).replace("#", "") + string.printable + "ÀÉÖåçñŠžΆΈώЁё中国" + "\u0300\u0301\u0327 \u200d"
    return ["".join(of.choice(alphabet) for _ in range(of.randint(1, 40))) for _ in range(count)]


def main():
    letters = string.ascii_letters + string.digits + "äöüßñ"
    signs = string.punctuation
    vocabulary = SPECIAL + list(letters + signs) + ["##" + c for c in letters]
    vocabulary = list(dict.fromkeys(vocabulary + WORDS))
    known = set(vocabulary) - set(SPECIAL)
    texts = TEXTS + random_texts(60)
    golden = {"vocabulary": vocabulary, "cases": {}}
    for name, options in NORMALIZERS.items():
        pieces = [[piece for word in words_of(normalized(text, **options)) for piece in pieces_of(word, known)]
                  for text in texts]
        golden["cases"][name] = {"normalizer": options, "texts": [list(pair) for pair in zip(texts, pieces)]}
    with open(os.path.join(HERE, "wordpiece_tokens.json"), "w", encoding="utf-8") as file:
        json.dump(golden, file, indent=0)
        file.write("\n")


main()

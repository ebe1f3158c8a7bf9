#!/usr/bin/python3
"""Makes scores.json: BLEU and chrF2 of lines with odd punctuation, by sacrebleu 2.

  tests/golden/make_scores.py FOLDER        (a copy of github.com/mjpost/sacrebleu, f615c7286d4d)

A set has translations, their references (a list per reference), both scores with their parts, and the words into which
tokenizer `13a` divides each translation."""
import json
import os
import random
import sys

sys.path.insert(0, sys.argv[1])
from sacrebleu.metrics import BLEU, CHRF  # noqa: E402
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = ["Zwei", "junge", "Männer", "sitzen", "vor", "dem", "Haus", "und", "essen", "Äpfel", "a", "dog", "l'été",
         "don't", "well-known", "U.S.A.", "3.14", "1,000", "10-12", "5.", ".5", "№7", "50%", "€20", "x=y",
         "C++", "e-mail",
         "日本", "語", "🙂", "[sic]", "{a|b}", "~home", "a/b", "&quot;so&quot;", "&amp;lt;", "&lt;b&gt;", "<skipped>",
         "R&D", "…", "„so“", "--", "-", "'", "''", ",", ".", "..", "?!", ";", ":", "1.", "2,x", "x.2", "7-", "-7", "\\",
         "`ls`", "_x_"]
SPACES = [" "] * 12 + ["  ", "\t", "\u00a0", "\u2009", "\u3000"]


def line(of, most=14):
    words = range(of.randint(0, most))
    text = "".join(of.choice(WORDS) + (of.choice(SPACES) if of.random() < 0.85 else "") for _ in words)
    return text + of.choice(["", "", " ", ".", "!"])


def changed(of, text):
    """A reference like the translation: some words are others, some are missing."""
    words = [of.choice(WORDS) if of.random() < 0.2 else word for word in text.split(" ") if of.random() > 0.1]
    return " ".join(words)


def case(of, lines, references, most=14):
    made = [line(of, most) for _ in range(lines)]
    wanted = [[changed(of, text) for text in made] for _ in range(references)]
    return made, wanted


def score(made, wanted):
    bleu, chrf = BLEU().corpus_score(made, wanted), CHRF().corpus_score(made, wanted)
    tokenizer = Tokenizer13a()
    return {"translations": made, "references": wanted, "bleu": bleu.score, "precisions": bleu.precisions,
            "brevity": bleu.bp, "words": bleu.sys_len, "reference_words": bleu.ref_len, "chrf2": chrf.score,
            "words_13a": [tokenizer(text.rstrip()) for text in made]}


def main():
    of = random.Random(20)
    sets = {"one reference": case(of, 200, 1), "three references": case(of, 200, 3), "short lines": case(of, 40, 2, 2),
            "few shared": ([line(of) for _ in range(3)], [[line(of) for _ in range(3)]]),
            "nothing shared": (["ab cd"], [["ef gh"]]), "shorter": (["a b c d e"], [["a b c d e f g h"]]),
            "no words": (["", " "], [["a b", "c"]]), "no references": (["a b", "c"], [["", ""]]),
            "three words": (["a b c"], [["a b c"]])}
    with open(os.path.join(HERE, "scores.json"), "w", encoding="utf-8") as file:
        json.dump({name: score(*lines) for name, lines in sets.items()}, file, ensure_ascii=False, indent=0)
        file.write("\n")


main()

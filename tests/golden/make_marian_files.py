#!/usr/bin/python3
"""Makes the golden case marian-files: a whole directory of a Marian model in the form of Hugging Face's library.

  tests/golden/make_marian_files.py        (Debian's python3-torch, python3-numpy and python3-sentencepiece)

The model reads sentences of a made-up language and writes them in another one, in reverse order. Its files are
source.spm, target.spm, vocab.json, tokenizer_config.json, special_tokens_map.json, config.json (and config-bart.json,
as earlier versions of the library wrote it), generation_config.json, and model.safetensors with the copies and tables
that such files may hold besides parameters. case.safetensors is as in make_translation_golden.py.

translations.json has `sentences`, each with its `source` tokens, the tokens of a `greedy` search, the hypotheses of a
beam search by the settings of generation_config.json (`beam`: tokens, sum, score), and the `text` of the best one; and
`targets`, texts of the other language with their tokens. SentencePiece's library itself cuts the texts. Searches are
written here, by the description of Hugging Face's generate(). Rules that rewrite texts are a few of NFKC's, because all
of them take 240 kB."""
import io
import json
import math
import os
import tempfile

import numpy as np
import sentencepiece
import torch

from make_golden import HERE, rounding, save
from make_translation_golden import (S, Transformer, loss_of, random_batch, random_weights, require_unread_padding, run,
                                     sinusoid, transformer_shapes)

FOLDER = os.path.join(HERE, "marian-files")
SEED, MARGIN = 1, 5e-5
# Sources and what becomes of them, as code points.
RULES = {"\ufb01": "fi", "\ufb03": "ffi", "\u3000": " ", "\u00a0": " ", "\u200b": "", "e\u0301": "\u00e9",
         "\u00bd": "1/2", "\u2026": "...", **{chr(0xff41 + i): chr(0x61 + i) for i in range(26)}}
PAIRS = {"fim": "zo", "ofi": "lupe", "cafe": "kova", "tan": "ri", "tanu": "ririn", "bel": "dova", "mi": "xe",
         "oto": "u"}
LANGUAGE = ">>lum<<"
BASE = {"model_type": "marian", "architectures": ["MarianMTModel"], "d_model": 16, "encoder_layers": 2,
        "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 2, "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 20, "max_position_embeddings": 96, "activation_function": "swish", "scale_embedding": True,
        "share_encoder_decoder_embeddings": True, "tie_word_embeddings": True, "normalize_before": False,
        "eos_token_id": 0, "bos_token_id": 0}
# What the library's files have besides.
OTHER = {"activation_dropout": 0.0, "add_bias_logits": False, "add_final_layer_norm": False, "attention_dropout": 0.0,
         "classif_dropout": 0.0, "classifier_dropout": 0.0, "decoder_layerdrop": 0.0, "dropout": 0.1,
         "encoder_layerdrop": 0.0, "gradient_checkpointing": False, "init_std": 0.02, "is_encoder_decoder": True,
         "normalize_embedding": False, "num_hidden_layers": 2, "static_position_embeddings": True,
         "torch_dtype": "float32", "transformers_version": "4.46.0", "use_cache": True, "forced_eos_token_id": 0,
         "id2label": {str(i): f"LABEL_{i}" for i in range(3)}, "label2id": {f"LABEL_{i}": i for i in range(3)}}
BEAMS, MAX_LENGTH, LENGTH_PENALTY = 4, 6, 0.8
SENTENCES = ["fim ofi tanu.", "mi  oto", f"{LANGUAGE} bel tan mi", "\ufb01m o\ufb01\u3000cafe",
             "\uff46\uff49\uff4d\u200b oto!", "cafe\u0301 \u00bd", " tanu\u00a0tan ", "bel >>lum<< mi", ">>xx<< oto",
             "oto oto oto \u2026", "\u4e2d\u6587 tan", "fim bel oto mi tan cafe", "ofi"]
TARGETS = ["ririn lupe zo.", "\uff55  xe", "k\u00f6va \ufb01", f"{LANGUAGE} xe ri dova"]


def train(words, rng):
    """A model of texts of these words, with punctuation."""
    texts = [" ".join(rng.choice(words, rng.integers(1, 6))) + str(rng.choice([".", "!", "", " 1/2", "..."]))
             for _ in range(600)]
    made, here = io.BytesIO(), os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the model holds the name of the rules' file
        with open("rules.tsv", "w") as rules:
            for pair in RULES.items():
                rules.write("\t".join(" ".join(f"{ord(c):X}" for c in text) for text in pair) + "\n")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts), model_writer=made, vocab_size=44, model_type="unigram", num_threads=1,
            hard_vocab_limit=False, normalization_rule_tsv="rules.tsv", minloglevel=2)
        os.chdir(here)
    return sentencepiece.SentencePieceProcessor(model_proto=made.getvalue()), made.getvalue()


class Tokenizer:
    """MarianTokenizer as its documentation describes it: pieces by a SentencePiece model, numbers by vocab.json."""

    def __init__(self, source, target, vocabulary):
        self.source, self.target, self.vocabulary = source, target, vocabulary
        self.names = {number: name for name, number in vocabulary.items()}

    def encode(self, model, text):
        pieces = []
        if text.startswith(">>") and "<<" in text:
            end = text.index("<<") + 2
            pieces, text = [text[:end]], text[end:]
        pieces += model.encode(text, out_type=str)
        return [self.vocabulary.get(piece, self.vocabulary["<unk>"]) for piece in pieces] + [self.vocabulary["</s>"]]

    def decode(self, tokens):
        names = [self.names[token] for token in tokens]
        names = [name for name in names if name not in ("</s>", "<unk>", "<pad>")]
        return self.target.decode_pieces(names).replace("\u2581", " ").strip()


def trained(config, weights, tokenizer, rng, updates=500):
    """Weights after a training on pairs of sentences of up to four words."""
    p = {key: torch.tensor(a, dtype=torch.float64, requires_grad=key != "final_logits_bias")
         for key, a in weights.items()}
    model, learned = Transformer(config, p), [q for q in p.values() if q.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=4e-3)
    for _ in range(updates):
        pairs = []
        for _ in range(16):
            words = rng.choice(list(PAIRS), rng.integers(1, 5))
            pairs.append((tokenizer.encode(tokenizer.source, " ".join(words)),
                          tokenizer.encode(tokenizer.target, " ".join(PAIRS[word] for word in words[::-1]))))
        longest = [max(len(pair[side]) for pair in pairs) for side in (0, 1)]
        source, targets = np.zeros((16, longest[0]), int), np.full((16, longest[1]), -1)
        for b, (one, other) in enumerate(pairs):
            source[b, :len(one)], targets[b, :len(other)] = one, other
        tokens = np.concatenate([np.full((16, 1), config["decoder_start_token_id"]), targets[:, :-1]], 1)
        lengths = torch.tensor([len(pair[0]) for pair in pairs])
        logits = model.logits(torch.tensor(source), lengths, torch.tensor(tokens.clip(min=0)))
        optimizer.zero_grad()
        loss_of(logits, torch.tensor(targets), 0.1).backward()
        optimizer.step()
    return {key: q.detach().numpy().astype(np.float32) for key, q in p.items()}


def likelihoods(model, config, source, prefixes, last):
    """Log-probabilities of the next tokens after prefixes, by the settings: padding is never written, the others'
    probabilities sum to 1, and at the greatest length only the end can follow."""
    count = len(prefixes)
    tokens = torch.tensor([[config["decoder_start_token_id"], *prefix] for prefix in prefixes])
    logits = model.logits(source.expand(count, -1), torch.full((count,), source.shape[1]), tokens)[:, -1]
    rows = torch.log_softmax(logits, -1)
    rows[:, config["pad_token_id"]] = -math.inf
    rows = torch.log_softmax(rows, -1).numpy()
    if last:
        rows = np.full_like(rows, -math.inf)
        rows[:, config["eos_token_id"]] = 0
    return rows


def search(model, config, source, beams):
    """Beam search of generate() without early stopping: hypotheses [(tokens, sum, score)], best first, and the least
    margin of its decisions. The length of a hypothesis counts its end, but not the start token. One beam is the greedy
    search of generate(): nothing that is open when it ends has a better score."""
    eos, longest = config["eos_token_id"], MAX_LENGTH - 1
    running, finished, margin = [((), 0.0)], [], math.inf
    for length in range(1, longest + 1):
        rows = likelihoods(model, config, source, [tokens for tokens, _ in running], length == longest)
        order = sorted(((total + row[token], tokens + (token,)) for (tokens, total), row in zip(running, rows)
                        for token in range(len(row)) if row[token] > -math.inf), reverse=True)
        others = [(total, tokens) for total, tokens in order[:2 * beams] if tokens[-1] != eos]
        for ranked in (order, others):
            if len(ranked) > beams:
                margin = min(margin, ranked[beams - 1][0] - ranked[beams][0])
        finished += [(tokens, total, total / length**LENGTH_PENALTY) for total, tokens in order[:beams]
                     if tokens[-1] == eos]
        finished.sort(key=lambda one: -one[2])
        for one, next_one in zip(finished[:beams], finished[1:]):
            margin = min(margin, one[2] - next_one[2])
        finished, running = finished[:beams], [(tokens, total) for total, tokens in others[:beams]]
        if not running:
            break
        possible = max(total for _, total in running) / length**LENGTH_PENALTY
        if len(finished) == beams:
            margin = min(margin, abs(possible - finished[-1][2]))
            if possible <= finished[-1][2]:
                break
    return finished, margin


def translated(model, config, tokenizer, text):
    tokens = tokenizer.encode(tokenizer.source, text)
    source = torch.tensor([tokens])
    with torch.no_grad():
        found, margin = search(model, config, source, BEAMS)
        greedy, least = search(model, config, source, 1)
    return {"sentence": text, "source": tokens, "greedy": list(greedy[0][0]),
            "beam": [{"tokens": list(one), "sum": total, "score": score} for one, total, score in found],
            "text": tokenizer.decode(found[0][0])}, min(margin, least)


def write(name, value):
    with open(os.path.join(FOLDER, name), "w") as file:
        json.dump(value, file, indent=1, ensure_ascii=name == "vocab.json")
        file.write("\n")


def write_weights(config, weights):
    table, width = weights["model.shared.weight"], config["d_model"]
    positions = sinusoid(False, config["max_position_embeddings"], width).numpy().astype(np.float32)
    stored = dict(weights)
    for name in ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"):
        stored[name] = table
    for stack in ("encoder", "decoder"):
        stored[f"model.{stack}.embed_positions.weight"] = positions
    save(FOLDER + "/model.safetensors", stored)


def write_case(config, weights, rng):
    smoothing = np.float32(0)
    batch = random_batch(config, rng)
    without_bias = lambda d: {key: a for key, a in d.items() if key != "final_logits_bias"}
    require_unread_padding(Transformer, config, batch, smoothing, weights, rng)
    logits, loss, d = run(Transformer, config, batch, smoothing, weights)
    case = {**batch, "label_smoothing": np.array([smoothing]), "logits": logits.astype(np.float32),
            "loss": np.array(loss, np.float32),
            "rounding": rounding(lambda values: without_bias(run(Transformer, config, batch, smoothing, values)[2]),
                                 weights)}
    case.update({"grad." + key: a.astype(np.float32) for key, a in without_bias(d).items()})
    save(FOLDER + "/case.safetensors", case)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    rng = np.random.default_rng(SEED)
    models = {side: train(words, rng) for side, words in (("source", list(PAIRS)), ("target", list(PAIRS.values())))}
    pieces = [model.id_to_piece(i) for model, _ in models.values() for i in range(3, model.get_piece_size())]
    names = ["</s>", "<unk>", LANGUAGE, *dict.fromkeys(pieces), "<pad>"]
    vocabulary = {name: number for number, name in enumerate(names)}
    tokenizer = Tokenizer(models["source"][0], models["target"][0], vocabulary)
    pad = vocabulary["<pad>"]
    config = {**BASE, "vocab_size": len(names), "decoder_vocab_size": len(names), "pad_token_id": pad,
              "decoder_start_token_id": pad}
    inner = {**config, "position_embedding_type": "sinusoidal", "attention": {"variant": "standard"}}
    weights = {key: a / 2 if a.ndim == 2 else a for key, a in random_weights(transformer_shapes(inner), rng).items()}
    weights["final_logits_bias"] = rng.normal(0, 0.5, (1, len(names))).astype(np.float32)
    weights = trained(inner, weights, tokenizer, rng)
    weights["final_logits_bias"][0, pad] += 8  # so that padding would be written if nothing forbade it
    model = Transformer(inner, {key: torch.tensor(a, dtype=torch.float64) for key, a in weights.items()})
    found = [translated(model, inner, tokenizer, text) for text in SENTENCES]
    margin = min(least for _, least in found)
    print("margin", margin, [one["text"] for one, _ in found])
    assert margin > MARGIN, margin
    for side, (_, content) in models.items():
        with open(f"{FOLDER}/{side}.spm", "wb") as file:
            file.write(content)
    settings = {"bad_words_ids": [[pad]], "num_beams": BEAMS, "max_length": MAX_LENGTH,
                "length_penalty": LENGTH_PENALTY}
    write("vocab.json", vocabulary)
    write("tokenizer_config.json", {"source_lang": "fi", "target_lang": "lum", "separate_vocabs": False,
                                    "sp_model_kwargs": {}, "tokenizer_class": "MarianTokenizer",
                                    "unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>",
                                    "model_max_length": 512, "clean_up_tokenization_spaces": True})
    write("special_tokens_map.json", {"unk_token": "<unk>", "eos_token": "</s>", "pad_token": "<pad>"})
    write("config.json", {**config, **OTHER})
    write("config-bart.json", {**config, **OTHER, **settings, "model_type": "bart", "extra_pos_embeddings": pad,
                               "force_bos_token_to_be_generated": False, "renormalize_logits": True})
    write("generation_config.json", {"_from_model_config": True, "bos_token_id": 0, "decoder_start_token_id": pad,
                                     "eos_token_id": 0, "forced_eos_token_id": 0, "pad_token_id": pad,
                                     "renormalize_logits": True, "transformers_version": "4.46.0", **settings})
    write_weights(config, weights)
    write_case(inner, weights, rng)
    write("translations.json", {"sentences": [one for one, _ in found],
                                "targets": [{"text": text, "tokens": tokenizer.encode(tokenizer.target, text)}
                                            for text in TARGETS]})


if __name__ == "__main__":
    main()

// Writes tokens.json: what independent tokenizers make of texts, for tests/tokenizers/golden_test.cpp.
//
//   npm install js-tiktoken@1.0.21 llama3-tokenizer-js@1.2.0 llama-tokenizer-js@1.2.2      (in a folder elsewhere)
//   VKFORMER_DATA=… node …/tests/golden/make_tokens.mjs                                    (in that folder)
//
// $VKFORMER_DATA holds the texts: tinyshakespeare/input.txt, wikitext2/wiki.{valid,test}.raw.xz, text/*.txt. The
// vocabularies come with the packages. Of texts and random strings the file keeps how many tokens they have and a hash
// of them, of the short strings below the tokens themselves.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = createRequire(join(process.cwd(), "x"));
const { getEncoding } = here("js-tiktoken");
const { default: llama3 } = await import(join(process.cwd(), "node_modules/llama3-tokenizer-js/bundle/" +
                                              "llama3-tokenizer-with-baked-data.js"));
const { default: llama2 } = await import(here.resolve("llama-tokenizer-js"));
const gpt2 = getEncoding("gpt2");

const tokenizers = {
    gpt2: text => gpt2.encode(text, [], []),
    llama3: text => llama3.encode(text, { bos: false, eos: false }),
    llama2: text => llama2.encode(text, false, true),
};

const strings = [
    "", " ", "  ", "\n", "\t\t", "\r\n\r\n", "Hello, world!", " leading and trailing ", "two  spaces   three",
    "It's, they'll, we've, I'm, you're, he'd; DON'T, 'tis", "in 1234567 numbers: 3.14159, 2^10 = 1024, ½ ² Ⅷ ٣",
    "naïve café, Zürich, Ærøskøbing, ŁÓDŹ", "Ελληνικά, Русский, עברית, العربية, हिन्दी, ไทย, 한국어, 日本語, 中文",
    "cafe\u0301 and e\u0301\u0301\u0301", "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇰 👍🏽", "a\u00a0b\u2003c\u3000d\u1680e\u180ef\u200bg",
    "for (int i = 0; i < n; ++i) {\n\tsum += a[i] * b[i];\n\n    }\n", "\u0000\u0001\u007f\u0080", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "!!!!????....----____====", "https://example.org/a_b?c=d&e=%20#f", "line one\nline two\r\n  line three  \n\n\n",
    "<s> </s> [INST] <0x0A> ▁under ▁ score", "\ufffd\ud7ff\ue000\u{10fffd}", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁 ﬁ ﬂ ＡＢＣ", "x\n y\n  z\n\n w \n",
];

// --- Random strings, drawn as in tests/tokenizers/random_text.h --------------------------------------------------------

// Not among them: U+0085 and U+FEFF, of which JavaScript alone holds that the second is white space and the first is
// none; U+017F, which is an s to patterns that ignore case, but not to the package for Llama 3; and what has been
// assigned lately, of which libraries differ in what they know.
const ranges = [
    [0x61, 0x7a], [0x41, 0x5a], [0x30, 0x39], [0x20, 0x20], [0x20, 0x7e], [0x00, 0x1f], [0x0a, 0x0a], [0x0d, 0x0d], [0x27, 0x27],
    [0xa0, 0xff], [0x100, 0x17e], [0x180, 0x24f], [0x250, 0x2af], [0x300, 0x36f], [0x3b1, 0x3c9], [0x400, 0x45f],
    [0x5d0, 0x5ea], [0x621, 0x63a], [0x660, 0x669], [0x905, 0x939], [0xe01, 0xe30], [0x10d0, 0x10f0], [0x1680, 0x1680],
    [0x180e, 0x180e], [0x2000, 0x200a], [0x200b, 0x200f], [0x2010, 0x2027], [0x2028, 0x2029], [0x2074, 0x2079],
    [0x20a0, 0x20bf], [0x2160, 0x2188], [0x2190, 0x21ff], [0x3000, 0x3000], [0x3041, 0x3096], [0x4e00, 0x9fa5],
    [0xac00, 0xd7a3], [0xe000, 0xe0ff], [0xfb00, 0xfb06], [0xfe0f, 0xfe0f], [0xff01, 0xff5e], [0xfffd, 0xfffd],
    [0x1d400, 0x1d454], [0x1f300, 0x1f5ff], [0x1f600, 0x1f64f], [0x20000, 0x2a6d6],
];

function* randomStrings(count) {
    let state = 2026;
    const draw = n => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor(state * n / 2 ** 32);
    };
    for (let i = 0; i < count; ++i) {
        let string = "", range = 0;
        for (let left = draw(48); left > 0; --left) {
            if (draw(3) === 0) range = draw(ranges.length);
            const [first, last] = ranges[range];
            string += String.fromCodePoint(first + draw(last - first + 1));
        }
        yield string;
    }
}

// --- What is kept -------------------------------------------------------------------------------------------------------

// FNV-1a, 64 bits, of the tokens as little-endian int32.
class Hash {
    value = 0xcbf29ce484222325n;
    count = 0;
    add(tokens) {
        for (const token of tokens) {
            for (let at = 0; at < 32; at += 8) {
                this.value = BigInt.asUintN(64, (this.value ^ BigInt(token >> at & 0xff)) * 0x100000001b3n);
            }
        }
        this.count += tokens.length;
    }
    get kept() { return { tokens: this.count, hash: this.value.toString(16).padStart(16, "0") }; }
}

const data = process.env.VKFORMER_DATA;
const read = name => {
    const path = join(data, name);
    const bytes = path.endsWith(".xz") ? execFileSync("xz", ["-dc", path], { maxBuffer: 1 << 28 }) : readFileSync(path);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);  // without U+FEFF at the beginning
};
const texts = ["tinyshakespeare/input.txt", "wikitext2/wiki.valid.raw.xz", "wikitext2/wiki.test.raw.xz",
    "text/pride-and-prejudice_1342-0.txt", "text/sherlock-holmes_1661.txt", "text/war-and-peace_2600-0.txt"];

const kept = { strings };
for (const [name, encode] of Object.entries(tokenizers)) {
    const entry = kept[name] = { strings: strings.map(encode), texts: {}, random: [] };
    for (const text of texts) {
        const hash = new Hash();
        hash.add(encode(read(text)));
        entry.texts[text] = hash.kept;
    }
    let hash = new Hash(), n = 0;
    for (const string of randomStrings(10000)) {
        const tokens = encode(string);
        hash.add(tokens);
        hash.add([-1 - tokens.length]);
        if (++n % 1000 === 0) { entry.random.push(hash.kept); hash = new Hash(); }
    }
    console.error(name, entry.texts, entry.random[9]);
}
const lines = value => JSON.stringify(value).replaceAll(/("[^"]*":\{|\],?)(?=")/g, "$1\n");
writeFileSync(join(dirname(fileURLToPath(import.meta.url)), "tokens.json"), lines(kept) + "\n");

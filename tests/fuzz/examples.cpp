#include "tests/fuzz/examples.h"

#include <cstdint>
#include <string_view>

#include "tests/images/encoded.h"

namespace vkf::fuzz::example {

namespace {

using namespace std::string_literals;

std::string little_endian(std::uint64_t value, int bytes) {
    std::string made;
    for (int i = 0; i < bytes; ++i) made += static_cast<char>(value >> 8 * i);
    return made;
}

std::string safetensors(const std::string& header, std::size_t bytes) {
    return little_endian(header.size(), 8) + header + std::string(bytes, '\x3c');
}

/// Encodes a field of a protocol buffer: a number below 128, or fewer than 128 bytes.
std::string field(int tag, int value) {
    return {static_cast<char>(tag << 3), static_cast<char>(value)};
}
std::string field(int tag, const std::string& value) {
    return std::string{static_cast<char>(tag << 3 | 2), static_cast<char>(value.size())} + value;
}
std::string piece(const std::string& name, int type) {
    return field(1, field(1, name) + "\x15"s + std::string(3, '\0') + '\x80' + field(3, type));
}

test::Samples drawing(int channels) {
    test::Samples made{9, 5, channels, {}};
    for (int i = 0; i < 9 * 5 * channels; ++i) made.samples.push_back(static_cast<std::uint8_t>(i * 37));
    return made;
}

}  // namespace

Examples weights() {
    return {safetensors(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                        R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]}})",
                        32),
            safetensors(R"({"__metadata__":{"format":"pt"},"x":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})", 8)};
}

Examples weights_index() {
    return {R"({"metadata":{"total_size":16},"weight_map":{"a":"model-00001-of-00001.safetensors"}})" + "\0"s +
            safetensors(R"({"a":{"dtype":"F16","shape":[8],"data_offsets":[0,16]}})", 16)};
}

Examples config_json() {
    return {R"({"model_type":"gpt2","vocab_size":17,"n_positions":16,"n_embd":8,"n_layer":2,"n_head":2,)"
            R"("activation_function":"gelu_new","layer_norm_epsilon":1e-5,"attention":"belief-star"})",
            R"({"model_type":"llama","vocab_size":17,"max_position_embeddings":16,"hidden_size":8,)"
            R"("intermediate_size":16,"num_hidden_layers":1,"num_attention_heads":2,"num_key_value_heads":1,)"
            R"("rms_norm_eps":1e-6,"rope_theta":10000.0,"rope_scaling":{"rope_type":"llama3","factor":8.0,)"
            R"("low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8}})",
            R"({"model_type":"vit","image_size":32,"patch_size":8,"num_channels":3,"hidden_size":8,)"
            R"("num_hidden_layers":1,"num_attention_heads":2,"intermediate_size":16,"num_labels":10})",
            R"({"architecture":"vit_tiny_patch16_224","num_classes":2,"global_pool":"token","label_names":["a","b"],)"
            R"("model_args":{"img_size":32,"embed_dim":8,"depth":1,"num_heads":2,"mlp_ratio":2},)"
            R"("pretrained_cfg":{"input_size":[3,224,224],"first_conv":"patch_embed.proj"}})"};
}

Examples generation_config() {
    return {R"({"do_sample":true,"temperature":0.7,"top_p":0.9,"top_k":40,"eos_token_id":[2,5],)"
            R"("repetition_penalty":1.1,"max_new_tokens":20,"stop_strings":["\n\n"]})"
            "\0"s
            R"({"model_type":"gpt2","eos_token_id":2})"};
}

Examples adapter_config() {
    return {R"({"peft_type":"LORA","base_model_name_or_path":"../m","r":8,"lora_alpha":16,"lora_dropout":0.1,)"
            R"("target_modules":["c_attn"],"bias":"none","fan_in_fan_out":true,"use_rslora":false})"};
}

Examples image_processor() {
    return {R"({"image_mean":[0.5,0.5,0.5],"image_std":[0.5,0.25,0.5],"do_rescale":true,)"
            R"("rescale_factor":0.00392156862745098,"size":{"height":32,"width":32}})",
            R"({"image_mean":[0,0,0],"image_std":[1,1,1],"size":{"shortest_edge":40},"do_center_crop":true,)"
            R"("crop_size":32,"resample":3,"crop_rounding":"even"})",
            "\0"s + R"({"architecture":"vit_tiny_patch8_32","pretrained_cfg":{"input_size":[3,32,32],"crop_pct":0.9,)"
                    R"("interpolation":"bicubic","crop_mode":"squash","mean":[0.5,0.5,0.5],"std":[1,1,1]}})"};
}

Examples manifest() {
    return {R"({"format":"vkformer checkpoint 1","run":"1c0f","step":250,"config":"9b3e",)"
            R"("files":{"model.safetensors":{"bytes":43008,"xxh3_128":"5d71"}}})"};
}

Examples tokenizer_json() {
    return {R"({"version":"1.0","added_tokens":[{"id":5,"content":"<s>","special":true,"single_word":false,)"
            R"("lstrip":false,"rstrip":false,"normalized":false}],"normalizer":null,)"
            R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},)"
            R"("post_processor":null,"decoder":{"type":"ByteLevel"},)"
            R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"Ġ":3,"l":4},"merges":["a b"]}})",
            R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[)"
            R"({"type":"Split","pattern":{"Regex":"\\s+|\\p{L}+"},"behavior":"Isolated","invert":false},)"
            R"({"type":"ByteLevel","use_regex":false}]},)"
            R"("model":{"type":"BPE","vocab":{"x":0,"y":1,"xy":2},"merges":[["x","y"]],"ignore_merges":true}})",
            R"({"added_tokens":[],"normalizer":{"type":"BertNormalizer","strip_accents":null,"lowercase":true},)"
            R"("pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"WordPiece","prefix":"##"},)"
            R"("model":{"type":"WordPiece","unk_token":"[UNK]","max_input_chars_per_word":100,)"
            R"("vocab":{"[UNK]":0,"he":1,"##l":2,"##o":3}}})"};
}

Examples gpt2_tokenizer() {
    return {R"({"a":0,"b":1,"ab":2,"<|endoftext|>":3})"
            "\0#version: 0.2\na b\n\0"s
            R"({"eos_token":"<|endoftext|>","add_bos_token":true,"bos_token":{"content":"<s>"}})"
            "\0"s
            R"({"bos_token":"<s>"})"
            "\0"s
            R"({"<s>":4})"};
}

Examples sentencepiece() {
    const std::string pieces = piece("<unk>", 2) + piece("<s>", 3) + piece("</s>", 3) +
                               piece(
                                   "\xe2\x96\x81"
                                   "a",
                                   1) +
                               piece("ab", 1) + piece("a", 1) + piece("b", 1);
    return {pieces + field(2, field(3, 2)) + field(3, field(1, "identity") + field(3, 1) + field(4, 0)),
            pieces + piece("<0x0A>", 6) + field(2, field(3, 1)) +
                field(3, field(1, "nmt_nfkc") + field(2, "\4\0\0\0\0\4\0\0x\0"s))};
}

Examples subword_nmt() {
    return {"#version: 0.2\nl o</w>\nl lo</w>\nh e\n", "l o\nlo </w>\nl lo</w>\n"};
}

Examples vocab_txt() {
    return {"[PAD]\n[UNK]\n[CLS]\n[SEP]\nhe\n##llo\n##l\n,\nna\n##\u00efve\n\u4f60\n"};
}

Examples characters() {
    return {R"({"type":"chars","chars":["\n"," ","!","a","b"]})"};
}

Examples chat_template() {
    return {
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
        "'<|im_end|>' + '\\n'}}{% endfor %}\0{}"s,
        "\0"s
        R"({"chat_template":"{% if messages[0]['role'] == 'system' %}<<SYS>>{% endif %}[INST] [/INST]"})"};
}

Examples tokens() {
    return {"\1\0\2\0\3\0"s,
            little_endian(20240520, 4) + little_endian(1, 4) + little_endian(2, 4) + std::string(253 * 4, '\0') +
                "\1\0\2\0"s,
            little_endian(20240801, 4) + little_endian(7, 4) + little_endian(1, 4) + std::string(253 * 4, '\0') +
                "\1\0\0\0"s};
}

Examples npy() {
    const std::string header = "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }\n";
    return {"\x93NUMPY\1\0"s + little_endian(header.size(), 2) + header + "\1\0\2\0\3\0"s};
}

Examples documents() {
    return {"a text\r\nof two lines",
            R"({"text":"a"})"
            "\n\n"
            R"({"text":"b \ud83d\ude00","id":2})"
            "\n",
            R"([{"text":"a"},{"text":"b"}])"};
}

Examples hellaswag() {
    return {R"({"ctx":"a man","endings":["w","x","y","z"],"label":2})"
            "\n",
            "a man\n2\nw\nx\ny\nz\n"};
}

Examples toml() {
    return {"learning-rate = 1e-3\nattention = \"belief\"\nmax-iters = 10\nresume = true\nstop = [\"a\", \"b\"]\n"};
}

Examples report() {
    return {R"({"device":"d","kind":"CPU","driver":"e","version":"1","date":"2026-11-27T00:00:00Z","subgroup_size":8,)"
            R"("precision":"fp32","kernels":"auto","peak":{"gflops":10.0,"gbytes_per_second":5.0},"measurements":[)"
            R"({"family":"matmul","name":"square","shape":"1x2x3","layout":"NN","kernel":"matmul","ms":1.0}]})"};
}

Examples picture() {
    return {
        test::encode_jpeg(drawing(3)),       test::encode_jpeg(drawing(1), {.progressive = true, .exif = "Exif\0\0"}),
        test::encode_png(drawing(3)),        test::encode_png(drawing(4), {.colour_type = 6, .interlaced = true}),
        test::encode_webp(drawing(3), true), test::encode_webp(drawing(3), false, test::exif_block(6))};
}

}  // namespace vkf::fuzz::example

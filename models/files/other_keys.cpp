#include "models/files/other_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "base/text/json.h"
#include "models/files/config_keys.h"

namespace vkf {
namespace {

using nlohmann::json;

// Names, notes, keys of training, and keys that generation_config.json or a tokenizer's files give more directly.
constexpr OtherKey CONFIG[] = {
    {"model_type"},
    {"architectures"},
    {"transformers_version"},
    {"transformers.js_config"},
    {"name_or_path"},
    {"torch_dtype"},
    {"dtype"},
    {"auto_map"},
    {"unsloth_fixed"},
    {"unsloth_version"},
    {"is_llama_config"},
    {"finetuning_task"},
    {"problem_type"},
    {"task_specific_params"},
    {"tokenizer_class"},
    {"prefix"},
    {"label2id"},
    {"id2label"},
    {"num_labels"},
    {"bos_token_id"},
    {"eos_token_id"},
    {"pad_token_id"},
    {"unk_token_id"},
    {"sep_token_id"},
    {"decoder_start_token_id"},
    // Execution by a program.
    {"use_cache"},
    {"output_past"},
    {"output_attentions", "[false]"},
    {"output_hidden_states", "[false]"},
    {"return_dict"},
    {"torchscript"},
    {"use_bfloat16"},
    {"xla_device"},
    {"attn_implementation"},
    {"chunk_size_feed_forward"},
    {"gradient_checkpointing"},
    {"pretraining_tp"},
    {"reorder_and_upcast_attn"},
    {"is_decoder"},
    {"max_sequence_length"},
    {"max_window_layers"},
    {"n_ctx"},
    {"encoder_stride"},
    {"pooler_act"},
    {"pooler_output_size"},
    {"pooler_fc_size"},
    {"pooler_num_attention_heads"},
    {"pooler_num_fc_layers"},
    {"pooler_size_per_head"},
    {"pooler_type"},
    // Past or future training.
    {"initializer_range"},
    {"attn_pdrop"},
    {"embd_pdrop"},
    {"resid_pdrop"},
    {"attention_dropout"},
    {"hidden_dropout_prob"},
    {"attention_probs_dropout_prob"},
    {"classifier_dropout"},
    {"classif_dropout"},
    {"dropout"},
    {"activation_dropout"},
    {"encoder_layerdrop"},
    {"decoder_layerdrop"},
    {"init_std"},
    {"summary_activation"},
    {"summary_first_dropout"},
    {"summary_proj_to_labels"},
    {"summary_type"},
    {"summary_use_proj"},
    {"predict_special_tokens"},
    {"n_special"},
    {"afn"},
    {"neftune_noise_alpha"},
    // Parts of other models.
    {"is_encoder_decoder", "[false]"},
    {"add_cross_attention", "[false]"},
    {"pruned_heads", "[{}]"},
    {"position_embedding_type", "[\"absolute\"]"},
    {"directionality", "[\"bidi\"]"},
    {"partial_rotary_factor", "[1]"},
    {"rope_interleaved", "[false]"},
    {"sliding_window", "[]"},
    {"use_sliding_window", "[false]"},
    {"logit_scale", "[1]"},
    {"embedding_multiplier", "[1]"},
    {"residual_multiplier", "[1]"},
    {"logits_scaling", "[1]"},
    // Marian models: the bias of logits is there if it is among the tensors, and positions are not learned.
    {"add_bias_logits"},
    {"extra_pos_embeddings"},
    {"normalize_embedding", "[false]"},
    {"add_final_layer_norm", "[false]"},
};

// Includes the keys that are read, which config.json may have if a model has no generation_config.json.
constexpr OtherKey GENERATION[] = {
    {"transformers_version"},
    {"bos_token_id"},
    {"pad_token_id"},
    {"decoder_start_token_id"},
    {"eos_token_id"},
    {"do_sample"},
    {"temperature"},
    {"top_k"},
    {"top_p"},
    {"min_p"},
    {"repetition_penalty"},
    {"max_new_tokens"},
    {"stop_strings"},
    {"max_length"},  // counts the prompt, too; the model's context limits texts anyway
    {"use_cache"},
    {"cache_implementation"},
    {"cache_config"},
    {"return_legacy_cache"},
    {"compile_config"},
    {"disable_compile"},
    {"low_memory"},
    {"renormalize_logits"},
    {"remove_invalid_values"},
    {"output_scores"},
    {"output_logits"},
    {"output_attentions"},
    {"output_hidden_states"},
    {"return_dict_in_generate"},
    {"length_penalty"},  // for beams, as the next two
    {"early_stopping"},
    {"num_beam_groups", "[1]"},
    {"num_beams", "[1]"},
    {"diversity_penalty", "[0]"},
    {"num_return_sequences", "[1]"},
    {"bad_words_ids", "[]"},
    {"forced_eos_token_id", "[]"},
    {"min_length", "[0]"},
    {"min_new_tokens", "[0]"},
    {"max_time", "[]"},
    {"typical_p", "[1]"},
    {"epsilon_cutoff", "[0]"},
    {"eta_cutoff", "[0]"},
    {"penalty_alpha", "[0]"},
    {"encoder_repetition_penalty", "[1]"},
    {"no_repeat_ngram_size", "[0]"},
    {"encoder_no_repeat_ngram_size", "[0]"},
    {"guidance_scale", "[1]"},
    {"num_assistant_tokens"},
    {"num_assistant_tokens_schedule"},
    {"assistant_confidence_threshold"},
    {"assistant_early_exit"},
    {"assistant_lookbehind"},
    {"target_lookbehind"},
    {"prompt_lookup_num_tokens"},
    {"max_matching_ngram_size"},
    {"is_assistant"},
    {"trust_remote_code"},
    {"chat_format"},
    {"max_window_size"},
};

// Names, notes, and keys for other software around a tokenizer.
constexpr OtherKey TOKENIZER[] = {
    {"tokenizer_class"},
    {"tokenizer_file"},
    {"vocab_file"},
    {"merges_file"},
    {"name_or_path"},
    {"auto_map"},
    {"backend"},
    {"is_local"},
    {"local_files_only"},
    {"trust_remote_code"},
    {"revision"},
    {"cache_dir"},
    {"device_map"},
    {"processor_class"},
    {"special_tokens_map_file"},
    {"model_max_length"},
    {"max_len"},
    {"max_length"},
    {"model_input_names"},
    {"model_specific_special_tokens"},
    {"padding_side"},
    {"truncation_side"},
    {"truncation"},
    {"padding"},
    {"pad_to_multiple_of"},
    {"pad_token_type_id"},
    {"stride"},
    {"truncation_strategy"},
    {"return_token_type_ids"},
    {"clean_up_tokenization_spaces"},  // changes shown text only
    {"spaces_between_special_tokens"},
    {"errors"},
    {"legacy"},
    {"from_slow"},
    {"use_fast"},
    {"use_default_system_prompt"},
    {"sp_model_kwargs"},
    {"trim_offsets"},
    {"unk_token"},
    {"pad_token"},
    {"sep_token"},
    {"cls_token"},
    {"mask_token"},
    {"extra_special_tokens"},
    {"bos_token"},
    {"eos_token"},
    {"add_bos_token"},
    {"add_eos_token"},
    {"added_tokens_decoder"},
    {"additional_special_tokens"},
    {"chat_template"},
    {"add_prefix_space"},
    {"do_basic_tokenize", "[true]"},
    {"wordpieces_prefix", "[\"##\"]"},
    {"split_special_tokens", "[false]"},
    // Languages and files of a MarianTokenizer.
    {"source_lang"},
    {"target_lang"},
    {"separate_vocabs"},
    {"source_spm"},
    {"target_spm"},
    {"vocab"},
    {"target_vocab_file"},
};

// True for values that ask for nothing under any key: null, false and empty ones.
bool asks_for_nothing(const json& value) {
    return value.is_null() || value == false || value == "" || (value.is_structured() && value.empty());
}

}  // namespace

std::span<const OtherKey> other_config_keys() {
    return CONFIG;
}

std::span<const OtherKey> other_generation_keys() {
    return GENERATION;
}

std::span<const OtherKey> other_tokenizer_keys() {
    return TOKENIZER;
}

bool asks_for_nothing(const OtherKey& key, const json& value) {
    if (key.neutral.empty() || value.is_null()) return true;
    const json neutral = json::parse(key.neutral);
    return std::ranges::find(neutral, value) != neutral.end();
}

void require_understood(const ConfigKeys& keys, std::span<const std::string_view> read,
                        std::span<const OtherKey> others) {
    for (const std::string& name : keys.names()) {
        const json& value = keys.value(name);
        if (asks_for_nothing(value) || name.starts_with('_') || std::ranges::find(read, name) != read.end()) continue;
        const auto other = std::ranges::find(others, name, &OtherKey::name);
        const bool known = other != others.end();
        if (known && asks_for_nothing(*other, value)) continue;
        const json neutral = known ? json::parse(other->neutral) : json::array();
        throw InputError(keys.where(), ": '", name, "' is ", one_line(value), ", which is not supported, wanted ",
                         neutral.empty() ? "null" : one_line(neutral.front()));
    }
}

}  // namespace vkf

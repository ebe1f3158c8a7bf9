// Recipes' numbers: options of `train` by default and with every file of configs/, against published numbers.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/program.h"
#include "apps/train/image_options.h"
#include "image_recipes.h"
#include "models/images/normalise.h"
#include "translation_recipes.h"

namespace vkf::test {
namespace {

const Rows self_attention{{"attention", "standard", "ours"}, {"attention-kind", "full", "ours"}};
const Rows ours{
    {"model-ema-decay", "0", "ours"},       {"skip-outlier-gradients", "0", "ours"},
    {"save-total-limit", "0", "ours"},      {"save-minutes", "0", "ours"},   {"max-minutes", "0", "ours"},
    {"early-stopping-patience", "0", "ours"}, {"overfit-one-batch", "false", "ours"},
    {"recompute", "false", "ours"},         {"momentum", "0.9", "ours"},     {"precision", "fp32", "ours"},
    {"decay-lr", "true", "decay_lr"}, {"log-interval", "1", "log_interval"}, {"probe-interval", "0", "ours"},
    {"eval-precision", "as-training", "ours"},
    {"seed", "1337", "torch.manual_seed"},
};

/// karpathy/nanoGPT: model.py.
const Rows nanogpt_model{
    {"n-layer", "12", "n_layer"},
    {"n-head", "12", "n_head"},
    {"n-embd", "768", "n_embd"},
    {"bias", "false", "bias"},
    {"activation", "gelu", "nn.GELU()"},
};
/// karpathy/nanoGPT: train.py; weight decay is from configure_optimizers.
const Rows nanogpt{
    {"order", "random", "get_batch"},    {"z-loss", "0", "none"}, {"label-smoothing", "0", "none"},
    {"eval-order", "random", "get_batch"},
    {"schedule", "cosine", "get_lr"},
    {"vocab-size", "0", "meta_vocab_size"},
    {"block-size", "1024", "block_size"},
    {"dropout", "0", "dropout"},
    {"batch-size", "12", "batch_size"},
    {"gradient-accumulation-steps", "40", "gradient_accumulation_steps"},
    {"max-iters", "600000", "max_iters"},
    {"optimizer", "adamw", "torch.optim.AdamW"},
    {"learning-rate", "6e-4", "learning_rate"}, {"min-lr", "6e-5", "min_lr"},
    {"warmup-iters", "2000", "warmup_iters"},
    {"lr-decay-iters", "600000", "lr_decay_iters"},
    {"weight-decay", "0.1", "weight_decay"},
    {"decay-all", "false", "p.dim() >= 2"},
    {"beta1", "0.9", "beta1"}, {"beta2", "0.95", "beta2"},
    {"grad-clip", "1", "grad_clip"},
    {"eval-interval", "2000", "eval_interval"}, {"eval-iters", "200", "eval_iters"},
    {"eval-train", "true", "estimate_loss"},
};
/// karpathy/nanoGPT: config/train_gpt2.py
const Rows train_gpt2{
    {"vocab-size", "50304", "vocab_size"},
    {"precision", "mixed", "dtype = 'bfloat16'"},
    {"eval-interval", "1000", "eval_interval"},
};
/// karpathy/nanoGPT: config/train_shakespeare_char.py
const Rows shakespeare_char{
    {"n-layer", "6", "n_layer"},
    {"n-head", "6", "n_head"},
    {"n-embd", "384", "n_embd"},
    {"block-size", "256", "block_size"},
    {"dropout", "0.2", "dropout"},
    {"batch-size", "64", "batch_size"},
    {"gradient-accumulation-steps", "1", "gradient_accumulation_steps"},
    {"max-iters", "5000", "max_iters"},
    {"learning-rate", "1e-3", "learning_rate"},
    {"min-lr", "1e-4", "min_lr"},
    {"warmup-iters", "100", "warmup_iters"},
    {"lr-decay-iters", "5000", "lr_decay_iters"},
    {"beta2", "0.99", "beta2"},
    {"eval-interval", "250", "eval_interval"},
    {"eval-iters", "200", "eval_iters"},
};
/// karpathy/nanoGPT: README.md, "I only have a macbook"; overrides shakespeare_char.
const Rows shakespeare_char_cpu{
    {"n-layer", "4", "--n_layer"},       {"n-head", "4", "--n_head"},
    {"n-embd", "128", "--n_embd"},       {"block-size", "64", "--block_size"},
    {"dropout", "0.0", "--dropout"},     {"batch-size", "12", "--batch_size"},
    {"max-iters", "2000", "--max_iters"}, {"lr-decay-iters", "2000", "--lr_decay_iters"},
    {"eval-iters", "20", "--eval_iters"},
};
/// tools/demo; overrides shakespeare_char_cpu.
const Rows shakespeare_bpe_cpu{
    {"n-layer", "3", "ours"}, {"max-iters", "700", "ours"},
    {"learning-rate", "4e-3", "ours"}, {"min-lr", "2e-4", "ours"},
    {"lr-decay-iters", "700", "ours"}, {"eval-interval", "175", "ours"},
};

/// hengjiUSTC/learn-llm, pretrain/train_llama.py: the model. `train llama` trains it with nanoGPT's options.
const Rows learn_llm_model{
    {"n-layer", "12", "n_layer"},
    {"n-head", "12", "n_head"},
    {"n-kv-head", "4", "n_kv_head"},
    {"n-embd", "768", "n_embd"},
    {"head-dim", "0", "n_embd / n_head"},
    {"intermediate-size", "0", "4 * n_embd"},
    {"activation", "silu", "F.silu"},
    {"rms-norm-eps", "1e-5", "eps"},
    {"rope-theta", "500000", "rope_theta"},
    {"tie-word-embeddings", "false", "lm_head"},
    {"attention-bias", "false", "bias=False"},
    {"mlp-bias", "false", "bias=False"},
};
/// KellerJordan/modded-nanogpt, branch casted, train_gpt2.py: the model. `train nano-gpt2` trains it with nanoGPT's
/// options.
const Rows modded_nanogpt_model{
    {"n-layer", "12", "n_layer"},
    {"n-head", "12", "n_head"},
    {"n-embd", "768", "n_embd"},
    {"rope-theta", "10000", "base"},
    {"casted-weights", "true", "CastedLinear"},
};
/// KellerJordan/modded-nanogpt: run.sh, else the defaults of train_gpt2.py.
const Rows modded_nanogpt{
    {"vocab-size", "50257", "vocab_size"},
    {"order", "sequential", "DistributedDataLoader"}, {"z-loss", "0", "none"}, {"label-smoothing", "0", "none"},
    {"eval-order", "sequential", "val_loader.reset"},
    {"batch-size", "64", "--batch_size"},
    {"gradient-accumulation-steps", "8", "GPUs"},
    {"max-iters", "9536", "--num_iterations"},
    {"schedule", "trapezoid", "get_lr"},
    {"learning-rate", "1.8e-3", "--learning_rate"},
    {"min-lr", "0", "get_lr"},
    {"warmup-iters", "256", "--warmup_iters"},
    {"warmdown-iters", "2048", "--warmdown_iters"},
    {"lr-decay-iters", "9536", "--num_iterations"},
    {"weight-decay", "0.1", "--weight_decay"},
    {"decay-all", "true", "self.parameters()"},
    {"grad-clip", "0", "none"},
    {"eval-interval", "128", "--val_loss_every"},
    {"eval-iters", "160", "--val_max_steps of 8 GPUs"},
    {"eval-train", "false", "val_loader alone"},
    {"precision", "mixed", "ctx = autocast"}, {"eval-precision", "fp32", "evaluated outside ctx"},
};
/// hengjiUSTC/learn-llm: training; overrides nanoGPT's.
const Rows learn_llm{
    {"vocab-size", "50304", "vocab_size"},
    {"order", "sequential", "DataLoaderLite"}, {"z-loss", "0", "none"}, {"label-smoothing", "0", "none"},
    {"eval-order", "sequential", "val_loader.reset"},
    {"batch-size", "32", "micro_batch_size"},
    {"gradient-accumulation-steps", "8", "total_batch_size"},
    {"max-iters", "38146", "max_steps"},
    {"warmup-iters", "1429", "warmup_steps 1430, which count one more"},
    {"lr-decay-iters", "38146", "max_steps"},
    {"eval-interval", "250", "eval_interval"},
    {"eval-iters", "20", "val_loss_steps"},
    {"eval-train", "false", "val_loader alone"},
    {"precision", "mixed", "torch.autocast"},
};
/// Not published, our own; overrides nanoGPT's recipe for characters on a CPU.
const Rows llama_char_cpu{
    {"n-layer", "6", "ours"},     {"n-head", "6", "ours"},   {"n-kv-head", "2", "ours"},
    {"n-embd", "192", "ours"},    {"intermediate-size", "512", "ours"},
};

/// Not published, our own: a Llama for a few books in byte pairs.
const Rows llama_bpe_cpu{
    {"n-layer", "4", "ours"},     {"n-head", "4", "ours"},   {"n-kv-head", "2", "ours"},
    {"n-embd", "128", "ours"},    {"intermediate-size", "384", "ours"},
};
/// Devlin et al., BERT, section 3 and appendix A.2: BERT-base. `train bert` trains it with nanoGPT's options.
const Rows bert_model{
    {"n-layer", "12", "L"}, {"n-head", "12", "A"}, {"n-embd", "768", "H"}, {"intermediate-size", "0", "4H"},
    {"activation", "gelu", "gelu"}, {"layer-norm-eps", "1e-12", "modeling.py"},
    {"tie-word-embeddings", "true", "modeling.py"}, {"mask-share", "0.15", "15% of all WordPiece tokens"},
};
/// Devlin et al., BERT, section 4.1: the model of bert_model with a pooled state; and our own training of it.
const Rows bert_classifier{
    {"n-layer", "12", "L"}, {"n-head", "12", "A"}, {"n-embd", "768", "H"}, {"intermediate-size", "0", "4H"},
    {"activation", "gelu", "gelu"}, {"layer-norm-eps", "1e-12", "modeling.py"},
    {"vocab-size", "0", "the data's"}, {"pooling", "first", "[CLS]"},
    {"label-fields", "text,label", "ours"}, {"tokens", "words", "ours"},
    {"block-size", "512", "run_classifier.py: max_position_embeddings"}, {"buckets", "8", "ours"},
    {"batch-size", "32", "16, 32"}, {"gradient-accumulation-steps", "1", "ours"},
    {"dropout", "0.1", "dropout probability"}, {"z-loss", "0", "none"}, {"label-smoothing", "0", "none"},
    {"max-iters", "5000", "ours"}, {"eval-interval", "500", "ours"},
    {"schedule", "cosine", "ours"}, {"optimizer", "adamw", "Adam with weight decay"},
    {"learning-rate", "1e-4", "pre-training's"}, {"min-lr", "0", "ours"},
    {"warmup-iters", "500", "10 %: run_classifier.py"}, {"lr-decay-iters", "5000", "the steps"},
    {"weight-decay", "0.01", "L2 weight decay"}, {"decay-all", "false", "optimization.py"},
    {"beta1", "0.9", "β1"}, {"beta2", "0.999", "β2"}, {"grad-clip", "1", "optimization.py"},
};
/// Not published, our own: ListOps on a CPU.
const Rows listops_cpu{
    {"n-layer", "2", "ours"}, {"n-head", "2", "ours"}, {"n-embd", "64", "ours"}, {"intermediate-size", "128", "ours"},
    {"block-size", "2000", "Long Range Arena: max_length"}, {"batch-size", "8", "ours"}, {"dropout", "0", "ours"},
    {"learning-rate", "1e-3", "ours"}, {"warmup-iters", "200", "ours"},
};
/// Not published, our own: pixels of images on a CPU.
const Rows pixels_cpu{
    {"n-layer", "2", "ours"}, {"n-head", "2", "ours"}, {"n-embd", "64", "ours"}, {"intermediate-size", "128", "ours"},
    {"block-size", "1025", "1024 pixels and [CLS]"}, {"pooling", "mean", "ours"}, {"batch-size", "8", "ours"},
    {"dropout", "0", "ours"}, {"learning-rate", "1e-3", "ours"}, {"warmup-iters", "200", "ours"},
};
/// Not published, our own: a BERT for a few books.
const Rows novels_bert_cpu{
    {"n-layer", "4", "ours"}, {"n-head", "4", "ours"}, {"n-embd", "128", "ours"}, {"batch-size", "24", "ours"},
};
/// modded-nanogpt's recipe in the size of llama_bpe_cpu: its warm-up and descent as shares of the steps.
const Rows nano_gpt2_bpe_cpu{
    {"precision", "fp32", "ours"}, {"eval-precision", "as-training", "ours"}, {"eval-train", "true", "ours"},
    {"vocab-size", "0", "the data's"}, {"order", "random", "ours"},
    {"eval-order", "random", "ours"}, {"z-loss", "0", "none"}, {"label-smoothing", "0", "none"},
    {"n-layer", "4", "ours"},          {"n-head", "4", "ours"},
    {"n-embd", "128", "ours"},         {"block-size", "64", "ours"},
    {"batch-size", "12", "ours"},      {"gradient-accumulation-steps", "1", "ours"},
    {"max-iters", "2000", "ours"},     {"lr-decay-iters", "2000", "ours"},
    {"warmup-iters", "54", "256 / 9536"}, {"warmdown-iters", "430", "2048 / 9536"},
    {"eval-interval", "250", "ours"},  {"eval-iters", "20", "ours"},
};

/// A kind of model, a file of configs/ or none, and the tables of its options. Later tables override earlier ones.
struct Recipe {
    std::string kind, config;
    std::vector<Rows> tables;
};

const std::vector<Recipe> recipes{
    {"gpt", "", {self_attention, ours, nanogpt_model, nanogpt}},
    {"gpt", "shakespeare-char", {self_attention, ours, nanogpt_model, nanogpt, shakespeare_char}},
    {"gpt", "shakespeare-char-cpu",
     {self_attention, ours, nanogpt_model, nanogpt, shakespeare_char, shakespeare_char_cpu}},
    {"gpt", "shakespeare-bpe-cpu",
     {self_attention, ours, nanogpt_model, nanogpt, shakespeare_char, shakespeare_char_cpu, shakespeare_bpe_cpu}},
    {"gpt", "nanogpt", {self_attention, ours, nanogpt_model, nanogpt, train_gpt2}},
    {"llama", "", {self_attention, ours, learn_llm_model, nanogpt}},
    {"llama", "learn-llm", {self_attention, ours, learn_llm_model, nanogpt, learn_llm}},
    {"llama", "llama-char-cpu",
     {self_attention, ours, learn_llm_model, nanogpt, shakespeare_char, shakespeare_char_cpu, llama_char_cpu}},
    {"llama", "llama-bpe-cpu",
     {self_attention, ours, learn_llm_model, nanogpt, shakespeare_char, shakespeare_char_cpu, llama_bpe_cpu}},
    {"nano-gpt2", "nano-gpt2-bpe-cpu",
     {self_attention, ours, modded_nanogpt_model, nanogpt, modded_nanogpt, nano_gpt2_bpe_cpu}},
    {"nano-gpt2", "", {self_attention, ours, modded_nanogpt_model, nanogpt}},
    {"nano-gpt2", "nano-gpt2", {self_attention, ours, modded_nanogpt_model, nanogpt, modded_nanogpt}},
    {"bert", "", {self_attention, ours, bert_model, nanogpt}},
    {"bert", "novels-bert-cpu",
     {self_attention, ours, bert_model, nanogpt, shakespeare_char, shakespeare_char_cpu, novels_bert_cpu}},
    {"bert-classifier", "", {self_attention, ours, bert_classifier}},
    {"bert-classifier", "listops-cpu", {self_attention, ours, bert_classifier, listops_cpu}},
    {"bert-classifier", "pixels-cpu", {self_attention, ours, bert_classifier, pixels_cpu}},
    {"translate", "", {self_attention, ours, vaswani_model, vaswani_training}},
    {"translate", "multi30k-cpu", {self_attention, ours, vaswani_model, vaswani_training, multi30k}},
    {"translate-rnn", "", {ours, recurrent_model, vaswani_training}},
    {"translate-rnn", "multi30k-rnn-cpu", {ours, recurrent_model, vaswani_training, multi30k_rnn}},
    {"vit", "", {self_attention, ours, plain_vit}},
    {"vit", "cifar-tiny", {self_attention, ours, plain_vit, cifar_tiny}},
    {"vit", "sl-cifar10", {self_attention, ours, plain_vit, sl_cifar10_rows}},
    {"vit", "sl-cifar100", {self_attention, ours, plain_vit, sl_cifar10_rows, sl_cifar100_rows}},
    {"vit", "kk-cifar10", {self_attention, ours, plain_vit, kk_cifar10_rows}},
    {"vit", "kk-cifar100", {self_attention, ours, plain_vit, kk_cifar10_rows, kk_cifar100_rows}},
    {"vit", "localvit-s", {self_attention, ours, plain_vit, localvit_s_rows}},
    {"vit", "localvit-cpu", {self_attention, ours, plain_vit, localvit_cpu_rows}},
};

/// Options of train.toml, without those that name data and weights, and without gamma, which has a separate test.
std::map<std::string, std::string> options_of(const std::string& toml) {
    std::map<std::string, std::string> options;
    std::istringstream lines(toml);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t equals = line.find(" = ");
        if (equals == std::string::npos) continue;
        std::string value = line.substr(equals + 3);
        if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
        options[line.substr(0, equals)] = value;
    }
    for (const char* other : {"data", "init-from", "gamma"}) options.erase(other);
    return options;
}

/// True if two words are the same number: 6e-4 equals 0.00059999999999999995, and 0.1 equals its value in fp32.
bool same(const std::string& a, const std::string& b) {
    char *end_a = nullptr, *end_b = nullptr;
    const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
    return *end_a == 0 && *end_b == 0 && !a.empty() && !b.empty()
               ? static_cast<float>(x) == static_cast<float>(y)
               : a == b;
}

nlohmann::json inspect(const Recipe& recipe, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"inspect", recipe.kind};
    if (!recipe.config.empty()) words.push_back("--config=configs/" + recipe.config + ".toml");
    words.insert(words.end(), more.begin(), more.end());
    return document_of(std::move(words));
}

TEST(ProgramRecipes, TrainWithThePublishedNumbers) {
    for (const Recipe& recipe : recipes) {
        const std::string name = recipe.config.empty() ? "train " + recipe.kind : recipe.config;
        std::map<std::string, const Row*> wanted;
        for (const Rows& table : recipe.tables)
            for (const Row& row : table) wanted[row.key] = &row;
        const auto found = options_of(inspect(recipe).value("train_toml", ""));
        for (const auto& [key, value] : found) {
            const auto row = wanted.find(key);
            if (row == wanted.end())
                ADD_FAILURE() << name << ": " << key << " = " << value << " stands in no table";
            else
                EXPECT_TRUE(same(value, row->second->value))
                    << name << ": " << key << " is " << value << ", wanted " << row->second->value << " ("
                    << row->second->source << ")";
        }
        for (const auto& [key, row] : wanted) EXPECT_TRUE(found.contains(key)) << name << " lacks " << key;
    }
}

TEST(ProgramRecipes, EveryConfigurationHasATable) {
    std::set<std::string> files, known;
    for (const auto& entry : std::filesystem::directory_iterator("configs"))
        if (entry.is_regular_file()) files.insert(entry.path().stem().string());
    for (const Recipe& recipe : recipes)
        if (!recipe.config.empty()) known.insert(recipe.config);
    EXPECT_EQ(files, known);
}

/// Default of AttentionX's gamma: 3 on the sum and 0.5 on the value for language models, 1 for images.
TEST(ProgramRecipes, AttentionXHasThePapersGamma) {
    const auto gamma = [](const char* kind, const char* config, const char* on) {
        const nlohmann::json document =
            inspect({kind, config, {}}, {"--attention=attentionx", std::string("--gamma-on=") + on});
        return document.at("config").at("attention").at("gamma").get<double>();
    };
    EXPECT_EQ(gamma("gpt", "", "sum"), 3);
    EXPECT_EQ(gamma("gpt", "", "value"), 0.5);
    EXPECT_EQ(gamma("vit", "kk-cifar10", "sum"), 1);
    EXPECT_EQ(gamma("vit", "kk-cifar10", "value"), 1);
}

TEST(ProgramRecipes, NormaliseByTheSourcesStatistics) {
    using Three = std::array<double, 3>;
    const auto expect = [](const Statistics& found, const Three& mean, const Three& deviation) {
        EXPECT_EQ(found.mean, mean);
        EXPECT_EQ(found.deviation, deviation);
    };
    expect(vkf::kk_cifar10, {0.4914, 0.4822, 0.4465}, {0.2023, 0.1994, 0.2010});
    expect(vkf::kk_cifar100, {0.5071, 0.4867, 0.4408}, {0.2675, 0.2565, 0.2761});
    expect(vkf::sl_cifar10, {0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616});
    expect(statistics_named("imagenet"), {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225});
    expect(vkf::sl_cifar100, {0.5070, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2762});
}

}  // namespace
}  // namespace vkf::test

#!/usr/bin/env bash
# Runs vkformer as a framework of inferena (github.com/kvark/inferena), whose harness starts frameworks/NAME/run.sh and
# reads one line of JSON. Link this file to frameworks/vkformer/run.sh of a checkout of inferena.
#     run.sh [MODEL]
# VKFORMER is the program, else vkformer in PATH. The model's directory is VKFORMER_MODEL, else models/MODEL of the
# checkout, else Hugging Face's cache. Logits and loss are those of its weights; speed does not depend on weights.
set -euo pipefail
model=${1:-SmolLM2-135M}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${VKFORMER:-vkformer}

case $model in
    SmolLM2-135M) name=smollm2 repository=HuggingFaceTB--SmolLM2-135M ;;
    *)
        printf 'Unknown model: %s. Available: SmolLM2-135M\n' "$model" >&2
        exit 1 ;;
esac
if ! command -v "$program" >/dev/null; then
    printf '[vkformer] %s was not found: put vkformer into PATH, or its path into VKFORMER\n' "$program" >&2
    exit 1
fi
weights=${VKFORMER_MODEL:-$root/models/$model}
if [ ! -f "$weights/config.json" ]; then
    for weights in "${HF_HOME:-$HOME/.cache/huggingface}/hub/models--$repository"/snapshots/*; do :; done
fi
if [ ! -f "$weights/config.json" ]; then
    printf '[vkformer] no weights of %s: models/download.sh or models/generate_weights.py makes them\n' "$model" >&2
    exit 1
fi
if [ "${INFERENA_DRY_RUN:-}" = 1 ]; then
    printf '[vkformer] dry-run OK: %s\n' "$model" >&2
    exit 0
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# integers FIRST LAST: consecutive numbers below 256 as little-endian I32.
integers() { for ((i = $1; i <= $2; ++i)); do printf '%b\0\0\0' "\\x$(printf %x "$i")"; done; }
# The benchmark's input, in a safetensors file: tokens 0, 1, …, 127, of which each is followed by the next.
header='{"tokens":{"dtype":"I32","shape":[1,128],"data_offsets":[0,512]},'
header+='"targets":{"dtype":"I32","shape":[1,128],"data_offsets":[512,1024]}}'
{
    printf '%b\0\0\0\0\0\0\0' "\\x$(printf %x ${#header})"
    printf %s "$header"
    integers 0 127
    integers 1 128
} >"$folder/input.safetensors"

seconds=2
{
    "$program" forward --model "$weights" --input "$folder/input.safetensors" --output "$folder/outputs.safetensors"
    "$program" bench step --model $name --batch-size 1 --block-size 128 --seconds $seconds --out "$folder/step.json"
    "$program" bench generate --model $name --prompt 128 --block-size 256 --seconds $seconds \
        --out "$folder/generate.json"
} >&2
"$program" bench export "$folder/step.json" "$folder/generate.json" --as inferena \
    --outputs "$folder/outputs.safetensors"

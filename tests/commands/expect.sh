# Functions for the shell tests of the program; sourced with the program as $1. Each test runs in a separate folder.
set -uo pipefail
program=$(readlink -f "$1")
configs=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../../configs")
unset VKFORMER_DEVICE VKFORMER_VALIDATION
scratch=$(mktemp -d)
# Tests see no data of the user. Drivers keep their caches of compiled shaders, and ccache keeps its own.
settings=${XDG_CONFIG_HOME:-$HOME/.config}/ccache/ccache.conf
if [ -f "$settings" ]; then export CCACHE_CONFIGPATH=$settings; fi
# as_before COMMAND...: runs the command in the language of the tests' caller, in which ccache knows its objects.
language=${LC_ALL-}
as_before() { if [ -n "$language" ]; then LC_ALL=$language "$@"; else env -u LC_ALL "$@"; fi; }
unset VKFORMER_DATA XDG_DATA_HOME
export LC_ALL=C XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache} HOME=$scratch/home
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

checks=0 failures=0
wrong() {
    failures=$((failures + 1))
    printf 'WRONG %s\n' "$*"
    sed 's/^/      stderr: /' stderr | head -n 5
}

# as_user COMMAND...: runs the command so that the program it tests runs as an ordinary user. Root may ignore
# permissions, so root's tests run a copy of the program as the user nobody. Scripts are not copied: nobody may lack
# access to the programs they start.
runner=()
as_user() {
    local program=$program runner=()
    if [ "$(head -c 2 "$program")" = '#!' ]; then return; fi
    if [ "$(id -u)" -eq 0 ]; then
        chmod 755 "$scratch"
        [ -x "$scratch/program" ] || install -m 755 "$program" "$scratch/program"
        program=$scratch/program
        runner=(setpriv --reuid=65534 --regid=65534 --clear-groups env MESA_SHADER_CACHE_DISABLE=true)
    fi
    "$@"
}

# expect STATUS PATTERN ARGUMENT...: runs the program. With a status other than 0 standard error must be
# one line "vkformer: error: …" that matches the pattern; with 0 the pattern is for standard output.
expect() {
    local status=$1 pattern=$2
    shift 2
    checks=$((checks + 1))
    timeout 300 "${runner[@]}" "$program" "$@" >stdout 2>stderr </dev/null
    local got=$?
    sed -i '/vkformer: validation: vkCreateInstance: Found no drivers!/d' stderr  # printed by the loader
    [ "$got" -eq "$status" ] || { wrong "exit status $got instead of $status: $*"; return; }
    if [ "$status" -eq 0 ]; then
        [ -z "$pattern" ] || grep -qE -- "$pattern" stdout || wrong "standard output lacks /$pattern/: $*"
    else
        [ "$(wc -l <stderr)" -eq 1 ] || wrong "$(wc -l <stderr) lines instead of 1: $*"
        grep -qE -- "^vkformer: error: .*($pattern)" stderr || wrong "standard error lacks /$pattern/: $*"
        [ ! -s stdout ] || wrong "a failure wrote to standard output: $*"
    fi
}

# --- Files for the tests -----------------------------------------------------------------------------

# The bytes of number $1 as a little-endian integer of $2 bytes.
little() {
    local value=$1 i
    for ((i = 0; i < $2; ++i)); do
        printf "\\x$(printf %02x $((value & 255)))"
        value=$((value >> 8))
    done
}

# safetensors FILE JSON BYTES: writes a file of this header and BYTES zero bytes, or the data of standard
# input if BYTES is "-".
safetensors() {
    { little "${#2}" 8; printf %s "$2"; if [ "$3" = - ]; then cat; else head -c "$3" /dev/zero; fi; } >"$1"
}

config='"model_type":"gpt2","vocab_size":5,"n_positions":8,"n_embd":4,"n_layer":1,"n_head":2,"bias":false'

# weights FILE [SED-EXPRESSION]: writes zero weights for the model below, with the header edited.
weights() {
    local names at=0 header='' name shape count
    names='wte.weight [5,4] 20;wpe.weight [8,4] 32;h.0.ln_1.weight [4] 4;h.0.attn.c_attn.weight [4,12] 48'
    names+=';h.0.attn.c_proj.weight [4,4] 16;h.0.ln_2.weight [4] 4;h.0.mlp.c_fc.weight [4,16] 64'
    names+=';h.0.mlp.c_proj.weight [16,4] 64;ln_f.weight [4] 4'
    while read -r -d ';' name shape count; do
        header+="${header:+,}\"$name\":{\"dtype\":\"F32\",\"shape\":$shape,\"data_offsets\":[$at,$((at + count * 4))]}"
        at=$((at + count * 4))
    done <<<"$names;"
    safetensors "$1" "{$(sed -E "${2:-}" <<<"$header")}" "$at"
}

model() { # model DIR CONFIG-JSON: makes a model that is valid except for its configuration
    mkdir -p "$1"
    printf '%s' "$2" >"$1/config.json"
    weights "$1/model.safetensors"
}
model good "{$config}"

# by_others DIR...: removes the manifest, so that the model looks like one from another program.
by_others() { for folder; do rm "$folder/manifest.json"; done; }

# Prints the result. It is the last command of a test.
finish() { # finish NAME
    printf '%s: %s checks, %s failures\n' "$1" "$checks" "$failures"
    [ "$failures" -eq 0 ]
}

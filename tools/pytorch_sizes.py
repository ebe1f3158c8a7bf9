"""Sizes of the models for comparisons with PyTorch: B sequences of T tokens, or B images."""
GPTS = {"small-gpt": dict(B=12, T=64, C=128, layers=4, heads=4, V=65),
        "gpt2": dict(B=1, T=256, C=768, layers=12, heads=12, V=50257)}
LLAMAS = {"smollm2": dict(B=1, T=128, C=576, layers=30, heads=9, kv_heads=3, inner=1536, V=49152, theta=1e5)}
VIT = dict(B=128, side=32, patch=4, C=192, layers=9, heads=12, inner=384, classes=10, depth=0.1)

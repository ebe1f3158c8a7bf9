"""Models for comparisons with PyTorch, written as PyTorch users would write them."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from pytorch_sizes import GPTS, LLAMAS, VIT


def attend(q, k, v, causal, fused):
    """Attention of q, k and v [B, H, T, D], all with H heads, by PyTorch's fused kernel or by separate ops."""
    if fused:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    s = (q @ k.transpose(-2, -1)) * q.shape[-1] ** -0.5
    if causal:
        T = q.shape[-2]
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1), -math.inf)
    return F.softmax(s, -1) @ v


class Block(nn.Module):
    def __init__(self, C, heads, inner, causal, depth=0.0, bias=False, qkv_bias=False, fused=False, gelu="none"):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.qkv, self.out = nn.Linear(C, 3 * C, bias=qkv_bias), nn.Linear(C, C, bias=bias)
        self.fc, self.proj = nn.Linear(C, inner, bias=bias), nn.Linear(inner, C, bias=bias)
        self.heads, self.causal, self.depth, self.fused, self.gelu = heads, causal, depth, fused, gelu

    def drop(self, y):
        if self.depth == 0:
            return y
        return y * (torch.rand(len(y), 1, 1, device=y.device) >= self.depth) / (1 - self.depth)

    def attention(self, x):
        B, T, C = x.shape
        q, k, v = (y.view(B, T, self.heads, C // self.heads).transpose(1, 2) for y in self.qkv(x).split(C, 2))
        return self.out(attend(q, k, v, self.causal, self.fused).transpose(1, 2).reshape(B, T, C))

    def forward(self, x):
        x = x + self.drop(self.attention(self.norm_1(x)))
        return x + self.drop(self.proj(F.gelu(self.fc(self.norm_2(x)), approximate=self.gelu)))


class Gpt(nn.Module):
    def __init__(self, B, T, C, layers, heads, V, **options):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, C), nn.Embedding(T, C)
        nn.init.normal_(self.wte.weight, std=0.02)
        self.blocks = nn.Sequential(*[Block(C, heads, 4 * C, True, **options) for _ in range(layers)])
        self.norm = nn.LayerNorm(C)

    def forward(self, tokens, targets):
        x = self.norm(self.blocks(self.wte(tokens) + self.wpe.weight))
        logits = F.linear(x, self.wte.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


class RmsNorm(nn.Module):
    def __init__(self, C):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(C))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


class LlamaBlock(nn.Module):
    def __init__(self, C, heads, kv_heads, inner, fused):
        super().__init__()
        D = C // heads
        self.norm_1, self.norm_2 = RmsNorm(C), RmsNorm(C)
        self.q, self.out = nn.Linear(C, C, bias=False), nn.Linear(C, C, bias=False)
        self.k, self.v = (nn.Linear(C, kv_heads * D, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(C, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, C, bias=False)
        self.heads, self.kv_heads, self.fused = heads, kv_heads, fused

    def forward(self, x, cos, sin):
        B, T, C = x.shape
        D, y = C // self.heads, self.norm_1(x)
        split = lambda y, heads: y.view(B, T, heads, D).transpose(1, 2)
        half = lambda y: torch.cat([-y[..., D // 2:], y[..., :D // 2]], -1)
        v = split(self.v(y), self.kv_heads)
        q, k = ((y * cos + half(y) * sin).to(v.dtype)
                for y in (split(self.q(y), self.heads), split(self.k(y), self.kv_heads)))
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, 1) for y in (k, v))
        x = x + self.out(attend(q, k, v, True, self.fused).transpose(1, 2).reshape(B, T, C))
        y = self.norm_2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, B, T, C, layers, heads, kv_heads, inner, V, theta, fused=False):
        super().__init__()
        self.embed, self.norm = nn.Embedding(V, C), RmsNorm(C)
        nn.init.normal_(self.embed.weight, std=0.02)
        self.blocks = nn.ModuleList([LlamaBlock(C, heads, kv_heads, inner, fused) for _ in range(layers)])
        D = C // heads
        angles = torch.arange(T)[:, None] * theta ** (-torch.arange(0, D, 2) / D)
        for name, table in (("cos", angles.cos()), ("sin", angles.sin())):
            self.register_buffer(name, torch.cat([table, table], -1), persistent=False)

    def forward(self, tokens, targets):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        logits = F.linear(self.norm(x), self.embed.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


class Vit(nn.Module):
    def __init__(self, B, side, patch, C, layers, heads, inner, classes, depth, **options):
        super().__init__()
        self.patches = nn.Conv2d(3, C, patch, patch)
        self.cls = nn.Parameter(torch.randn(1, 1, C))
        self.positions = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, C))
        self.blocks = nn.Sequential(*[Block(C, heads, inner, False, depth, True, **options) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(C), nn.Linear(C, classes)

    def forward(self, images, targets):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = self.blocks(torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.positions)
        return F.cross_entropy(self.head(self.norm(x[:, 0])), targets)


def torch_model(name, device="cpu", **changes):
    """The model and a function that draws a batch for it, on a device. `changes` override its sizes (pytorch_sizes.py)
    or are options of its class."""
    torch.manual_seed(1337)
    of = {**GPTS, **LLAMAS, "sl-vit": VIT}[name] | changes
    if name == "sl-vit":
        draw = lambda: (torch.randn(of["B"], 3, of["side"], of["side"], device=device),
                        torch.rand(of["B"], of["classes"], device=device).softmax(1))
        return Vit(**of).to(device), draw
    draw = lambda: [torch.randint(of["V"], (of["B"], of["T"]), device=device) for _ in range(2)]
    return (Llama if name in LLAMAS else Gpt)(**of).to(device), draw

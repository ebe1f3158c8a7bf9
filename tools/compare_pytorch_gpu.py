"""Times training steps on a GPU, here and in PyTorch, eager and compiled, and prints a table.

  tools/compare-pytorch --device cuda [--models gpt2,smollm2,vit] [--ours REPORT.json ...] [--seconds 1] [--limit 60]
                        [--out FILE.json] [--program PATH]

gpt2     GPT-2 124M, 16 x 1024 tokens; also in fp32, where PyTorch may use TF32 or not
smollm2  SmolLM2 135M, 8 x 1024 tokens
vit      the plain ViT of configs/sl-cifar10.toml, 128 images

A step is forward, loss, backward, clipping at 1.0 and AdamW. PyTorch: autocast to bfloat16 beside our --precision
mixed, its fused attention and fused AdamW, times by CUDA events. Ours come from `vkformer bench step`, or from reports
of it that are there already. Nothing else runs while something is timed. Eager steps come first, because compiling
takes more than 40 seconds on a new machine; models are compiled side by side.
--limit is for each of PyTorch's processes; what takes longer has no number. --device cpu is for trying this out.

Status: 0; 77 where PyTorch or its device is missing; else 1."""
import argparse
import json
import os
import selectors
import signal
import statistics
import subprocess
import sys
import time

# By the model names of `bench step`: PyTorch's model, batch sizes, options of its class.
MODELS = {"gpt2": ("gpt2", dict(B=16, T=1024), dict(bias=True, qkv_bias=True, gelu="tanh")),
          "smollm2": ("smollm2", dict(B=8, T=1024), {}),
          "vit": ("sl-vit", dict(B=128), dict(depth=0.0)),
          "small-gpt": ("small-gpt", dict(B=12, T=64), dict(gelu="tanh"))}
FP32_TOO = ("gpt2", "small-gpt")
OURS_AS = {"bf16": "mixed", "fp32": "fp32", "tf32": "fp32"}
NOTHING_TO_DO = 77


# --- In a separate process -----------------------------------------------------------------------

def step_times(job):
    """Prints milliseconds of steps. Prints "ready" when the model is compiled and warm, and waits for input."""
    import torch

    from pytorch_models import torch_model
    device = job["device"]
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = job["precision"] == "tf32"
    name, size, options = MODELS[job["model"]]
    model, draw = torch_model(name, device, **size, **options, fused=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1,
                                  **(dict(fused=True) if device == "cuda" else {}))
    loss_of = torch.compile(model) if job["compiled"] else model
    batch = draw()

    def step():
        with torch.autocast(device, torch.bfloat16, enabled=job["precision"] == "bf16"):
            loss = loss_of(*batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def timed():
        if device == "cpu":
            start = time.perf_counter()
            step()
            return 1e3 * (time.perf_counter() - start)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        step()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)

    for _ in range(3):
        timed()
    if device == "cuda":
        torch.cuda.empty_cache()
    print("ready", flush=True)
    sys.stdin.readline()
    times, start = [timed()], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < job["seconds"]:
        times.append(timed())
    print(json.dumps(times[1:]), flush=True)


class Timer:
    """A process that times one job."""

    def __init__(self, job, limit):
        self.job, self.end = job, time.monotonic() + limit
        self.process = subprocess.Popen([sys.executable, __file__, json.dumps(job)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)

    def line(self):
        """Next line of the process; None if there is none within the limit."""
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.process.stdout, selectors.EVENT_READ)
            if not waiting.select(max(self.end - time.monotonic(), 0)):
                return None
        return self.process.stdout.readline() or None

    def median(self, go):
        """Median time of the steps in milliseconds; None if something went wrong."""
        try:
            if not go:
                return None
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
            line = self.line()
            return statistics.median(json.loads(line)) if line else None
        except OSError:
            return None
        finally:
            self.stop()

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


# --- Rows ----------------------------------------------------------------------------------------

def our_reports(args):
    """(model, precision) → milliseconds, read from the reports or measured now."""
    titles = {"GPT-2 124M": "gpt2", "SmolLM2 135M": "smollm2", "ViT": "vit", "small GPT": "small-gpt"}
    found = {}
    reports = [json.load(open(path)) for path in args.ours if os.path.exists(path)]
    for model in args.models if not args.ours else []:
        size = MODELS[model][1]
        sizes = [f"--batch-size={size['B']}"] + ([f"--block-size={size['T']}"] if "T" in size else [])
        for precision in ("mixed", "fp32") if model in FP32_TOO else ("mixed",):
            done = subprocess.run([args.program, "bench", "step", "--model", model, *sizes, "--precision", precision,
                                   "--seconds", str(args.seconds), "--json", "--quiet"], stdout=subprocess.PIPE)
            if done.returncode == 0:
                reports.append(json.loads(done.stdout))
    for report in reports:
        for at in report["measurements"]:
            if at["family"] == "step" and at["name"] in titles:
                size = MODELS[titles[at["name"]]][1]
                shape = f"{size['B']}x{size['T']} tokens" if "T" in size else f"{size['B']} images"
                if at["shape"] == shape:
                    found[titles[at["name"]], report["precision"].split()[0]] = 1e3 * at["seconds"]["median"]
    return found


def table(rows):
    lines = [f"{'model':9} precision {'ours':>10} {'eager':>10} {'compiled':>10}  {'eager/ours':>10} compiled/ours"]
    number = lambda value, digits: f"{value:.{digits}f}" if value is not None else "-"
    for at in rows:
        ratio = lambda name: at[name] / at["ours_ms"] if at[name] and at["ours_ms"] else None
        lines.append(f"{at['model']:9} {at['precision']:9} {number(at['ours_ms'], 2):>10} "
                     f"{number(at['eager_ms'], 2):>10} {number(at['compiled_ms'], 2):>10}  "
                     f"{number(ratio('eager_ms'), 2):>10} {number(ratio('compiled_ms'), 2):>13}")
    return "\n".join(lines)


def write(args, head, rows):
    if args.out:
        with open(args.out + ".new", "w") as file:
            json.dump(head | {"steps": rows}, file, indent=2)
        os.replace(args.out + ".new", args.out)


def arguments():
    parser = argparse.ArgumentParser(prog="compare-pytorch --device", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--models", default="gpt2,smollm2,vit")
    parser.add_argument("--ours", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--out")
    parser.add_argument("--program", default="build/vkformer")
    args = parser.parse_args()
    args.models = args.models.split(",")
    for model in args.models:
        if model not in MODELS:
            parser.error(f"--models names {model}, wanted some of {', '.join(MODELS)}")
    return args


def main():
    args = arguments()
    try:
        import torch
    except ImportError:
        print("compare-pytorch: there is no PyTorch here", file=sys.stderr)
        return NOTHING_TO_DO
    if args.device == "cuda" and not torch.cuda.is_available():
        print("compare-pytorch: PyTorch finds no CUDA device", file=sys.stderr)
        return NOTHING_TO_DO
    head = {"torch": torch.__version__,
            "device": torch.cuda.get_device_name() if args.device == "cuda" else "CPU"}
    ours = our_reports(args)
    rows = [dict(model=model, precision=precision, ours_ms=ours.get((model, OURS_AS[precision])), eager_ms=None,
                 compiled_ms=None)
            for model in args.models for precision in ("bf16", *(("fp32", "tf32") if model in FP32_TOO else ()))]
    write(args, head, rows)

    def timer(row, compiled):
        return Timer(dict(model=row["model"], precision=row["precision"], compiled=compiled, device=args.device,
                          seconds=args.seconds), args.limit)

    for row in sorted(rows, key=lambda row: row["precision"]):  # bf16 first
        at = timer(row, False)
        row["eager_ms"] = at.median(at.line() is not None)
        write(args, head, rows)
    compiling = [(row, timer(row, True)) for row in rows if row["precision"] == "bf16"]
    ready = [at.line() is not None for _, at in compiling]
    for (row, at), go in zip(compiling, ready):
        row["compiled_ms"] = at.median(go)
        write(args, head, rows)
    print(f"PyTorch {head['torch']}, {head['device']}; milliseconds of a step\n{table(rows)}")
    return 0 if all(row["eager_ms"] for row in rows) else 1


if __name__ == "__main__":
    step_times(json.loads(sys.argv[1]))

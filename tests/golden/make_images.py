#!/usr/bin/python3
"""Makes images.txt in this folder: checksums of PIL's results for 200 small images.

  tests/golden/make_images.py        (Debian 12's python3-pil, Pillow 9.4, and python3-numpy)

Each line is a case: a name and its arguments, then the CRC-32 of the CRC-32s of all results (little endian, one after
the other), then one hexadecimal digit for each image, the lowest of its result's. tests/images/samples.h draws the same
images."""
import os
import zlib

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageOps

IMAGES = 200
ODD_SIZES = [(17, 23), (40, 31), (5, 2), (1, 1), (3, 3), (64, 16), (2, 7), (33, 32)]
GREY = (128, 128, 128)


# --- The images

class Numbers:
    """Knuth's linear congruential generator, upper bits."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def sample(number):
    width, height = ODD_SIZES[number // 5 % 8] if number % 5 == 4 else (32, 32)
    numbers = Numbers(number)
    kind = number % 8
    base = [numbers.below(256) for _ in range(3)]
    other = [numbers.below(256) for _ in range(3)]
    slope = [[numbers.below(33) - 16 for _ in range(2)] for _ in range(3)]
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            for c in range(3):
                if kind == 0:  # noise
                    v = numbers.below(256)
                elif kind == 1:  # a plane, clipped
                    v = base[c] + (slope[c][0] * x + slope[c][1] * y) // 2
                elif kind == 2:  # low contrast
                    v = base[c] // 2 + numbers.below(9)
                elif kind == 3:  # one colour
                    v = base[c]
                elif kind == 4:  # two values
                    v = base[c] if numbers.below(4) else other[c]
                elif kind == 5:  # one channel of a single value
                    v = base[c] if c == number // 8 % 3 else numbers.below(256)
                elif kind == 6:  # blocks
                    v = base[c] ^ (37 * (x // 4) + 91 * (y // 4) + 11 * c) % 256
                else:  # a disc on a plane, a little noise
                    inside = (2 * x - width) ** 2 + (2 * y - height) ** 2 < width * height // 2
                    v = (other[c] if inside else base[c] + slope[c][0] * x // 4) + numbers.below(5)
                pixels.append(min(max(v, 0), 255))
    return Image.frombytes("RGB", (width, height), bytes(pixels))


# --- Operations on images

def affine(image, numbers, resampling=Image.NEAREST, fill=None):
    return image.transform(image.size, Image.AFFINE, numbers, resampling, fillcolor=fill)


def rotate_on_grey(image, degrees):
    """As in the published policy: rotates with an alpha channel and composites the result over grey."""
    turned = image.convert("RGBA").rotate(degrees)
    return Image.composite(turned, Image.new("RGBA", turned.size, GREY + (128,)), turned).convert("RGB")


def solarize_add(image, addition):
    sums = np.clip(np.array(image).astype(int) + addition, 0, 255).astype(np.uint8)
    return ImageOps.solarize(Image.fromarray(sums), 128)


def cutout(image, x, y, side):
    left, top = int(max(0, x - side / 2.0)), int(max(0, y - side / 2.0))
    result = image.copy()
    corner = (min(image.width, left + side), min(image.height, top + side))
    ImageDraw.Draw(result).rectangle((left, top) + corner, (125, 123, 114))
    return result


def brighten_dark(image, addition):
    """timm's solarize_add."""
    return image.point([min(255, v + addition) if v < 128 else v for v in range(256)] * 3)


def resized_crop(image, left, top, width, height, side):
    """Cuts out a part, in sixteenths of the sides, and makes it square."""
    (x, right), (y, bottom) = ((size * first // 16, max(size * (first + length) // 16, size * first // 16 + 1))
                               for size, first, length in zip(image.size, (left, top), (width, height)))
    return image.crop((x, y, right, bottom)).resize((side, side), Image.BICUBIC)


def crop(image, left, top, padding):
    padded = ImageOps.expand(image, border=padding, fill=0)
    return padded.crop((left, top, left + image.width, top + image.height))


def fit(image, side, shorter, resample, stretched, even):
    """Makes a picture square, as image processors do: stretches it, or resizes its shorter side and crops the centre.
    With `even` the crop rounds as torchvision's CenterCrop does, else as Hugging Face does."""
    longer = shorter if stretched else int(shorter * max(image.size) / min(image.size))
    size = (shorter, longer) if image.width <= image.height else (longer, shorter)
    left, top = (round((length - side) / 2) if even else (length - side) // 2 for length in size)
    return image.resize(size, resample).crop((left, top, left + side, top + side))


OPERATIONS = {
    "resize": lambda i, width, height, resample: i.resize((width, height), resample),
    "fit": fit,
    "resized_crop": resized_crop,
    "flip": ImageOps.mirror,
    "crop": crop,
    "shear_x": lambda i, v: affine(i, (1, v, 0, 0, 1, 0)),
    "shear_y": lambda i, v: affine(i, (1, 0, 0, v, 1, 0)),
    "shear_x_bicubic": lambda i, v: affine(i, (1, v, 0, 0, 1, 0), Image.BICUBIC, GREY),
    "shear_y_bicubic": lambda i, v: affine(i, (1, 0, 0, v, 1, 0), Image.BICUBIC, GREY),
    "translate_x": lambda i, v: affine(i, (1, 0, v, 0, 1, 0)),
    "translate_y": lambda i, v: affine(i, (1, 0, 0, 0, 1, v)),
    "translate_x_grey": lambda i, v: affine(i, (1, 0, v, 0, 1, 0), fill=GREY),
    "translate_y_colour": lambda i, v: affine(i, (1, 0, 0, 0, 1, v), fill=(10, 200, 90)),
    "translate_x_bicubic": lambda i, v: affine(i, (1, 0, v, 0, 1, 0), Image.BICUBIC, GREY),
    "translate_y_bicubic": lambda i, v: affine(i, (1, 0, 0, 0, 1, v), Image.BICUBIC, GREY),
    "rotate_bicubic": lambda i, v: i.rotate(v, resample=Image.BICUBIC, fillcolor=GREY),
    "brighten_dark": brighten_dark,
    "rotate": lambda i, v: i.rotate(v),
    "rotate_grey": rotate_on_grey,
    "posterize": lambda i, v: ImageOps.posterize(i, int(v)),
    "solarize": ImageOps.solarize,
    "solarize_add": solarize_add,
    "invert": ImageOps.invert,
    "autocontrast": ImageOps.autocontrast,
    "equalize": ImageOps.equalize,
    "color": lambda i, v: ImageEnhance.Color(i).enhance(v),
    "contrast": lambda i, v: ImageEnhance.Contrast(i).enhance(v),
    "brightness": lambda i, v: ImageEnhance.Brightness(i).enhance(v),
    "sharpness": lambda i, v: ImageEnhance.Sharpness(i).enhance(v),
    "cutout": cutout,
}
FACTORS = [0.0, 0.1, 0.45, 0.94, 1.0, 1.2, 1.63, 1.9]
ARGUMENTS = {
    "resize": [(width, height, resample) for width, height in [(17, 9), (64, 48), (32, 5), (1, 1), (3, 40)]
               for resample in range(6)],
    "fit": [(8, 8, 3, 0, 0), (24, 24, 2, 0, 0), (24, 27, 3, 0, 0), (20, 41, 1, 0, 0), (16, 16, 2, 1, 0),
            (40, 40, 3, 1, 0), (24, 27, 3, 0, 1), (24, 29, 3, 0, 1), (24, 30, 2, 1, 1), (20, 37, 3, 1, 0)],
    "resized_crop": [(0, 0, 16, 16, 24), (3, 5, 9, 7, 32), (11, 0, 5, 16, 17), (7, 9, 1, 2, 8), (0, 6, 16, 4, 40)],
    "flip": [()],
    "crop": [(left, top, 4) for left, top in [(0, 0), (4, 4), (8, 8), (0, 8), (3, 5), (7, 2)]],
    **{name: [(v,) for v in [0.0, 0.14, -0.14, 0.3, -0.3, 1.5]] for name in ["shear_x", "shear_y"]},
    **{name: [(v,) for v in [0.0, 0.1 / 3, -0.1 / 3, 0.14, -0.2, 0.7 / 3, 0.3, -0.3]]
       for name in ["shear_x_bicubic", "shear_y_bicubic"]},
    **{name: [(v,) for v in [0.0, 0.5, -0.5, 3.2, -3.7, 14.5, -14.5, 46.67, -46.67]]
       for name in ["translate_x", "translate_y", "translate_x_grey", "translate_y_colour"]},
    **{name: [(v,) for v in [0.0, 0.5, -3.7, 12.96, -6.48]] for name in ["translate_x_bicubic", "translate_y_bicubic"]},
    "rotate_bicubic": [(v,) for v in [0.0, 27.0, -27.0, 1.5, -13.37, 90.0, 180.0]],
    "brighten_dark": [(v,) for v in [0, 1, 99, 110]],
    "rotate": [(v,) for v in [0.0, 14.0, -14.0, 30.0, -30.0, 45.0, 90.0, 180.0, 270.0, 360.0, 133.7, -0.001]],
    "rotate_grey": [(v,) for v in [20 / 3, 30.0, -6.0, 90.0]],
    "posterize": [(v,) for v in range(9)],
    "solarize": [(v,) for v in [0, 28.5, 128, 119.46666666666667, 199.11, 256]],
    "solarize_add": [(v,) for v in [0.0, 51.333333333333336, 110.0]],
    "invert": [()], "autocontrast": [()], "equalize": [()],
    **{name: [(v,) for v in FACTORS] for name in ["color", "contrast", "brightness", "sharpness"]},
    "cutout": [(1.0, 1.0, 56 / 3), (16.5, 20.25, 56 / 3), (32.0, 31.9, 56 / 3), (3.0, 30.0, 8.0), (12.7, 5.1, 0.0),
               (9.0, 9.0, 40.0)],
}


# --- The recipes' steps: names and levels, resolved here as the published code resolves them

def spaced(first, last):
    return np.linspace(first, last, 10)


def autoaugment(image, name, level, sign):
    if name.startswith("shear"):
        v = spaced(0, 0.3)[level] * sign
        return OPERATIONS[name + "_bicubic"](image, v)
    if name.startswith("translate"):
        side = image.width if name == "translate_x" else image.height
        v = spaced(0, 150 / 331)[level] * side * sign
        return affine(image, (1, 0, v, 0, 1, 0) if name == "translate_x" else (1, 0, 0, 0, 1, v), fill=GREY)
    if name == "rotate":
        return rotate_on_grey(image, spaced(0, 30)[level])
    if name == "posterize":
        return ImageOps.posterize(image, int(np.round(spaced(8, 4))[level]))
    if name == "solarize":
        return ImageOps.solarize(image, spaced(256, 0)[level])
    if name in ("color", "contrast", "brightness", "sharpness"):
        return OPERATIONS[name](image, 1 + spaced(0.0, 0.9)[level] * sign)
    return OPERATIONS[name](image)


# Each pair of the policy for CIFAR-10: operation, probability, level.
POLICY = """
invert .1 7, contrast .2 6; rotate .7 2, translate_x .3 9; sharpness .8 1, sharpness .9 3
shear_y .5 8, translate_y .7 9; autocontrast .5 8, equalize .9 2; shear_y .2 7, posterize .3 7
color .4 3, brightness .6 7; sharpness .3 9, brightness .7 9; equalize .6 5, equalize .5 1
contrast .6 7, sharpness .6 5; color .7 7, translate_x .5 8; equalize .3 7, autocontrast .4 8
translate_y .4 3, sharpness .2 6; brightness .9 6, color .2 8; solarize .5 2, invert .0 3
equalize .2 0, autocontrast .6 0; equalize .2 8, equalize .6 4; color .9 9, equalize .6 6
autocontrast .8 4, solarize .2 8; brightness .1 3, color .7 0; solarize .4 5, autocontrast .9 3
translate_y .9 9, translate_y .7 9; autocontrast .9 2, solarize .8 3; equalize .8 8, invert .1 3
translate_y .7 9, autocontrast .9 1
"""
PAIRS = [[part.split() for part in pair.split(",")] for pair in POLICY.strip().replace("\n", ";").split(";")]


def both_parts(image, pair, signs):
    for (name, _, level), sign in zip(pair, signs):
        image = autoaugment(image, name, int(level), sign)
    return image


RANDAUGMENT = {"autocontrast": (0, 1), "equalize": (0, 1), "invert": (0, 1), "rotate": (0, 30), "posterize": (0, 4),
               "solarize": (0, 256), "solarize_add": (0, 110), "color": (0.1, 1.9), "contrast": (0.1, 1.9),
               "brightness": (0.1, 1.9), "sharpness": (0.1, 1.9), "shear_x": (0.0, 0.3), "shear_y": (0.0, 0.3),
               "cutout": (0, 40), "translate_x": (0.0, 100), "translate_y": (0.0, 100)}


def randaugment(image, name, magnitude, sign):
    least, greatest = RANDAUGMENT[name]
    v = magnitude / 30 * float(greatest - least) + least
    if name in ("autocontrast", "equalize", "invert"):
        return OPERATIONS[name](image)
    if name == "posterize":
        return ImageOps.posterize(image, max(1, int(v)))
    if name == "cutout":
        return cutout(image, 11.25, 20.5, v)
    return OPERATIONS[name](image, v * sign if name.startswith(("shear", "translate", "rotate")) else v)


def timm(image, name, magnitude, sign, increasing):
    """An operation of timm 0.3.2's rand-m9-mstd0.5-inc1, or of the same without inc1, after its noise and sign."""
    level, style = magnitude / 10, {"resample": Image.BICUBIC, "fillcolor": (124, 116, 104)}
    if name in ("autocontrast", "equalize", "invert"):
        return OPERATIONS[name](image)
    if name == "rotate":
        return image.rotate(level * 30 * sign, **style)
    if name == "posterize":
        return ImageOps.posterize(image, 4 - int(level * 4) if increasing else int(level * 4))
    if name == "solarize":
        return ImageOps.solarize(image, 256 - int(level * 256) if increasing else int(level * 256))
    if name == "brighten_dark":
        return brighten_dark(image, int(level * 110))
    if name in ("color", "contrast", "brightness", "sharpness"):
        return OPERATIONS[name](image, 1.0 + level * .9 * sign if increasing else level * 1.8 + 0.1)
    v = level * (0.3 if name.startswith("shear") else 0.45) * sign
    numbers = {"shear_x": (1, v, 0, 0, 1, 0), "shear_y": (1, 0, 0, v, 1, 0),
               "translate_x": (1, 0, v * image.width, 0, 1, 0), "translate_y": (1, 0, 0, 0, 1, v * image.height)}[name]
    return image.transform(image.size, Image.AFFINE, numbers, **style)


TIMM = ["autocontrast", "equalize", "invert", "rotate", "posterize", "solarize", "brighten_dark", "color", "contrast",
        "brightness", "sharpness", "shear_x", "shear_y", "translate_x", "translate_y"]
TIMM_SIGNED = ("rotate",) + ("color", "contrast", "brightness", "sharpness", "shear", "translate")
SIGNED = ("shear", "translate", "color", "contrast", "brightness", "sharpness")
STATISTICS = {
    "kk-cifar10": ((.4914, .4822, .4465), (.2023, .1994, .2010)),
    "kk-cifar100": ((.5071, .4867, .4408), (.2675, .2565, .2761)),
    "sl-cifar10": ((.4914, .4822, .4465), (.2470, .2435, .2616)),
    "sl-cifar100": ((.5070, .4865, .4409), (.2673, .2564, .2762)),
}


def normalised(image, name):
    """Normalised planes in float32; each operation rounds."""
    mean, std = (np.array(v, np.float32) for v in STATISTICS[name])
    values = np.array(image).astype(np.float32) / np.float32(255)
    return ((values - mean) / std).transpose(2, 0, 1).astype("<f4").tobytes()


# --- The file

def line(label, results):
    total, each = 0, ""
    for result in results:
        data = result if isinstance(result, bytes) else result.tobytes()
        crc = zlib.crc32(data)
        total = zlib.crc32(crc.to_bytes(4, "little"), total)
        each += f"{crc & 15:x}"
    return f"{label} {total:08x} {each}\n"


def main():
    images = [sample(number) for number in range(IMAGES)]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "images.txt"), "w") as file:
        file.write(line("image", images))
        for name, function in OPERATIONS.items():
            for arguments in ARGUMENTS[name]:
                label = " ".join([name] + [repr(float(v)) for v in arguments])
                file.write(line(label, (function(image, *arguments) for image in images)))
        for name in OPERATIONS:
            if name not in RANDAUGMENT or name in ("cutout", "solarize_add"):
                continue
            for level in (1, 4):
                for sign in (1, -1) if name.startswith(SIGNED) else (1,):
                    label = f"autoaugment {name} {level} {sign}"
                    file.write(line(label, (autoaugment(image, name, level, sign) for image in images)))
        for number, pair in enumerate(PAIRS):
            probabilities = " ".join(probability for _, probability, _ in pair)
            for signs in ((1, -1), (-1, 1)):
                label = f"policy {number} {probabilities} {signs[0]} {signs[1]}"
                file.write(line(label, (both_parts(image, pair, signs) for image in images)))
        for name in RANDAUGMENT:
            for sign in (1, -1) if name.startswith(("shear", "translate", "rotate")) else (1,):
                file.write(line(f"randaugment {name} 14 {sign}",
                                (randaugment(image, name, 14, sign) for image in images)))
        for name in TIMM:
            for magnitude, increasing in ((9.0, 1), (10.0, 1), (6.37, 1), (9.0, 0)):
                for sign in (1, -1) if name.startswith(TIMM_SIGNED) and magnitude == 9 else (1,):
                    file.write(line(f"timm {name} {magnitude} {sign} {increasing}",
                                    (timm(image, name, magnitude, sign, increasing) for image in images)))
        for name in STATISTICS:
            file.write(line(f"normalise {name}", (normalised(image, name) for image in images)))


main()

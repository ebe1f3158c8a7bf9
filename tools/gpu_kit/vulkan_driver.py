"""Finds the Vulkan loader and the driver of this machine, and makes the environment that starts a program on them."""
import json
import os
import subprocess
import sys
from pathlib import Path

# Folders of driver manifests. Loaders search all but the last, in which NVIDIA's files are mounted in containers.
FOLDERS = ["/etc/vulkan/icd.d", "/usr/local/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d",
           "/usr/share/vulkan/icd.d", "/usr/local/nvidia/share/vulkan/icd.d"]
# NVIDIA's driver, for machines where no manifest names it. The first library needs X11's libraries; both are Vulkan
# drivers.
LIBRARIES = ["libGLX_nvidia.so.0", "libEGL_nvidia.so.0"]
LIBRARY_FOLDERS = ["/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"]

LOADER = "libvulkan.so.1"
OPENS_LIBRARY = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
OPENS_DRIVER = OPENS_LIBRARY + ".vk_icdGetInstanceProcAddr"


class Missing(Exception):
    """There is no loader or no driver. The message is one line."""


def opens(code, library, paths=()):
    """True if a library can be opened. Tries it in a separate process, because the library may crash it."""
    path = ":".join([*map(str, paths), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    try:
        done = subprocess.run([sys.executable, "-c", code, library], env=os.environ | {"LD_LIBRARY_PATH": path},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def described_library(path):
    """The library that a driver's manifest names, for the dynamic loader or as a path; None if it names none."""
    try:
        library = json.loads(path.read_text())["ICD"]["library_path"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(path.parent / library) if "/" in library else library


def find_descriptions(folders, paths):
    """Manifests of the drivers in the folders that can be opened; only NVIDIA's, if it is among them."""
    found = [path for folder in folders for path in sorted(Path(folder).glob("*.json"))]
    usable = {}  # by library: a driver with two manifests would list each of its devices twice
    for path in found:
        library = described_library(path)
        if library and library not in usable and opens(OPENS_DRIVER, library, paths):
            usable[library] = path
    return [path for path in usable.values() if "nvidia" in path.name] or list(usable.values())


def find_library(libraries, folders, paths):
    """The first library that can be opened as a driver, or None."""
    for library in libraries:
        for place in [library, *(str(Path(folder) / library) for folder in folders)]:
            if opens(OPENS_DRIVER, place, paths):
                return place
    return None


def environment(kit, out):
    """os.environ with the variables that programs of the kit need. Writes out/icd.json if no manifest names the driver.
    Raises Missing."""
    made = dict(os.environ)
    # The system's libraries are preferred to the kit's.
    spare = sorted((kit / "spare").glob("*"))
    paths = [folder for folder in spare if not opens(OPENS_LIBRARY, folder.name)]
    if not opens(OPENS_LIBRARY, LOADER, paths):
        raise Missing(f"there is no Vulkan loader: neither the system nor {kit / 'spare'} has {LOADER}")
    made["KIT_LIBRARIES"] = ":".join(map(str, paths))
    named = made.get("VK_DRIVER_FILES") or made.get("VK_ICD_FILENAMES")
    if named:
        for path in named.split(":"):
            if not os.path.exists(path):
                raise Missing(f"there is no Vulkan driver: VK_DRIVER_FILES names {path}, which is not there")
        files = named
    elif descriptions := find_descriptions(FOLDERS, paths):
        files = ":".join(map(str, descriptions))
    elif library := find_library(LIBRARIES, LIBRARY_FOLDERS, paths):
        files = str(out / "icd.json")
        Path(files).write_text(json.dumps(
            {"file_format_version": "1.0.1", "ICD": {"library_path": library, "api_version": "1.3.0"}}))
    else:
        raise Missing(f"there is no Vulkan driver that can be opened: looked for one in {', '.join(FOLDERS)}, "
                      f"and for {' and '.join(LIBRARIES)}")
    made["VK_DRIVER_FILES"] = made["VK_ICD_FILENAMES"] = files  # new and old name of the same variable
    return made

"""hatch_build.py - for hatchling: adds the files of this project to a wheel. The programs, the commands in other languages and the
manual pages go to the directories of `make install`; the library goes to the directory of the package.

`pip install .` compiles them for this machine. `make wheel` compiles them for other machines (release.py), and sets
BPETOOLS_INSTALLED to their location and BPETOOLS_PLATFORM to the platform that they need.
"""
import os
import re
import subprocess
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = os.path.dirname(os.path.abspath(__file__))
# The sources are in the repository, or in a source archive of this package.
TOP = os.path.normpath(os.path.join(HERE, "source" if os.path.isdir(os.path.join(HERE, "source")) else "../.."))
LIBRARY = "libbpetools.so.0"


def version():
    with open(os.path.join(TOP, "Makefile"), encoding="utf-8") as f:
        return re.search(r"^VERSION *:= *(\S+)$", f.read(), re.M)[1]


def files_below(top, left_out=()):
    """The names of all files below top, relative to it, sorted."""
    for place, directories, names in os.walk(top):
        directories[:] = sorted(d for d in directories
                                if not d.startswith(".") and d != "__pycache__" and os.path.join(place, d) not in left_out)
        yield from (os.path.relpath(os.path.join(place, name), top) for name in sorted(names))


def installed():
    """Compiles and installs everything; returns the directory of the installation."""
    build = os.path.join(TOP, "build-python")
    root = os.path.join(build, "installed")
    jobs = len(os.sched_getaffinity(0))
    environment = {"CFLAGS": "-O2", "LDFLAGS": "-s", **os.environ}
    try:
        subprocess.run(["make", "-s", f"-j{jobs}", "-C", TOP, "install", f"BUILD={build}", f"DESTDIR={root}", "PREFIX="],
                       env=environment, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"bpetools: {error}\nThe build needs make, a C compiler and the headers of PCRE2, zstd, zlib, libmd, xxHash "
                         "and uthash: apt-get install gcc libc6-dev make libpcre2-dev uthash-dev libzstd-dev zlib1g-dev libisal-dev "
                         "libxxhash-dev libmd-dev") from None
    return root


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):  # pylint: disable=redefined-outer-name
        if self.target_name == "sdist":
            for top in ("cmd", "common", "man", "pipelines"):
                for name in files_below(os.path.join(TOP, top), [HERE]):
                    build_data["force_include"][os.path.join(TOP, top, name)] = f"source/{top}/{name}"
            build_data["force_include"][os.path.join(TOP, "Makefile")] = "source/Makefile"
            build_data["force_include"][os.path.join(TOP, "LICENSE")] = "LICENSE"
            return
        root = os.environ.get("BPETOOLS_INSTALLED") or installed()
        platform = os.environ.get("BPETOOLS_PLATFORM") or re.sub(r"[-.]", "_", sysconfig.get_platform())
        build_data.update(pure_python=False, tag=f"py3-none-{platform}")
        for name in files_below(root):
            path = os.path.join(root, name)
            if name.startswith("bin/"):
                build_data["shared_scripts"][path] = os.path.basename(name)
            elif name == f"lib/{LIBRARY}" and version == "editable":
                build_data["shared_data"][path] = name
            elif name == f"lib/{LIBRARY}":
                build_data["force_include"][path] = f"bpetools/{LIBRARY}"
            elif name.startswith(("libexec/", "share/")) and name != "share/bpetools/installed":
                build_data["shared_data"][path] = name
        build_data["sbom_files"] = [os.path.relpath(path, self.root) for path in [os.path.join(HERE, "sboms/bpetools.cdx.json")]
                                    if os.path.exists(path)]

#!/usr/bin/env python3
"""release.py BUILD - for `make wheel`: builds the wheels to release from the compiled programs and library.

BUILD/installed is the output of `make install`: statically linked programs, for any Linux, and the library, for any glibc that has the
functions it calls. BUILD/objects/*.map are the linker's maps. The wheels are written to BUILD: manylinux contains all of this,
musllinux everything except the library. They document what they are linked with: the licenses, and a software bill of materials
(CycloneDX, PEP 770).

The versions and licenses of linked libraries come from Debian's packages. hatchling must be importable. The time in the wheels is
SOURCE_DATE_EPOCH, or that of the last commit. The wheels depend only on the sources, the compiler, the libraries, hatchling, and the
zlib of this Python.
"""
import datetime
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import uuid

sys.dont_write_bytecode = True
import hatch_build

# The licenses (SPDX) of Debian's source packages, for the parts that are linked.
LICENSES = {
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libmd": "BSD-3-Clause",
    "libzstd": "BSD-3-Clause",
    "pcre2": "BSD-3-Clause AND BSD-2-Clause",
    "uthash": "BSD-1-Clause",
    "xxhash": "BSD-2-Clause",
    "zlib": "Zlib",
}
HEADERS = ["/usr/include/uthash.h", "/usr/include/xxhash.h"]  # libraries that consist only of headers
# Libraries that every Linux with glibc has.
NEEDED = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

NOTICE = """\
The {files} of this wheel are linked with these libraries, from the packages of {system}:

{components}

The GNU C Library is licensed under the LGPL. If you redistribute this wheel, you must also offer the sources of that library,
and everything needed to relink the programs with another version of it. Its sources are Debian's source package {glibc}; those
of the programs are bpetools {version}, where `make wheel` links them with the installed libc.a.
"""


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


# ---- Linked libraries ----


class Package:
    """A Debian package that contains a linked library."""

    def __init__(self, name):
        fields = output("dpkg-query", "-W", "-f", "${source:Package}\n${source:Version}", name).split("\n")
        self.name = re.sub(r"-\d+$", "", fields[0])
        self.source, self.version = fields
        if self.name not in LICENSES:
            raise SystemExit(f"release.py: {name}: unknown license; add it to LICENSES")
        self.license = LICENSES[self.name]
        with open(f"/usr/share/doc/{name.split(':')[0]}/copyright", encoding="utf-8") as f:
            self.copyright = f.read()

    def component(self):
        upstream = re.match(r"(?:\d+:)?([\d.]*\d)", self.version)[1]
        purl = f"pkg:deb/debian/{self.source}@{urllib.parse.quote(self.version, safe='')}?arch=source"
        return {"type": "library", "bom-ref": purl, "name": self.name, "version": upstream, "licenses": [{"expression": self.license}],
                "purl": purl}


def packages_of(maps):
    """The packages with libraries that the linker used, from its maps."""
    archives = set()
    for path in maps:
        with open(path, encoding="utf-8") as f:
            archives.update(os.path.realpath(archive) for archive in re.findall(r"^(/\S+\.a)\(", f.read(), re.M))
    owners = output("dpkg-query", "-S", *sorted(archives), *HEADERS)
    names = {line.rsplit(": ", 1)[0] for line in owners.splitlines()}
    return sorted({package.name: package for package in map(Package, sorted(names))}.values(), key=lambda package: package.name)


def platform_of(library):
    """manylinux_*, from the newest glibc function that the library calls."""
    shown = output("objdump", "-p", library)
    beyond = set(re.findall(r"NEEDED +(\S+)", shown)) - NEEDED
    if beyond:
        raise SystemExit(f"release.py: {library} needs {' '.join(sorted(beyond))}, which other machines may lack")
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", shown)]
    return "manylinux_%d_%d" % max(versions)


# ---- The wheels ----


def bill_of_materials(packages, files, time):
    """The bill of materials as CycloneDX. The serial number is a hash of the contents."""
    version = hatch_build.version()
    root = {"type": "application", "bom-ref": "bpetools", "name": "bpetools", "version": version,
            "licenses": [{"expression": "MIT"}], "purl": f"pkg:pypi/bpetools@{version}",
            "components": [{"type": "file", "bom-ref": name, "name": name, "hashes": [{"alg": "SHA-256", "content": content}]}
                           for name, content in files]}
    components = [package.component() for package in packages]
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
           "metadata": {"timestamp": datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                        "component": root},
           "components": components,
           "dependencies": [{"ref": "bpetools", "dependsOn": [c["bom-ref"] for c in components]}]}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True))
    return json.dumps({**bom, "serialNumber": f"urn:uuid:{serial}"}, indent=1, sort_keys=True) + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def make_wheel(build, platform, with_library, time):
    """Builds a wheel from a copy of this directory, with the licenses and bill of materials of this wheel."""
    project = os.path.join(build, platform, "pipelines/python")
    shutil.rmtree(os.path.join(build, platform), ignore_errors=True)
    shutil.copytree(hatch_build.HERE, project, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(os.path.join(hatch_build.TOP, "Makefile"), os.path.join(build, platform))
    root = os.path.join(build, platform, "installed")
    shutil.copytree(os.path.join(build, "installed"), root, ignore=None if with_library else shutil.ignore_patterns("lib"))
    packages = packages_of(path for path in sorted(glob.glob(f"{build}/objects/*.map"))
                           if with_library or not path.endswith(f"{hatch_build.LIBRARY}.map"))
    files = []
    for name in hatch_build.files_below(root):
        if name.startswith("bin/") or name == f"lib/{hatch_build.LIBRARY}":
            with open(os.path.join(root, name), "rb") as f:
                files.append((name, hashlib.sha256(f.read()).hexdigest()))
    write(f"{project}/sboms/bpetools.cdx.json", bill_of_materials(packages, files, time))
    for package in packages:
        write(f"{project}/licenses/{package.name}.txt", package.copyright)
    write(f"{project}/licenses/NOTICE.txt", NOTICE.format(
        files="programs and the library" if with_library else "programs",
        system=re.search(r'^PRETTY_NAME="(.*)"', open("/etc/os-release", encoding="utf-8").read(), re.M)[1],
        components="\n".join(f"  {p.name} {p.version}: {p.license}; see {p.name}.txt" for p in packages),
        glibc=next(f"{p.source} {p.version}" for p in packages if p.name == "glibc"), version=hatch_build.version()))
    with open(f"{project}/pyproject.toml", encoding="utf-8") as f:
        text = f.read()
    expression = " AND ".join(dict.fromkeys(["MIT", *(one for p in packages for one in p.license.split(" AND "))]))
    write(f"{project}/pyproject.toml", text.replace('\nlicense = "MIT"\n', f'\nlicense = "{expression}"\n'))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time), "BPETOOLS_INSTALLED": root, "BPETOOLS_PLATFORM": platform}
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", build], cwd=project, env=environment,
                   stdout=subprocess.DEVNULL, check=True)
    shutil.rmtree(os.path.join(build, platform))
    print(os.path.join(build, f"bpetools-{hatch_build.version()}-py3-none-{platform}.whl"))


def main():
    build = os.path.abspath(sys.argv[1])
    time = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", hatch_build.TOP, "log", "-1", "--format=%ct"))
    machine = os.uname().machine
    make_wheel(build, f"{platform_of(f'{build}/installed/lib/{hatch_build.LIBRARY}')}_{machine}", True, time)
    make_wheel(build, f"musllinux_1_2_{machine}", False, time)


if __name__ == "__main__":
    main()

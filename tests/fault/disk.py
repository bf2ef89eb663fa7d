"""disk.py - simulates the contents of a disk after a machine crash, with FAULT_DISK of fault.c, which records what was synced.

    disk.start(root, "noted")      marks everything under root as durable; a program may start
    disk.crash(root, "noted", how) turns root into what a crash at the end of that program would have left

how is (names, data). names: "synced": each directory has the entries of its last fsync; "all": it has the final entries.
data: "synced": each file has the bytes of its last fsync; "all": the final bytes; "some": at random for each file, either of these, or the
synced bytes with part of the later ones, or the synced bytes padded with zeros to the final length.
"""
import os
import random
import shutil


def start(root, noted):
    shutil.rmtree(noted, ignore_errors=True)
    os.mkdir(noted)
    for at, _, files in os.walk(root):
        with open(f"{noted}/{os.stat(at).st_ino}.list", "w") as f:
            for entry in os.scandir(at):
                f.write(f"{entry.inode()} {entry.name}\n")
        for name in files:
            inode = os.stat(os.path.join(at, name)).st_ino
            os.link(os.path.join(at, name), f"{noted}/{inode}")
            shutil.copyfile(f"{noted}/{inode}", f"{noted}/{inode}.data")


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return b""


def some(synced, last, rng):
    way = rng.randrange(4)
    if way < 2 or synced == last:
        return (synced, last)[way % 2]
    same = next((i for i, (a, b) in enumerate(zip(synced, last)) if a != b), min(len(synced), len(last)))
    if way == 2:  # synced bytes are lost only where they were overwritten
        new = rng.randrange(same, len(last) + 1)
        return last[:new] + synced[new:]
    return synced + bytes(max(0, len(last) - len(synced)))


def names(inode, noted, how, directories):
    """{name: inode} of a directory."""
    if how == "all":
        return directories.get(inode, {})
    entries = (line.split(" ", 1) for line in read(f"{noted}/{inode}.list").decode().splitlines())
    return {name: int(number) for number, name in entries if name not in (".", "..")}


def crash(root, noted, how, rng=random):
    top, directories = os.stat(root).st_ino, {}
    for at, _, _ in os.walk(root):
        directories[os.stat(at).st_ino] = {e.name: e.inode() for e in os.scandir(at)}
    made = root + ".after"
    shutil.rmtree(made, ignore_errors=True)
    os.mkdir(made)
    todo = [(top, made)]
    while todo:
        inode, at = todo.pop()
        for name, number in names(inode, noted, how[0], directories).items():
            path = os.path.join(at, name)
            if os.path.exists(f"{noted}/{number}"):
                synced, last = read(f"{noted}/{number}.data"), read(f"{noted}/{number}")
                with open(path, "wb") as f:
                    f.write({"synced": synced, "all": last}.get(how[1]) if how[1] != "some" else some(synced, last, rng))
            else:
                os.mkdir(path)
                todo.append((number, path))
    shutil.rmtree(root)
    os.rename(made, root)

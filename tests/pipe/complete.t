#!/usr/bin/env python3
"""complete.t - completion of command lines: bpe complete, and the shells that use it."""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import lib  # noqa: E402

COMPLETIONS = os.path.join(lib.TOP, "pipelines", "completions")


def complete(*words):
    code, out, err = lib.run(["bpe", "complete", *words])
    if code or err:
        return [f"exit {code}: {err}"]
    return [line.split("\t")[0] for line in out.decode().splitlines()]


def offers(words, some, exactly=False):
    got = complete(*words)
    good = sorted(got) == sorted(some) if exactly else set(some) <= set(got)
    lib.ok(good, f"{' '.join(words)!r}: {' '.join(some) or 'nothing'}", f"got {got}")


def tables():
    offers(["bpe", ""], ["train", "encode", "monitor", "parquet", "ray", "help", "--version"])
    offers(["bpe", "tra"], ["train"], True)
    offers(["bpe", "help", "engi"], ["engines"], True)
    offers(["bpe", "train", "--fan"], ["--fan-out="], True)
    offers(["bpe", "train", "--fan-out="], [f"--fan-out={how}" for how in ("auto", "xargs", "parallel", "none")], True)
    offers(["bpe", "train", "--fan-out", "x"], ["xargs"], True)
    offers(["bpe", "train", "--mod"], [], True)  # bpe train refuses --model
    offers(["bpe", "train", "-"], ["-j", "-v", "--vocab-size=", "--monitor", "--help"])
    offers(["bpe", "encode", "-f", ""], ["raw", "text"], True)
    offers(["bpe", "train", "-p", "cl"], ["cl100k", "cl100k-tiktoken"], True)
    offers(["bpe-encode", "--pattern=de"], ["--pattern=deepseek-v3"], True)
    offers(["bpe-merge", "-f", ""], ["json", "gpt2", "tiktoken", "hf-dir", "merges", "boundless"], True)
    offers(["bpe-shard", "--format=m"], ["--format=mds", "--format=megatron"], True)
    offers(["/any/where/bpe-encode", "-m", ""], [":files *.json *.tiktoken *merges*.txt"], True)
    offers(["bpe", "train", "--progress="], ["--progress=json"], True)
    lib.ok("(null)" not in lib.must("bpe", "complete", "bpe", "help", "").decode(), "no page has the description (null)")
    offers(["bpe", "train", "--keep="], [":directories"], True)
    offers(["bpe", "train", "--via="], [":commands"], True)
    offers(["bpe", "train", ""], [":files"], True)
    offers(["bpe", "train", "--parquet", ""], [":files *.parquet"], True)
    offers(["bpe", "train", "--", "--fan"], [":files"], True)
    offers(["bpe-chunk", "-e", ""], [], True)
    offers(["bpe", "tasks", ""], ["plan", "todo", "run", "train", "shard", "split"], True)
    offers(["bpe", "tasks", "run", "--mon"], ["--monitor"], True)
    offers(["bpe", "tasks", "todo", ""], [":directories"], True)
    offers(["bpe", "tasks", "split", ""], ["train", "shard"], True)
    offers(["bpe", "describe", "--invalid=r"], ["--invalid=replace"], True)
    offers(["bpe", "train", "--su"], ["--super="], True)
    offers(["bpe", "train", "--li"], ["--live="], True)
    offers(["bpe-merge", "--extend="], [":files *.json *.tiktoken *merges*.txt"], True)
    offers(["bpe-count", "--pai"], ["--pairs"], True)
    offers(["bpe-count", "--runs="], [":files"], True)
    offers(["bpe-count", "--cache="], [":directories"], True)
    offers(["bpe-model", "--superwords="], [f"--superwords={kind}" for kind in ("documents", "lines", "runs", "boundless")], True)
    offers(["bpe-model", "--drop-unused", "x.json", ""], [":files"], True)
    offers(["bpe", "parquet", "--nul"], ["--nul-bytes=", "--null-rows="], True)
    offers(["bpe", "parquet", ""], [":files *.parquet"], True)
    offers(["bpe", "ssh", ""], ["train", "shard"], True)
    offers(["bpe", "ssh", "train", "--s"], ["--sshlogin=", "--ssh=", "--special-token="])
    offers(["bpe", "slurm", "train", "--sbatch-"], ["--sbatch-last="], True)
    offers(["bpe", "nothing", ""], [], True)
    lib.ok(lib.run(["bpe", "complete"])[0] == 64, "no words: exit 64")


def every_option():
    """Only options that --help lists are offered."""
    for words in ["bpe-chunk"], ["bpe-view"], ["bpe", "encode"], ["bpe", "tune"], ["bpe", "plan"], ["bpe", "upload"]:
        shown = lib.must(*words, "--help").decode()
        shown = re.sub(r"(?s)^usage.*?\n(?=[A-Z])", "", shown)
        named = {match.group(1) for match in re.finditer(r"(?<![\w=-])(--[a-z][a-z0-9-]*)(?=[=\[\s,]|$)", "\n".join(
            line for line in shown.splitlines() if re.match(r" +-|  bpe-| {13}", line)), re.M)}
        offered = {word.rstrip("=") for word in complete(*words, "--")} - {"--version"}
        lib.ok(offered <= named and len(offered) > 2, f"{' '.join(words)}: all options offered are in --help", offered - named)


def engines():
    """Engines: exactly the options that they accept."""
    own_option = r"(?m)^ +(?:-\w, )?(--[a-z-]+=?)"
    for command in "train", "shard":
        shown, lists = re.split(r"(?m)^OPTIONs go .*", lib.must("bpe", "slurm", command, "--help").decode())
        named = {word.replace("[=]", "") for word in lists.split() if word.startswith("--")} | set(re.findall(own_option, shown))
        offers(["bpe", "slurm", command, "--"], named, True)
        of_bpe = set(complete("bpe", command, "--"))
        refused = {"--via=", "--keep="} if command == "train" else {"--via=", "--check=", "--list=", "--convert"}
        for engine, *words in ("ssh", "-S", ":"), ("ray",), ("spark",):
            own = set(re.findall(own_option, lib.must("bpe", engine, command, "--help").decode()))
            also = {"--jobs="} if engine == "spark" else set()
            offers(["bpe", engine, command, "--"], own | of_bpe - refused - also, True)
            for option in sorted(refused | also):
                name = option.rstrip("=")
                code, _, err = lib.run(["bpe", engine, command, *words, option + "x" * option.endswith("="), "file"])
                lib.ok(code == 64 and re.match(f"bpe {engine}( {command})?: {name}: ", err), f"bpe {engine} {command} refuses {name}", err)
            short = {"train": "--kee=x", "shard": "--chec=x"}[command]
            code, _, err = lib.run(["bpe", engine, command, *words, short, "file"])
            lib.ok(code == 64 and re.match(f"bpe {engine}( {command})?: {short[:-3]}", err), f"  and {short}", err)
    offers(["bpe", "ray", "tasks", "--"], ["--address=", "--num-cpus=", "--in-flight=", "--retries=", "--help"], True)
    lib.ok(complete("bpe", "ssh", "train", "-").count("-S") == 1, "-S is offered once")


class Shell:
    """An interactive shell on a terminal."""
    def __init__(self, *args, setup):
        env = dict(os.environ, TERM="dumb", PS1="> ", HOME=os.getcwd(), INPUTRC="/dev/null")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(args[0], args, env)
        for line in setup:
            self.type(line + "\r")
        self.type("echo ready''now\r", "readynow")

    def type(self, keys, until=None):
        """Types the keys. Returns what the terminal shows, up to `until` or until nothing more arrives."""
        os.write(self.fd, keys.encode())
        shown, end = "", time.monotonic() + 20
        while time.monotonic() < end and not (until and until in shown):
            if not select.select([self.fd], [], [], 20 if until else 0.3)[0]:
                break
            try:
                shown += os.read(self.fd, 4096).decode(errors="replace")
            except OSError:
                break
        return shown

    def line(self, keys):
        """The command line after these keys, including tabs; echo prints it."""
        self.type(keys)
        shown = self.type("\x01echo '[' \x05 ']'\r", "]\r\n")
        found = re.findall(r"^\[ (.*) \]\r?$", shown.replace("\r\r", "\r"), re.M)
        return found[-1].strip() if found else shown

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


TYPED = {
    "bpe mon\t": "bpe monitor",
    "bpe train --fan-o\txa\t": "bpe train --fan-out=xargs",
    "bpe train -p nano\t": "bpe train -p nanochat",
    "bpe encode -m mod\t": "bpe encode -m model.json",
    "bpe encode --model=mod\t": "bpe encode --model=model.json",
    "bpe-encode --files-f\tmode\tt\t": "bpe-encode --files-from=model.text",
    "bpe tasks todo pla\t": "bpe tasks todo place/",
    "bpe-merge --tie=s\t": "bpe-merge --tie=smallest",
}


def in_shell(name, *args, setup):
    if not shutil.which(name):
        lib.skip(f"{name} completes", f"{name} is not installed")
        return
    try:
        shell = Shell(*args, setup=setup)
    except OSError as e:
        lib.skip(f"{name} completes", f"no pseudoterminals here: {e.strerror}")
        return
    for keys, line in TYPED.items():
        got = shell.line(keys)
        lib.ok(got.rstrip("/") == line.rstrip("/"), f"{name}: {keys.replace(chr(9), '<Tab>')}", repr(got))
    if name == "zsh":
        shown = shell.type("bpe-merge -f \t\t")
        lib.ok(re.search(r"json +gpt2 +tiktoken +hf-dir +merges +boundless\s", shown) and "--" not in shown, "zsh: only the values, in order", repr(shown))
    shell.close()


def in_fish():
    if not shutil.which("fish"):
        lib.skip("fish completes", "fish is not installed")
        return
    for keys, line in TYPED.items():
        typed = ""
        for part in keys.split("\t")[:-1]:
            typed += part
            done = subprocess.run(["fish", "--no-config", "-c", f"source {COMPLETIONS}/bpe.fish; complete -C '{typed}'"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            found = [one.split("\t")[0] for one in done.stdout.decode().splitlines()]
            typed = typed[:typed.rfind(" ") + 1] + os.path.commonprefix(found)
        lib.ok(typed == line, f"fish: {keys.replace(chr(9), '<Tab>')}", f"{typed!r}: {found}")


tables()
every_option()
engines()
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    os.mkdir("place")
    lib.write("model.json", "{}")
    lib.write("model.text", "")
    in_shell("bash", "bash", "--norc", "-i", setup=["bind 'set enable-bracketed-paste off'", f"source {COMPLETIONS}/bpe.bash"])
    in_shell("zsh", "zsh", "-f", "-i", setup=[
        "unset zle_bracketed_paste; PS1='> '", f"fpath=({COMPLETIONS} $fpath)", "autoload -U compinit && compinit -u -D", "unsetopt beep"])
    in_fish()
    os.chdir("/")
sys.exit(lib.done())

# command.py - shared by the engines in Python: options, requirements, and calling bpe with a filter
import importlib.util
import itertools
import os
import shlex
import shutil
import sys

from failure import Failure, one_line


def arguments(usage, names, flags=None):
    """Parses the command line into (options with these names, as pairs; the other words). An option is --name=value, or
    --name value. If flags is given (a filter's options without values), options end at the first other word. -h and --help
    print the usage and exit."""
    given, others, words = [], [], iter(sys.argv[1:])
    for word in words:
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            sys.stdout.write(usage)
            sys.exit(0)
        elif name.startswith("--") and name[2:] in names:
            value = value if equals else next(words, None)
            if value is None:
                raise Failure(64, f"option {name} needs an argument; see --help")
            given.append((name[2:], value))
        elif flags is None:
            others += [word, *words] if word == "--" else [word]
        elif word.startswith("--") and word[2:] in flags:
            given.append((word[2:], True))
        elif word.startswith("-"):
            raise Failure(64, f"option {name} not recognized; see --help")
        else:
            others += [word, *words]
    if flags is not None and not others:
        raise Failure(64, "missing COMMAND; see --help")
    return given, others


# Options that bpe train and bpe shard reject together with --via, with which an engine starts their processes.
REFUSED = {
    "train": {"--keep": "leave it out; to keep the counts of other machines, use bpe tasks"},
    "shard": dict.fromkeys(("--check", "--convert", "--list"), "give it to bpe-shard, which needs no text for it"),
}
for _refused in REFUSED.values():
    _refused["--via"] = "the engine starts the processes; leave it out"


def all_other_options(command, *more):
    """The end of the usage of an engine's command. `bpe complete` parses it."""
    names = sorted({*REFUSED[command], *more})
    return f"All other OPTIONs are those of bpe {command} (see its --help), except {', '.join(names[:-1])} and {names[-1]}.\n"


def refuse(command, others, more=None):
    """Fails if the other words contain a refused option, or an abbreviation of it: the error of bpe would name --via, which the
    user did not give. more: other refused options, and the reasons."""
    refused = {**REFUSED[command], **(more or {})}
    for word in itertools.takewhile(lambda word: word != "--", others):
        name = word.partition("=")[0]
        for option, why in refused.items():
            if (len(name) > 2 and option.startswith(name)) or (len(option) == 2 and word.startswith(option)):
                raise Failure(64, f"{option}: {why}")


def need_program(name):
    if not shutil.which(name):
        raise Failure(127, f"{name} is not installed, or not on PATH")


def need_module(name):
    """Finds a module without loading it. A directory with its name, such as ray/ here, does not count, although Python imports it."""
    found = importlib.util.find_spec(name)
    if not (found and found.origin):
        raise Failure(127, f"Python's {name} is not installed for {sys.executable}; pip install {name}")


def load(name):
    need_module(name)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Failure(127, f"Python's {name} does not load: {one_line(error)}; pip install {name}") from None


def filter_words(directory, given):
    """The command line of fan_out.py in the directory, with these options."""
    return [sys.executable, os.path.join(directory, "fan_out.py"), *(f"--{name}={value}" for name, value in given)]


def bpe_words(command, via, others):
    """A bpe command whose counting or encoding processes are started by the filter."""
    need_program("bpe")
    return ["bpe", command, f"--via={shlex.join(via)}", *others]

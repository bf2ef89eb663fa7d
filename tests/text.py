#!/usr/bin/env python3
"""text.py SEED BYTES [KIND] - prints artificial text, the same for the same arguments.

KIND: mixed (default): documents of words in several scripts with Zipf's distribution, numbers, contractions, punctuation and
odd whitespace, each ended by <|endoftext|>; one: the same as one document; space: mostly whitespace around newlines.
"""
import random
import sys

SCRIPTS = ["abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрстуфхцчшщыьэюя", "的一是不了人我在有他这中大来上国个到说们",
           "αβγδεζηθικλμνξοπρστυφχψω", "éèàùçñöüßåø", "अआइईउऊकखगघचछजझ", "กขคงจฉชซ", "٠١٢٣٤٥"]
ENDS = [".", ",", ";", "!", "?", "...", ":", ")", "\"", "'", "--", " — ", "…", "。", "🙂", "👩‍💻"]
TAILS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "’s", "'x", "''s", "'ſ"]
SPACES = ["\n", "\n\n", "\n\n\n", "\r\n", " \n", "\n ", "  ", "\t", " \n\n ", "\n\t", "\u00a0", "\u3000", "\n \n", "\u2028", "   \n"]


def words(rng, n):
    out = []
    for i in range(n):
        letters = SCRIPTS[0] if rng.random() < 0.6 else rng.choice(SCRIPTS)
        word = "".join(rng.choice(letters) for _ in range(rng.randint(1, 9)))
        out.append(word.capitalize() if rng.random() < 0.1 else word)
    return out


def main():
    seed, size = int(sys.argv[1]), int(sys.argv[2])
    kind = sys.argv[3] if len(sys.argv) > 3 else "mixed"
    rng = random.Random(seed)
    vocabulary = words(rng, 3000)
    weights = [1 / (i + 1) for i in range(len(vocabulary))]
    done, out = 0, sys.stdout.buffer
    while done < size:
        parts = []
        for word in rng.choices(vocabulary, weights, k=rng.randint(0, 400)):
            parts.append(word)
            x = rng.random()
            if kind == "space":
                parts.append("".join(rng.choice(SPACES) for _ in range(rng.randint(1, 4))))
            elif x < 0.75:
                parts.append(" ")
            elif x < 0.80:
                parts.append(rng.choice(TAILS) + " ")
            elif x < 0.88:
                parts.append(rng.choice(ENDS) + " ")
            elif x < 0.92:
                parts.append(" " + str(rng.randint(0, 10 ** rng.randint(1, 12))) + " ")
            elif x < 0.97:
                parts.append(rng.choice(SPACES))
            else:
                parts.append(rng.choice(ENDS) * rng.randint(1, 5) + "\n")
        text = "".join(parts)
        if kind != "one":
            text += "<|endoftext|>\n"
        data = text.encode()
        done += len(data)
        out.write(data)


main()

#!/usr/bin/env python3
"""languages.py DIR TEXT... - splits documents, which end with <|endoftext|>, by language into DIR/LANGUAGE.txt: by the script of their
letters, then by common words. For measurements of training with several languages; it is not a language identifier to rely on."""
import os
import re
import sys
from collections import Counter

SCRIPTS = {
    "latin": "a-zA-ZÀ-ɏḀ-ỿ", "cyrillic": "Ѐ-ӿ", "arabic": "؀-ۿ", "devanagari": "ऀ-ॿ", "han": "一-鿿", "el": "Ͱ-Ͽ", "he": "֐-׿", "bn": "ঀ-৿", "pa": "਀-੿", "gu": "઀-૿",
    "ta": "஀-௿", "te": "ఀ-౿", "kn": "ಀ-೿", "ml": "ഀ-ൿ", "th": "฀-๿", "my": "က-႟", "ko": "가-힣", "ja": "぀-ヿ"}
WORDS = {
    "latin": {
        "en": "the of and to in is that for with", "de": "der die und das ist nicht mit ein für", "fr": "le la les des et est dans une pour",
        "es": "el los las una que para con por como", "it": "il che di una per non con sono della", "pt": "não uma para com os você mais são do",
        "nl": "het een van en dat niet voor zijn je", "pl": "się nie jest na do w że aby przez", "cs": "je se na pro které jako nebo aby již",
        "sk": "je sa na pre ktoré ako alebo aby už", "ro": "și de în pentru este care cu să din", "hu": "az egy és hogy nem meg ez vagy egyes",
        "tr": "bir ve bu için ile olarak daha gibi olan", "vi": "của và các là cho một không trong được", "id": "yang dan untuk dengan ini pada dari adalah dapat",
        "sv": "och att det som för en är med inte", "da": "og at det som for en er ikke med til", "fi": "ja on ei että se tai kun voit tämä",
        "hr": "je se na za koji ili kao ako što", "sl": "je se na za ki ali kot če lahko", "lt": "ir yra kad su kaip tai arba šis jūsų",
        "et": "ja on ei et see kui või mis seda", "sw": "ya na kwa ni katika hii cha za kama", "tl": "ang ng mga sa na ay para ito at"},
    "cyrillic": {"ru": "и в не на что это как для с", "uk": "і в не на що це як для та", "bg": "и в не на че това как за се", "sr": "и у не на да је за се које"},
    "arabic": {"ar": "في من على إلى هذا التي أن ما", "fa": "در به از که این را با است", "ur": "کے میں ہے کی سے کو اور کا"},
    "devanagari": {"hi": "के में है की से को और का", "mr": "आहे आणि या तुम्ही ते आहेत करा हे", "ne": "र छ को यो गर्न हो मा तपाईं"}}
TRADITIONAL = "個這來說為時們學國會過後點對開關發實數據"


def language(text):
    scripts = {name: len(re.findall(f"[{letters}]", text)) for name, letters in SCRIPTS.items()}
    scripts["latin"] //= 4  # markup, code and names
    scripts["ja"] *= 3
    script = max(scripts, key=scripts.get)
    if script == "han":
        return "zh-hant" if sum(map(text.count, TRADITIONAL)) > len(re.findall("[个这来说为时们学国会过后点对开关发实数据]", text)) else "zh"
    if script not in WORDS:
        return script
    words = Counter(re.findall(r"[^\W\d_]+(?:[\u0900-\u097f]*[^\W\d_]*)*", text.lower()) if script != "devanagari" else re.findall("[ऀ-ॿ]+", text))
    return max(WORDS[script], key=lambda name: sum(words[w] for w in WORDS[script][name].split()))


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    out = {}
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8", newline="") as f:
            for document in f.read().split("<|endoftext|>"):
                if document:
                    out.setdefault(language(document[:20000]), []).append(document)
    for name, documents in out.items():
        with open(os.path.join(sys.argv[1], name + ".txt"), "w", encoding="utf-8", newline="") as f:
            f.write("<|endoftext|>".join(documents + [""]))
    for name in sorted(out):
        print(name, len(out[name]), sum(len(d.encode()) for d in out[name]), sep="\t")


main()

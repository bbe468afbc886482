"""Computes prime-harmonic-modulation.json from the definition, with Python integers only.

Run: python3 test/vectors/modulation/generate.py > test/vectors/modulation/prime-harmonic-modulation.json
It shares no code with src/modulation: frequencies come from integer square roots, words are
unbounded integers reduced modulo 2^64.
"""
import hashlib
import json
from math import isqrt

PRIMES = [2, 3, 5, 7, 11, 13, 17, 19]
MASK = 2**64 - 1
OMEGA = [isqrt(p << 128) & MASK for p in PRIMES]


def rotate_left(word, distance):
    return ((word << distance) | (word >> (64 - distance))) & MASK


COMBINE = {
    "phase": lambda c, m: c ^ m,
    "frequency": lambda c, m: rotate_left(c, m % 64),
    "amplitude": lambda c, m: (c + m) & MASK,
    "none": lambda c, m: c,
}


def modulate(kind, phases, carrier, first_word):
    theta = [int.from_bytes(phases[8 * i : 8 * i + 8], "big") for i in range(8)]
    out = b""
    for i in range(len(carrier) // 8):
        m = 0
        for th, om in zip(theta, OMEGA):
            m ^= (th + (first_word + i) * om) & MASK
        c = int.from_bytes(carrier[8 * i : 8 * i + 8], "big")
        out += COMBINE[kind](c, m).to_bytes(8, "big")
    return out


def material(label, length):
    return hashlib.shake_256(f"phm vector: {label}".encode()).digest(length)


def inputs():
    digest = hashlib.sha512(b"Prime Harmonic Modulation").digest()
    yield "document", "the sample of the document", digest, bytes(range(128, 160)), 0
    yield "key", "a 128-bit key", material("phases 1", 64), material("carrier 1", 16), 0
    yield "key", "a 256-bit key", material("phases 2", 64), material("carrier 2", 32), 0
    yield "key", "a 384-bit key", material("phases 3", 64), material("carrier 3", 48), 0
    yield "late", "the key after a 2^20-bit sample", material("phases 4", 64), material("carrier 4", 48), 16384
    yield "late", "t crosses 2^31", material("phases 5", 64), material("carrier 5", 32), 2**31 - 2
    yield "edge", "the last word indices", material("phases 6", 64), material("carrier 6", 32), 2**32 - 4
    yield "edge", "all zeros", bytes(64), bytes(32), 0
    yield "edge", "all ones", b"\xff" * 64, b"\xff" * 32, 1
    for first in (0, 16384):
        for length in (16, 32, 48):
            comment = f"a key of {8 * length} bits at t = {first}"
            yield "path", comment, material("phases 7", 64), material("carrier 7", 48)[:length], first


def invalid():
    good = {"phases": bytes(64).hex(), "firstWord": 0, "carrier": bytes(16).hex()}
    yield "phase", "63 bytes of phases", {**good, "phases": bytes(63).hex()}
    yield "phase", "65 bytes of phases", {**good, "phases": bytes(65).hex()}
    yield "phase", "a carrier that is not whole words", {**good, "carrier": bytes(15).hex()}
    yield "phase", "an empty carrier", {**good, "carrier": ""}
    yield "phase", "a word index of 2^32", {**good, "firstWord": 2**32 - 1}
    yield "phase", "a negative word index", {**good, "firstWord": -1}
    yield "phase", "a fractional word index", {**good, "firstWord": 0.5}
    yield "PHASE", "an unknown modulation type", good
    yield "toString", "a type that is a name of Object.prototype", good


tests = []
for flag, comment, phases, carrier, first in inputs():
    for kind in COMBINE:
        out = modulate(kind, phases, carrier, first)
        tests.append({"tcId": len(tests) + 1, "comment": comment, "flags": [flag], "type": kind,
                      "phases": phases.hex(), "firstWord": first, "carrier": carrier.hex(),
                      "modulated": out.hex(), "result": "valid"})
for kind, comment, case in invalid():
    tests.append({"tcId": len(tests) + 1, "comment": comment, "flags": ["refused"], "type": kind,
                  **case, "modulated": "", "result": "invalid"})

print(json.dumps({
    "algorithm": "Prime Harmonic Modulation, version 1",
    "source": "test/vectors/modulation/generate.py, from docs/prime-harmonic-modulation.md",
    "numberOfTests": len(tests),
    "notes": {
        "document": "The sample shown in the document.",
        "key": "A key's words, first index 0.",
        "late": "A first index above 0, where t·ω carries between the halves.",
        "edge": "Extreme phases, carriers and indices.",
        "path": "Each length of a key at each first index of a key. The self-test has them too.",
        "refused": "MUST throw TypeError or RangeError.",
    },
    "frequencies": [f"{om:016x}" for om in OMEGA],
    "tests": tests,
}, indent=2, ensure_ascii=False))

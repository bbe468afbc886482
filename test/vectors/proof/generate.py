"""Computes proofs.json from the definition, with Python's hmac and hashlib only.

Run: python3 test/vectors/proof/generate.py > test/vectors/proof/proofs.json
HKDF is written out from RFC 5869; nothing is shared with src/proof.
"""
import hashlib
import hmac
import json


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def hkdf(secret, info):
    # RFC 5869 §2.2 with an empty salt, and one round of §2.3, as L = HashLen = 32.
    return mac(mac(bytes(32), secret), info + b"\x01")


def labelled(label, value):
    return label.encode() + b"\0" + value.to_bytes(2, "big")


def subkey(use, version, secret):
    return hkdf(secret, labelled(f"phm/subkey/{use}/v1", version))


def commitment(version, secret, key):
    return mac(subkey("commit", version, secret), labelled("phm/commit/v1", 8 * len(key)) + key)


def proof(version, secret, key):
    tag = mac(subkey("proof", version, secret), labelled("phm/proof/v1", 8 * len(key)) + key)
    return f"proof_{version * 2**256 + int.from_bytes(tag, 'big')}"


def check_value(version, secret):
    return mac(subkey("check", version, secret), b"phm/check/v1")


def log_mac(version, secret, entry_id, entry):
    return mac(subkey("log", version, secret), b"phm/log-entry/v1\0" + entry_id + entry)


def material(label, length):
    return hashlib.shake_256(f"phm vector: {label}".encode()).digest(length)


def group(comment, versions):
    newest = versions[-1]
    tests = []
    for bits in (128, 256, 384):
        key = material(f"key {bits}", bits // 8)
        good = proof(*newest, key)
        number = int(good[6:])
        other = material(f"another key {bits}", bits // 8)
        unknown = max(v for v, _ in versions) + 1

        def add(comment, text, result):
            tests.append({"tcId": 0, "comment": comment, "key": key.hex(), "proof": text, "result": result})

        tests.append({"tcId": 0, "comment": "the current version", "key": key.hex(), "proof": good,
                      "commitments": [{"version": v, "digest": commitment(v, s, key).hex(),
                                       "fingerprint": str(int.from_bytes(commitment(v, s, key)[:8], "big", signed=True))}
                                      for v, s in reversed(versions)], "result": "valid"})
        for v, s in versions[:-1]:
            add(f"retained version {v}", proof(v, s, key), "valid")
        add("the proof of another key", proof(*newest, other), "invalid")
        add("the tag's last bit flipped", f"proof_{number ^ 1}", "invalid")
        add("the tag's first bit flipped", f"proof_{number ^ (1 << 255)}", "invalid")
        add("the tag under an unknown version", f"proof_{number % 2**256 + unknown * 2**256}", "invalid")
        add("the tag under version 65536", f"proof_{number % 2**256 + 2**272}", "invalid")
        add("version 0, the tag alone", f"proof_{number % 2**256}", "invalid")
        add("a leading zero", f"proof_0{number}", "invalid")
        add("a plus sign", f"proof_+{number}", "invalid")
        add("hexadecimal", f"proof_{number:#x}", "invalid")
        add("a trailing newline", f"{good}\n", "invalid")
        add("a leading space", f" {good}", "invalid")
        add("an upper-case prefix", f"Proof_{number}", "invalid")
        add("no prefix", f"{number}", "invalid")
        add("Arabic-Indic digits", "proof_" + "".join(chr(0x0660 + int(d)) for d in str(number)), "invalid")
        add("full-width digits", "proof_" + "".join(chr(0xFF10 + int(d)) for d in str(number)), "invalid")
        add("83 digits", f"proof_{'9' * 83}", "invalid")
        add("82 nines", f"proof_{'9' * 82}", "invalid")
        add("empty", "", "invalid")
    return {"comment": comment,
            "masterSecret": "".join(f"{v}:{s.hex()}\n" for v, s in versions),
            "checkValues": [{"version": v, "value": check_value(v, s).hex()} for v, s in versions],
            "logMacs": [{"version": v, "entryId": material("entry ID", 16).hex(), "entry": material("entry", 32).hex(),
                         "mac": log_mac(v, s, material("entry ID", 16), material("entry", 32)).hex()} for v, s in versions],
            "tests": tests}


groups = [
    group("one version", [(1, material("secret 1", 32))]),
    group("three versions, the last current", [(1, material("secret 1", 32)), (2, material("secret 2", 48)), (300, material("secret 300", 32))]),
    group("the highest version", [(65535, material("secret 65535", 32))]),
]
count = 0
for one in groups:
    for test in one["tests"]:
        count += 1
        test["tcId"] = count
print(json.dumps({
    "algorithm": "phm key proofs and commitments, version 1",
    "source": "test/vectors/proof/generate.py",
    "numberOfTests": count,
    "testGroups": groups,
}, indent=2, ensure_ascii=False))

"""Computes key-commitments.json or statements.json from the definitions, with Python's standard library only.

Run: python3 test/vectors/receipt/generate.py key-commitments > test/vectors/receipt/key-commitments.json
     python3 test/vectors/receipt/generate.py statements > test/vectors/receipt/statements.json
Nothing is shared with src/keys or packages/tlog.
"""
import base64
import datetime
import hashlib
import hmac
import json
import struct
import sys


def material(label, length):
    return hashlib.shake_256(f"phm receipt vector: {label}".encode()).digest(length)


def b64(data):
    return base64.b64encode(data).decode()


def key_id(number):
    return f"phm_{number}"


def commitment(opening, name, key):
    message = b"phm/key-commitment/v1\0" + (8 * len(key)).to_bytes(2, "big") + name.encode() + b"\0" + key
    return hmac.new(opening, message, hashlib.sha256).digest()


def canonical(value):
    """RFC 8785 for ASCII strings, integers, and floats that Python and ECMAScript print alike."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256(text):
    return hashlib.sha256(text.encode()).digest()


def commitments():
    groups, count = [], 0
    for bits in (128, 256, 384):
        opening, key = material(f"opening {bits}", 32), material(f"key {bits}", bits // 8)
        name = key_id(int.from_bytes(material(f"ID {bits}", 16), "big"))
        good = commitment(opening, name, key)
        tests = []

        def add(comment, result, flags=(), **changes):
            nonlocal count
            count += 1
            fields = {"opening": opening, "key": key, "commitment": good, "keyId": name} | changes
            tests.append({"tcId": count, "comment": comment, "flags": list(flags)}
                         | {k: v if isinstance(v, str) else v.hex() for k, v in fields.items()}
                         | {"result": result})

        add("a commitment and its opening", "valid")
        add("the shortest key ID", "valid", keyId="phm_1", commitment=commitment(opening, "phm_1", key))
        longest = key_id(2**128 - 1)
        add("the longest key ID", "valid", keyId=longest, commitment=commitment(opening, longest, key))
        add("a key of zeros under an opening of zeros", "valid", key=bytes(len(key)), opening=bytes(32),
            commitment=commitment(bytes(32), name, bytes(len(key))))
        # HMAC pads a key below 64 bytes with zeros, so these two have the same HMAC.
        short = opening[:31]
        add("an opening of 31 bytes", "invalid", ["OpeningLength"], opening=short, commitment=commitment(short, name, key))
        add("an opening of 32 bytes, given with a 33rd byte of zero", "invalid", ["OpeningLength"], opening=opening + b"\0")
        add("an opening of 33 bytes", "invalid", ["OpeningLength"], opening=opening + b"\1",
            commitment=commitment(opening + b"\1", name, key))
        add("an empty opening", "invalid", ["OpeningLength"], opening=b"", commitment=commitment(b"", name, key))
        add("a hashed opening of 65 bytes", "invalid", ["OpeningLength"], opening=material("long", 65),
            commitment=commitment(material("long", 65), name, key))
        add("the opening's first bit flipped", "invalid", opening=bytes([opening[0] ^ 0x80]) + opening[1:])
        add("the opening's last bit flipped", "invalid", opening=opening[:-1] + bytes([opening[-1] ^ 1]))
        add("the key's first bit flipped", "invalid", key=bytes([key[0] ^ 0x80]) + key[1:])
        add("the key's last bit flipped", "invalid", key=key[:-1] + bytes([key[-1] ^ 1]))
        add("the commitment's last bit flipped", "invalid", commitment=good[:-1] + bytes([good[-1] ^ 1]))
        add("another key ID", "invalid", ["OtherKeyId"], keyId="phm_1")
        add("the same number without its prefix", "invalid", ["OtherKeyId"], keyId=name[4:])
        add("a key ID with a trailing zero byte", "invalid", ["OtherKeyId"], keyId=name + "\0")
        add("a key of another length", "invalid", ["OtherBits"], key=material("other", 16 if bits != 128 else 32))
        message = b"phm/key-commitment/v1\0" + name.encode() + b"\0" + key
        add("a commitment without the length", "invalid", ["OtherMessage"],
            commitment=hmac.new(opening, message, hashlib.sha256).digest())
        swapped = hmac.new(key, b"phm/key-commitment/v1\0" + bits.to_bytes(2, "big") + name.encode() + b"\0" + opening, hashlib.sha256)
        add("key and opening exchanged", "invalid", ["OtherMessage"], commitment=swapped.digest())
        groups.append({"bits": bits, "tests": tests})
    return {"algorithm": "phm/key-commitment/v1", "source": "test/vectors/receipt/generate.py",
            "notes": {"OpeningLength": "HMAC pads or hashes other lengths: a verifier must refuse them before it computes.",
                      "OtherKeyId": "The commitment covers the text of the key ID.",
                      "OtherBits": "The commitment covers the length of the key.",
                      "OtherMessage": "The message has exactly one form."},
            "numberOfTests": count, "testGroups": groups}


def row_of(record):
    evidence, receipt = record["evidence"], record["receipt"]
    of = lambda name: evidence[name] if evidence else None
    return {"account_id": record["accountId"], "api_key_id": record["apiKeyId"],
            "commitment": b64(record["commitment"]["digest"]), "created_ms": record["createdMs"],
            "entropy_bits": record["entropyBits"], "entropy_job_id": record["entropyJobId"],
            "evidence_definition": of("definition"), "gate_p": of("gateP"),
            "fingerprint": str(int.from_bytes(record["commitment"]["digest"][:8], "big", signed=True)),
            "key_commitment": b64(receipt["keyCommitment"]), "key_id": record["keyId"],
            "latency_us": record["latencyUs"], "modulation": record["modulation"],
            "p_values": b64(evidence["pValues"]) if evidence else None, "salt": b64(receipt["salt"]),
            "secret_version": record["commitment"]["version"], "security_level": record["securityLevel"],
            "software": receipt["software"], "source": record["source"], "sources": receipt["sources"],
            "strength_bits": receipt["strengthBits"], "tests_passed": of("testsPassed"), "total_tests": of("totalTests")} | {
            column: record[name] for column, name in (("labels", "labels"), ("expires_ms", "expiresMs")) if name in record}


def statement_of(record, origin):
    evidence, receipt = record["evidence"], record["receipt"]
    time = datetime.datetime.fromtimestamp(record["createdMs"] / 1000, datetime.timezone.utc)
    seals = [{"to": b64(to), "digest": b64(digest)} for to, digest in record.get("seals", [])]
    if len(seals) > 1:
        sealed = {"type": "phm-key-receipt/v2", "sealed": seals, "delivery": None}
    else:
        one = seals[0] if seals else {"to": None, "digest": None}
        sealed = {"type": "phm-key-receipt/v1", "sealed_to": one["to"], "sealed_digest": one["digest"]}
    return sealed | {"service": origin, "key_id": record["keyId"],
            "time": time.isoformat(timespec="milliseconds"),
            "security_level": record["securityLevel"], "security_strength_bits": receipt["strengthBits"],
            "key_commitment": b64(receipt["keyCommitment"]),
            "evidence": evidence and {"digest": "sha256:" + sha256(canonical(evidence_of(evidence))).hex(), "verdict": "PASS",
                                      "tests_passed": evidence["testsPassed"], "total_tests": evidence["totalTests"]},
            "modulation": record["modulation"],
            "sources": [{"name": name, "credit_bits": float(bits) if "." in bits else int(bits)}
                        for name, bits in (part.split(":") for part in receipt["sources"].split(","))],
            "row_digest": b64(sha256(canonical(row_of(record)))),
            "software": receipt["software"], "salt": b64(receipt["salt"])}


def evidence_of(evidence):
    return {"definition": evidence["definition"], "gate_p_value": evidence["gateP"],
            "p_values": b64(evidence["pValues"]), "verdict": "PASS"}


def hexed(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [hexed(one) for one in value]
    return {name: hexed(one) for name, one in value.items()} if isinstance(value, dict) else value


def statements():
    origin = "phm.invalid/0123456789abcdef"
    software = "phm-key-service/0.1.0+0123456789abcdef"

    def record(name, **changes):
        return {"keyId": key_id(int.from_bytes(material(f"{name} ID", 16), "big")), "accountId": "acct_1", "apiKeyId": "key_1",
                "commitment": {"version": 1, "digest": material(f"{name} digest", 32)}, "securityLevel": 256,
                "modulation": "phase", "source": "os", "createdMs": 1_795_398_001_558, "latencyUs": 41,
                "entropyBits": 254.83, "entropyJobId": None, "evidence": None} | changes | {
                "receipt": {"keyCommitment": material(f"{name} commitment", 32), "salt": material(f"{name} salt", 32),
                            "strengthBits": min(256, changes.get("securityLevel", 256)),
                            "sources": changes.get("sources", "os:256"), "software": software}}

    def seals(name, count):
        return [(material(f"{name} recipient {i}", 32), material(f"{name} sealed key {i}", 32)) for i in range(count)]

    p_values = b"".join(struct.pack("<I", int.from_bytes(material(f"p {i}", 4), "big") % 10**9) for i in range(188)) + b"\xff" * 16
    records = [
        ("a plain key", record("plain")),
        ("a validated key of 384 bits from three sources", record(
            "validated", securityLevel=384, modulation="none", source="ibm-quantum", entropyJobId="job-1,job-2",
            entropyBits=383.5, createdMs=1_700_000_000_000, latencyUs=123_456,
            evidence={"definition": 2, "gateP": 0.33109547078507195, "testsPassed": 14, "totalTests": 15, "pValues": p_values},
            sources="os:256,ibm-quantum:128,jitter:12.5")),
        ("a key without credit, under version 65535", record(
            "uncredited", securityLevel=128, entropyBits=0, commitment={"version": 65535, "digest": material("high", 32)},
            sources="os:0,quantum-simulator:0")),
        ("a key with labels", record("labelled", labels=canonical({"team": 'a "b" – ü', "env": "prod"}))),
        ("a key that expires", record("expiring", expiresMs=1_798_761_600_000)),
        ("a key with labels that expires", record("both", labels=canonical({"env": ""}), expiresMs=253_402_300_799_999)),
        ("a key for one recipient", record("one", seals=seals("one", 1))),
        ("a key for two recipients", record("two", seals=seals("two", 2))),
        ("a validated key for eight recipients, with labels", record(
            "eight", seals=seals("eight", 8), securityLevel=384, labels=canonical({"link": "east-west"}),
            evidence={"definition": 2, "gateP": 0.5, "testsPassed": 15, "totalTests": 15, "pValues": p_values})),
    ]
    return {"algorithm": "phm-key-receipt/v1 and v2", "source": "test/vectors/receipt/generate.py", "numberOfTests": len(records),
            "origin": origin,
            "tests": [{"tcId": i, "comment": comment, "record": hexed({k: v for k, v in one.items() if k != "sources"}),
                       "evidence": one["evidence"] and canonical(evidence_of(one["evidence"])),
                       "row": canonical(row_of(one)), "statement": canonical(statement_of(one, origin)),
                       "entry": sha256(canonical(statement_of(one, origin))).hex()}
                      for i, (comment, one) in enumerate(records, 1)]}


print(json.dumps({"key-commitments": commitments, "statements": statements}[sys.argv[1]](), indent=2))

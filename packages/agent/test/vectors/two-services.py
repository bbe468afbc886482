"""Derives two-services.json by RFC 5869 over Python's hmac, without code of this project: python3 two-services.py > two-services.json"""
import base64, hashlib, hmac, json


def hkdf(salt, secret, info, length):
    key = hmac.new(salt, secret, hashlib.sha512).digest()
    block = hmac.new(key, info + b"\x01", hashlib.sha512).digest()
    return block[:length]


def vector(bits, first, second):
    size = bits // 8
    delivery = "3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11"
    context = base64.b64encode(hashlib.sha256(b"a context").digest()).decode()
    copies = []
    for origin, fill in ((first, 0x11), (second, 0x22)):
        key = bytes((fill + i) % 256 for i in range(size))
        commitment = base64.b64encode(hashlib.sha256(key).digest()).decode()
        key_id = f"01900000-0000-7000-8000-0000000000{fill:02x}"
        copies.append({"service": origin, "key_id": key_id, "commitment": commitment, "key": key.hex()})
    ordered = sorted(copies, key=lambda one: one["service"])
    # All names and values are ASCII: sorted keys without spaces are JCS (RFC 8785).
    info = json.dumps(
        {
            "bits": bits,
            "context": context,
            "id": delivery,
            "services": [{name: one[name] for name in ("commitment", "key_id", "service")} for one in ordered],
        },
        sort_keys=True,
        separators=(",", ":"),
    ).encode()
    secret = b"".join(bytes.fromhex(one["key"]) for one in ordered)
    derived = hkdf(b"phm/two-services/v1", secret, info, size)
    return {"bits": bits, "id": delivery, "context": context, "copies": copies, "info": info.decode(), "derived": derived.hex()}


names = ("keys.example/log", "other.example/log")
print(json.dumps([vector(128, *names), vector(256, *names), vector(256, *names[::-1]), vector(384, *names)], indent=2))

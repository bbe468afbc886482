"""Writes peaks.json: N_1 of the spectral test on SHAKE128 output, by NumPy's transform.

    pip install numpy
    python3 generate-peaks.py > peaks.json

The n bits are the first of SHAKE128("phm"), most significant bit of each byte first. `gap` is the
smallest distance of an |S_k|^2 from T^2: how far N_1 is from depending on rounding errors.
"""

import hashlib
import json
import math

import numpy as np

# Powers of two, 10^6, primes, and odd products: each kind takes another way through a transform.
LENGTHS = [1000, 1009, 4096, 99_999, 131_072, 999_983, 1_000_000, 1_000_001, 1_048_574, 1_048_575]


def row(n):
    data = hashlib.shake_128(b"phm").digest((n + 7) // 8)
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8))[:n]
    power = np.abs(np.fft.rfft(2.0 * bits - 1.0)[: n // 2]) ** 2
    threshold = n * math.log(20)
    gap = float(np.abs(power - threshold).min())
    return {"n": n, "N_1": int((power < threshold).sum()), "gap": float(f"{gap:.3g}")}


print("[\n  " + ",\n  ".join(json.dumps(row(n)) for n in LENGTHS) + "\n]")

"""Measures encrypted files of the Python client; bench/files.ts runs it and says what is measured.

files.py FOLDER MIB ROUNDS processor|clock: prints the times of each round as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from phm_client.files.container import FileHeader
from phm_client.files.files import FOR_ALL, write_file
from phm_client.files.segments import decrypt_content, encrypt_content
from phm_client.files.streams import FileStream

MIB = 2**20
KEY = os.urandom(32)
BOUND = b"bench"


def timed(work: Callable[[], object]) -> float:
    now = time.perf_counter if sys.argv[4] == "clock" else time.process_time
    start = now()
    work()
    return now() - start


def chunks(mib: int) -> Iterator[bytes]:
    chunk = os.urandom(MIB)
    return (chunk for _ in range(mib))


def plain(source: Iterator[bytes]) -> Iterator[bytes]:
    """AES-GCM of the package, a message for each chunk, with nothing around it."""
    cipher = AESGCM(KEY)
    for number, chunk in enumerate(source):
        yield cipher.encrypt(number.to_bytes(12, "big"), chunk, None)


def drain(source: Iterator[bytes]) -> None:
    for _ in source:
        pass


def read(path: Path) -> Iterator[bytes]:
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(MIB):
            yield chunk


def plain_file(path: Path, out: Path) -> None:
    with open(out, "wb", buffering=0) as file:
        for chunk in plain(read(path)):
            file.write(chunk)
        os.fsync(file.fileno())


def through(path: Path, out: Path, work: Callable[[Iterator[bytes]], Iterator[bytes]]) -> None:
    header = FileHeader(key_id="", key_commitment="", service=None, time="", thumbprint="")
    write_file(
        path,
        out,
        lambda source: FileStream(header, work(iter(lambda: source.read(MIB), b""))),
        overwrite=True,
        mode=FOR_ALL,
    )


def encrypt(source: Iterator[bytes]) -> Iterator[bytes]:
    return encrypt_content(source, KEY, BOUND)


def decrypt(source: Iterator[bytes]) -> Iterator[bytes]:
    return decrypt_content(source, KEY, BOUND)


def main(folder: Path, mib: int, rounds: int) -> None:
    source, sealed, opened, other = (folder / name for name in ("in", "sealed", "opened", "plain"))
    with open(source, "wb") as file:
        for chunk in chunks(mib):
            file.write(chunk)
    for _ in range(rounds):
        figures = {
            "plain": (alone := timed(lambda: drain(plain(chunks(mib))))),
            "plain_twice": 2 * alone,
            "encrypt": timed(lambda: drain(encrypt(chunks(mib)))),
            "both": timed(lambda: drain(decrypt(encrypt(chunks(mib))))),
            "plain_file": timed(lambda: plain_file(source, other)),
            "encrypt_file": timed(lambda: through(source, sealed, encrypt)),
            "decrypt_file": timed(lambda: through(sealed, opened, decrypt)),
        }
        print(json.dumps(figures), flush=True)
    if opened.stat().st_size != source.stat().st_size:
        raise SystemExit("the decrypted file has another length")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))

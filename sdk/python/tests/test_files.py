"""Encrypted files: whom they open for, what is refused, and what is left of a failed output."""

from __future__ import annotations

import base64
import errno
import hashlib
import hmac
import io
import json
import os
import pickle
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from scripted import SEALED, TIMESTAMP

from phm_client import (
    EncryptedFileError,
    PhmClient,
    Recipient,
    RecipientKey,
    SealedKeyError,
    SealSuite,
    decrypt_file,
    decrypt_stream,
    encrypted_file_key,
    format_recipient,
    format_recipient_key,
    new_recipient,
    open_sealed_key,
    parse_recipient_key,
    read_file_key,
    reseal,
    reseal_stream,
)
from phm_client.files.files import _resemble
from phm_client.files.segments import StreamParameters, decrypt_content, encrypt_content
from phm_client.sealing.base64url import bytes_of
from phm_client.sealing.plaintext import SealedContent
from phm_client.sealing.sealer import seal_again

NAMES: list[SealSuite] = ["MLKEM768-X25519", "ML-KEM-1024"]
VECTORS = Path(__file__).parents[3] / "test/vectors/files"
HASHES = {"SHA-1": "SHA1", "SHA-256": "SHA256"}

# Segments of 64 bytes: header 40, then 8, 48, 48, … bytes of content.
SMALL = StreamParameters("SHA256", 32, 64)
KEY = os.urandom(32)


def content(size: int) -> bytes:
    return bytes(i % 251 for i in range(size))


CONTENT = content(2**20 + 1000)


def in_chunks(whole: bytes, size: int) -> Iterator[bytes]:
    return (whole[at : at + size] for at in range(0, len(whole), size))


def vectors(name: str) -> Any:
    return json.loads((VECTORS / name).read_text())


@pytest.mark.parametrize("vector", vectors("tink.json"), ids=lambda vector: vector["name"])
def test_follows_the_vectors_of_tink(vector: Any) -> None:
    names = ("key", "associatedData", "plaintext", "ciphertext")
    key, bound, plaintext, ciphertext = (bytes.fromhex(vector[name]) for name in names)
    hash_name, key_bytes = HASHES[vector["hash"]], vector["keyBytes"]
    parameters = StreamParameters(hash_name, key_bytes, vector["segmentBytes"])
    assert b"".join(decrypt_content(in_chunks(ciphertext, 9), key, bound, parameters)) == plaintext
    random = ciphertext[1 : 1 + key_bytes + 7]
    sealed = encrypt_content(in_chunks(plaintext, 9), key, bound, parameters, random)
    assert b"".join(sealed) == ciphertext


@pytest.mark.parametrize("vector", vectors("content.json"), ids=lambda vector: vector["bytes"])
def test_follows_the_vectors_of_the_project(vector: Any) -> None:
    names = ("key", "associated_data", "random")
    key, bound, random = (bytes.fromhex(vector[name]) for name in names)
    whole = content(vector["bytes"])
    sealed = b"".join(encrypt_content(in_chunks(whole, 2**19 + 1), key, bound, random=random))
    assert hashlib.sha256(sealed).hexdigest() == vector["sha256"]
    assert b"".join(decrypt_content(in_chunks(sealed, 2**20), key, bound)) == whole


@pytest.mark.parametrize("vector", vectors("files.json"), ids=lambda vector: vector["name"])
def test_opens_the_files_of_the_vectors(vector: Any) -> None:
    file = base64.b64decode(vector["file"])
    opened = decrypt_stream(
        in_chunks(file, 1000), recipient_key=json.dumps(vector["recipient_key"])
    )
    assert b"".join(opened).decode() == vector["content"]


def sealed_small(whole: bytes) -> bytes:
    return b"".join(encrypt_content(in_chunks(whole, 7), KEY, b"ad", SMALL))


def refused(sealed: bytes, whole: bytes) -> str:
    """Assert that bytes are refused, and that only a true beginning was released before."""
    released = b""
    code = ""
    try:
        for chunk in decrypt_content(in_chunks(sealed, 11), KEY, b"ad", SMALL):
            released += chunk
    except EncryptedFileError as error:
        code = error.code
    assert code
    assert whole.startswith(released)
    assert len(released) < max(1, len(whole))
    return code


def test_is_the_same_in_and_out() -> None:
    for size in range(160):
        whole = content(size)
        sealed = sealed_small(whole)
        random = sealed[1:40]
        assert len(sealed) == 40 + size + 16 * (1 if size <= 8 else 1 + -(-(size - 8) // 48))
        for cut in (1, 8, 48, 63, 64, 65, 1000):
            again = b"".join(encrypt_content(in_chunks(whole, cut), KEY, b"ad", SMALL, random))
            assert again == sealed
            assert b"".join(decrypt_content(in_chunks(sealed, cut), KEY, b"ad", SMALL)) == whole


def test_is_refused_after_any_change_or_cut() -> None:
    for size in (0, 8, 9, 56, 70, 104):
        whole = content(size)
        sealed = sealed_small(whole)
        for at in range(len(sealed)):
            altered = bytearray(sealed)
            altered[at] ^= 1 << at % 8
            assert refused(bytes(altered), whole) in ("damaged", "truncated")
            code = refused(sealed[:at], whole)
            assert code == "truncated" or at % 64, at


def test_is_refused_with_segments_in_another_order() -> None:
    whole = content(150)
    sealed = sealed_small(whole)
    a, b, c, d = in_chunks(sealed, 64)
    foreign = sealed_small(whole)[64:128]
    forms: list[Iterable[bytes]] = [
        [sealed, b"\0"],
        [sealed, bytes(16)],
        [a, b, c, d, d],
        [a, c, b, d],
        [a, c, d],
        [b, c, d],
        [a, b, c],
        [a, b, b, c, d],
        [a, foreign, c, d],
        [a, d, c, d],
    ]
    for form in forms:
        refused(b"".join(form), whole)
    for key, bound in ((bytes(32), b"ad"), (KEY, b"ae"), (KEY, b"")):
        with pytest.raises(EncryptedFileError, match="segment 0 is not authentic"):
            next(decrypt_content([sealed], key, bound, SMALL))


class Site:
    """A client whose service is this process, and what it asked for."""

    def __init__(self) -> None:
        self.orders: list[Any] = []
        self.sealed: list[Any] = []
        http = httpx.Client(transport=httpx.MockTransport(self._answer))
        self.phm = PhmClient("http://127.0.0.1:1", "key", http_client=http)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        order = json.loads(request.content)
        self.orders.append(order)
        key, opening = os.urandom(32), os.urandom(32)
        key_id = SEALED["key_id"]
        message = b"phm/key-commitment/v1\0\x01\0" + f"{key_id}\0".encode() + key
        header = {
            "type": "phm-sealed-key/v1",
            "service": None,
            "key_id": key_id,
            "security_level": 256,
            "time": TIMESTAMP,
            "key_commitment": base64.b64encode(hmac.digest(opening, message, "sha256")).decode(),
        }
        public_key = bytes_of("public_key", order["seal_to"]["public_key"], 1, 2000)
        to = Recipient(order["seal_to"]["suite"], public_key)
        secret = SealedContent("proof_1", key, base64.b64encode(opening).decode())
        sealed_key = seal_again(header, secret, to)
        members = {name: getattr(sealed_key, name) for name in sealed_key.__slots__}
        self.sealed.append(members)
        body = {"success": True, **SEALED, "sealed_key": members}
        for name in ("labels", "expires_at"):
            if name in order:
                body[name] = order[name]
        return httpx.Response(
            200, json=body, headers={"X-Request-Id": request.headers["X-Request-Id"]}
        )


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.txt"
    path.write_bytes(CONTENT)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", ["own", "public", "text"])
def test_opens_for_its_recipient(site: Site, report: Path, name: SealSuite, way: str) -> None:
    own = new_recipient(name)
    to: Any = {"own": own, "public": own.recipient, "text": format_recipient(own)}[way]
    written = site.phm.encrypt_file(report, to=to, labels={"file": "report"})
    assert written.path == report.with_name("report.txt.phm")
    assert written.header.key_id == SEALED["key_id"]
    assert site.orders[0]["security_level"] == 256
    assert site.orders[0]["labels"] == {"file": "report"}
    # Without the private key, the service seals to a recipient of the call.
    info = encrypted_file_key(written.path)
    assert info.header == written.header
    assert (info.sealed_key.enc == site.sealed[0]["enc"]) == (way == "own")
    out = report.with_name("copy")
    opened = decrypt_file(written.path, recipient_key=format_recipient_key(own), out=out)
    assert (opened.path, opened.header) == (out, written.header)
    assert out.read_bytes() == CONTENT
    if os.name == "posix":
        assert out.stat().st_mode & 0o777 == 0o600
    first, second, _ = written.path.read_bytes().split(b"\n", 2)
    assert first == b"phm-encrypted-file/v1"
    assert open_sealed_key(second, own).key_id == SEALED["key_id"]


def test_is_resealed_without_a_change_of_its_content(site: Site, report: Path) -> None:
    own, other = new_recipient(), new_recipient("ML-KEM-1024")
    path = site.phm.encrypt_file(report, to=own).path
    before = path.read_bytes().split(b"\n", 2)[2]
    resealed = reseal(path, recipient_key=own, to=format_recipient(other))
    assert resealed.path == path
    assert resealed.header.key_id == SEALED["key_id"]
    assert path.read_bytes().split(b"\n", 2)[2] == before
    out = report.with_name("copy")
    with pytest.raises(EncryptedFileError, match="^The file is sealed to the recipient") as caught:
        decrypt_file(path, recipient_key=own, out=out)
    assert caught.value.code == "wrong_recipient"
    assert pickle.loads(pickle.dumps(caught.value)).code == "wrong_recipient"
    decrypt_file(path, recipient_key=other, out=out)
    assert out.read_bytes() == CONTENT
    assert names(report.parent) == ["copy", "report.txt", "report.txt.phm"]


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such owners")
def test_keeps_its_group_when_another_user_may_not_give_it_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    was = tmp_path.stat()
    stats = [
        SimpleNamespace(st_mode=was.st_mode, st_uid=uid, st_gid=gid)
        for uid, gid in ((4711, 4712), (was.st_uid, was.st_gid))
    ]
    calls: list[tuple[int, int]] = []

    def fchown(_file: int, uid: int, gid: int) -> None:
        calls.append((uid, gid))
        if uid == 4711:
            raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", lambda _: stats.pop(0))
        patch.setattr(os, "fchown", fchown)
        _resemble(1, 2)
    assert calls == [(4711, 4712), (was.st_uid, 4712)]


def test_has_a_name_that_lasts_where_a_folder_can_be_synced(
    site: Site, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = new_recipient()
    order: list[str] = []
    problem = 0

    def fsync(file: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(file).st_mode)
        order.append("folder" if is_folder else "file")
        if is_folder and problem:
            raise OSError(problem, "no sync")
        if is_folder:
            assert names(report.parent) == ["report.txt", "report.txt.phm"]

    monkeypatch.setattr(os, "fsync", fsync)
    path = site.phm.encrypt_file(report, to=own).path
    assert order == ["file", "folder"]
    problem = errno.EINVAL
    decrypt_file(path, recipient_key=own, out=report.with_name("copy"))
    problem = errno.EIO
    with pytest.raises(OSError, match="no sync"):
        reseal(path, recipient_key=own, to=own)


def test_is_closed_before_it_is_replaced(
    site: Site, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = new_recipient()
    path = site.phm.encrypt_file(report, to=own).path
    opened: list[Any] = []
    replaced: list[Any] = []

    def noted_open(*args: Any, **kwargs: Any) -> Any:
        opened.append(open(*args, **kwargs))  # noqa: SIM115
        return opened[-1]

    def replace(part: Path, place: Path) -> None:
        # Windows replaces no open file.
        replaced.extend(file.closed for file in opened)
        part.rename(place)

    monkeypatch.setattr("phm_client.files.files.open", noted_open, raising=False)
    monkeypatch.setattr(os, "replace", replace)
    reseal(path, recipient_key=own, to=own)
    assert replaced == [True]


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such permissions")
def test_keeps_permissions_owner_and_links_when_resealed(site: Site, report: Path) -> None:
    own, other = new_recipient(), new_recipient()
    path = site.phm.encrypt_file(report, to=own).path
    # Root gives a file to its owner again; others may not give it away.
    owner = (4711, 4712) if os.geteuid() == 0 else (path.stat().st_uid, path.stat().st_gid)
    os.chown(path, *owner)
    path.chmod(0o464)
    link = report.parent / "folder/link"
    link.parent.mkdir()
    link.symlink_to("../report.txt.phm")
    assert reseal(link, recipient_key=own, to=other).path == link
    assert link.is_symlink()
    now = path.lstat()
    assert (now.st_mode & 0o777, now.st_uid, now.st_gid) == (0o464, *owner)
    out = report.with_name("copy")
    decrypt_file(path, recipient_key=other, out=out)
    assert out.read_bytes() == CONTENT
    reseal(path, recipient_key=other, to=own, out=str(path), overwrite=True)
    assert path.stat().st_mode & 0o777 == 0o464
    assert names(link.parent) == ["link"]
    assert names(report.parent) == ["copy", "folder", "report.txt", "report.txt.phm"]


def test_replaces_no_output_unless_asked(site: Site, report: Path) -> None:
    own = new_recipient()
    there = report.with_name("there")
    there.write_text("mine")
    path = site.phm.encrypt_file(report, to=own).path
    calls: list[Callable[[], object]] = [
        lambda: site.phm.encrypt_file(report, to=own, out=there),
        lambda: decrypt_file(path, recipient_key=own, out=there),
        lambda: decrypt_file(path, recipient_key=own),
        lambda: reseal(path, recipient_key=own, to=own, out=there),
    ]
    for call in calls:
        with pytest.raises(EncryptedFileError, match=" exists: give another path") as caught:
            call()
        assert caught.value.code == "output_exists"
    assert there.read_text() == "mine"
    assert len(site.orders) == 1
    decrypt_file(path, recipient_key=own, out=there, overwrite=True)
    assert there.read_bytes() == CONTENT
    assert names(report.parent) == ["report.txt", "report.txt.phm", "there"]


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such files")
def test_replaces_nothing_but_files(site: Site, report: Path) -> None:
    own = new_recipient()
    path = site.phm.encrypt_file(report, to=own).path
    pipe, folder, device = (report.with_name(name) for name in ("pipe", "folder", "device"))
    os.mkfifo(pipe)
    folder.mkdir()
    device.symlink_to("/dev/null")
    for out in (pipe, folder, device):
        with pytest.raises(EncryptedFileError, match=" is not a regular file, and") as caught:
            decrypt_file(path, recipient_key=own, out=out, overwrite=True)
        assert caught.value.code == "output_exists"
        with pytest.raises(EncryptedFileError, match=" is not a regular file, and"):
            site.phm.encrypt_file(report, to=own, out=out, overwrite=True)
    assert len(site.orders) == 1
    assert pipe.is_fifo()
    assert folder.is_dir()
    assert device.is_symlink()
    assert len(names(report.parent)) == 5


def test_replaces_no_output_that_somebody_makes_meanwhile(
    site: Site, report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = new_recipient()
    path = site.phm.encrypt_file(report, to=own).path
    out = report.with_name("late")
    monkeypatch.setattr(os, "fsync", lambda _: out.write_text("mine"))
    with pytest.raises(EncryptedFileError, match="late exists: give another path"):
        decrypt_file(path, recipient_key=own, out=out)
    assert out.read_text() == "mine"
    assert names(report.parent) == ["late", "report.txt", "report.txt.phm"]


def test_takes_the_longest_name_of_the_file_system(site: Site, report: Path) -> None:
    own = new_recipient()
    longest = report.with_name("あ" * 83)
    written = site.phm.encrypt_file(report, to=own, out=longest.with_name(f"{longest.name}.phm"))
    decrypt_file(written.path, recipient_key=own)
    assert longest.read_bytes() == CONTENT


def test_goes_through_streams(site: Site) -> None:
    own, other = new_recipient(), new_recipient()
    sealed = site.phm.encrypt_stream(io.BytesIO(CONTENT), to=own)
    moved = reseal_stream(sealed, recipient_key=own, to=other.recipient)
    opened = decrypt_stream(moved, recipient_key=other)
    assert opened.header.key_id == sealed.header.key_id == SEALED["key_id"]
    assert b"".join(opened) == CONTENT


def test_explains_arguments_of_the_wrong_kind(site: Site, report: Path) -> None:
    own = new_recipient()
    secret = format_recipient_key(own)[:-20]
    encrypt: Any = site.phm.encrypt_file
    with pytest.raises(ValueError, match="^to is text, but not of the file of a recipient: "):
        encrypt(report, to=str(report))
    with pytest.raises(ValueError, match="^to is text, but not of the file") as caught:
        encrypt(report, to=secret)
    assert secret[-30:] not in str(caught.value)
    with pytest.raises(TypeError, match="^to must be a Recipient or the text of its file, got "):
        encrypt(report, to=5)
    with pytest.raises(TypeError, match="^idempotency_key must be"):
        encrypt(report, to=own, idempotency_key="a")
    with pytest.raises(ValueError, match="^the path does not end with .phm"):
        decrypt_file(report, recipient_key=own)
    with pytest.raises(ValueError, match="^recipient_key is text, but not of the file"):
        decrypt_file(report, recipient_key=secret, out=report.with_name("x"))
    stream: Any = decrypt_stream
    with pytest.raises(TypeError, match="^recipient_key must be a RecipientKey or the text of its"):
        stream([], recipient_key=own.recipient)
    for wrong in ("report.txt", b"report"):
        with pytest.raises(TypeError, match="^source must be a file object or an iterable of byte"):
            stream(wrong, recipient_key=own)
    with pytest.raises(TypeError, match="^the source must yield bytes, got str"):
        stream(["x"], recipient_key=own)
    assert site.orders == []
    assert names(report.parent) == ["report.txt"]


def outcome_of(file: bytes, recipient_key: str) -> dict[str, Any]:
    try:
        opened = decrypt_stream(in_chunks(file, 50_000), recipient_key=recipient_key)
        digest = hashlib.sha256(b"".join(opened)).hexdigest()
    except EncryptedFileError as error:
        return {"code": error.code, "message": str(error)}
    return {"key_id": opened.header.key_id, "sha256": digest}


def test_gives_the_outcomes_of_the_other_client(tmp_path: Path) -> None:
    """Files with the outcomes of the TypeScript client, in a file that the environment names."""
    named = os.environ.get("PHM_FILE_CASES")
    if named is None:
        pytest.skip("PHM_FILE_CASES names no file")
    cases = json.loads(Path(named).read_text())["cases"]
    assert len(cases) > 20
    for case in cases:
        file = base64.b64decode(case["file"])
        assert outcome_of(file, case["recipient_key"]) == case["outcome"], case["name"]
        if "code" in case["outcome"]:
            path = tmp_path / "case.phm"
            path.write_bytes(file)
            with pytest.raises(EncryptedFileError):
                decrypt_file(path, recipient_key=case["recipient_key"])
            assert names(tmp_path) == ["case.phm"], case["name"]
    # The other direction: the TypeScript client opens what this one encrypts and reseals.
    written = [one for size in (0, 1, 2**20 - 56, 2**20 - 55) for one in both_ways(size)]
    Path(named).with_name("python-files.json").write_text(json.dumps(written))


def both_ways(size: int) -> Iterator[dict[str, Any]]:
    own, other = new_recipient(), new_recipient("ML-KEM-1024")
    file = b"".join(Site().phm.encrypt_stream([content(size)], to=own))
    moved = b"".join(reseal_stream([file], recipient_key=own, to=other))
    assert parse_recipient_key(format_recipient_key(other)) == other
    for whole, key in ((file, own), (moved, other)):
        yield {"file": base64.b64encode(whole).decode(), **secret_of(key), "bytes": size}


def secret_of(key: RecipientKey) -> dict[str, str]:
    return {"recipient_key": format_recipient_key(key)}


@pytest.mark.parametrize("way", ["own", "public"])
def test_uses_a_key_of_a_service_by_its_receipt(phm: PhmClient, service: str, way: str) -> None:
    policy = httpx.get(f"{service}/log/policy").text
    own = new_recipient()
    to = own if way == "own" else own.recipient
    sealed = b"".join(phm.encrypt_stream([CONTENT], to=to, policy=policy))
    assert b"".join(decrypt_stream([sealed], recipient_key=own)) == CONTENT
    key_id = read_file_key([sealed]).header.key_id
    assert phm.get_key(key_id).status == "active"
    assert phm.revoke_key(key_id, "superseded").status == "deactivated"
    other = policy.replace("log ", "log x", 1)
    with pytest.raises(SealedKeyError):
        phm.encrypt_stream([CONTENT], to=to, policy=other)

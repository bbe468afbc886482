"""What the client opens, and what it refuses."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import mlkem, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PublicKey,
)
from cryptography.hazmat.primitives.hpke import Suite as HpkeSuite

from phm_client import (
    KeyStatement,
    OpenedKey,
    PhmClient,
    Recipient,
    RecipientKey,
    SealedKeyError,
    SealingUnavailableError,
    SealSuite,
    format_recipient,
    format_recipient_key,
    key_bytes,
    new_recipient,
    open_sealed_key,
    parse_recipient,
    parse_recipient_key,
    sealed_key_json,
)
from phm_client.sealing.hpke import OpenFailedError, derive_key, open_base
from phm_client.sealing.kem import decapsulate, public_key_of
from phm_client.sealing.suites import ML_KEM_1024, MLKEM768_X25519, SUITES, Suite

NAMES: list[SealSuite] = ["MLKEM768-X25519", "ML-KEM-1024"]
VECTOR_FOLDER = Path(__file__).parents[3] / "test/vectors/sealing"
VECTORS = json.loads((VECTOR_FOLDER / "hpke-pq.json").read_text())
HASHES = {1: "sha256", 2: "sha384", 3: "sha512"}


def suite_of_vector(vector: Any) -> Suite:
    """No vector has a suite of ours whole: they have another KDF or AEAD."""
    base = MLKEM768_X25519 if vector["kem_id"] == 0x647A else ML_KEM_1024
    kdf, aead = vector["kdf_id"], vector["aead_id"]
    return replace(base, kdf_id=kdf, aead_id=aead, hash_name=HASHES.get(kdf, ""))


def octets(vector: Any, name: str) -> bytes:
    return bytes.fromhex(vector[name])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: f"{one['kem_id']} {one['kdf_id']}")
def test_decapsulates_as_the_vectors_of_the_draft(vector: Any) -> None:
    suite, seed = suite_of_vector(vector), octets(vector, "skRm")
    base = SUITES[suite.name]
    assert public_key_of(base, seed) == octets(vector, "pkRm")
    assert decapsulate(base, seed, octets(vector, "enc")) == octets(vector, "shared_secret")


def test_derives_keys_as_the_vectors_of_the_draft() -> None:
    checked = 0
    for vector in VECTORS:
        # The other KDFs are functions of one step, which no suite of ours has.
        if vector["kdf_id"] not in HASHES:
            continue
        secret, info = octets(vector, "shared_secret"), octets(vector, "info")
        key, nonce = derive_key(suite_of_vector(vector), secret, info)
        first = vector["encryptions"][0]
        assert nonce == octets(first, "nonce")
        aead = AESGCM(key) if vector["aead_id"] == 2 else ChaCha20Poly1305(key)
        assert aead.decrypt(nonce, octets(first, "ct"), octets(first, "aad")) == octets(first, "pt")
        checked += 1
    assert checked == 2


def test_opens_the_sealed_keys_of_the_service() -> None:
    vectors = json.loads((VECTOR_FOLDER / "sealed-keys.json").read_text())
    assert len(vectors) == 6
    for vector in vectors:
        opened = open_sealed_key(vector["sealed_key"], json.dumps(vector["recipient_key"]))
        content = vector["content"]
        assert opened.key.hex() == content["key"]
        assert (opened.hash_proof, opened.opening) == (content["hash_proof"], content["opening"])


def test_opens_the_copies_that_go_sealed() -> None:
    for vector in json.loads((VECTOR_FOLDER / "several.json").read_text()):
        content, recipients = vector["content"], vector["recipients"]
        copies = [copy["sealed_key"] for copy in vector["copies"]]
        for copy in vector["copies"]:
            own = json.dumps(copy["recipient_key"])
            alone = open_sealed_key(copy["sealed_key"], own)
            opened = open_sealed_key({"sealed_keys": copies}, own, expect_recipients=recipients)
            assert opened == alone
            assert opened.recipients == tuple(recipients)
            assert (alone.key.hex(), opened.key.hex()) == (content["key"], content["key"])
            assert opened.opening == content["opening"]
            if len(recipients) > 1:
                with pytest.raises(SealedKeyError, match="^The key is sealed to a further recip"):
                    open_sealed_key(copy["sealed_key"], own, expect_recipients=[])
            more = [*recipients, new_recipient().recipient]
            with pytest.raises(SealedKeyError, match="^The key is not sealed to a recipient whom"):
                open_sealed_key(copy["sealed_key"], own, expect_recipients=more)


@pytest.mark.parametrize("expected", ["x", b"", 7, [7], ["x"], [{}]])
def test_refuses_expectations_that_are_no_recipients(expected: Any) -> None:
    vector = json.loads((VECTOR_FOLDER / "several.json").read_text())[0]["copies"][0]
    own = json.dumps(vector["recipient_key"])
    with pytest.raises(TypeError):
        open_sealed_key(vector["sealed_key"], own, expect_recipients=expected)


@pytest.mark.parametrize("name", NAMES)
def test_opens_what_the_hpke_of_cryptography_seals(name: SealSuite) -> None:
    own = new_recipient(name)
    suite = SUITES[name]
    public: Any
    if name == "ML-KEM-1024":
        public = mlkem.MLKEM1024PublicKey.from_public_bytes(own.public_key)
        sealer = HpkeSuite(KEM.MLKEM1024, KDF.HKDF_SHA512, AEAD.AES_256_GCM)
    else:
        public = MLKEM768X25519PublicKey(
            mlkem.MLKEM768PublicKey.from_public_bytes(own.public_key[:1184]),
            x25519.X25519PublicKey.from_public_bytes(own.public_key[1184:]),
        )
        sealer = HpkeSuite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
    # It takes no aad: https://cryptography.io/en/stable/hazmat/primitives/hpke/.
    sealed = sealer.encrypt(b"a secret", public, info=b"info")
    enc, ciphertext = sealed[: suite.enc_bytes], sealed[suite.enc_bytes :]
    seed = own.private_key
    assert open_base(suite, seed, enc, ciphertext, info=b"info", aad=b"") == b"a secret"
    for info, aad in ((b"other", b""), (b"info", b"other")):
        with pytest.raises(OpenFailedError):
            open_base(suite, seed, enc, ciphertext, info=info, aad=aad)


def test_refuses_an_encapsulated_point_of_small_order() -> None:
    own = new_recipient()
    enc = bytes(1120)
    with pytest.raises(OpenFailedError):
        open_base(MLKEM768_X25519, own.private_key, enc, bytes(20), info=b"", aad=b"")


@pytest.mark.parametrize("name", NAMES)
def test_reads_the_files_that_it_writes(name: SealSuite) -> None:
    own = new_recipient(name)
    assert type(own.recipient) is Recipient
    assert parse_recipient(format_recipient(own)) == own.recipient
    assert parse_recipient_key(format_recipient_key(own)) == own
    assert json.loads(format_recipient(own)).keys() == {"type", "suite", "public_key"}
    assert "private_key" not in repr(own)
    assert new_recipient(name).public_key != own.public_key
    assert public_key_of(SUITES[name], own.private_key) == own.public_key


def test_refuses_files_of_another_form_without_quoting_them() -> None:
    own = new_recipient()
    text = format_recipient_key(own)
    members = json.loads(text)
    secret = members["private_key"]
    for wrong, message in [
        (text[:-3], "the recipient key: expected a JSON object, got other text"),
        (format_recipient(own), 'type: expected "phm-recipient-key/v1", got "phm-recipient/v1"'),
        (
            json.dumps({**members, "suite": "ML-KEM-1024"}),
            "public_key: A public key of ML-KEM-1024 has 1568 bytes, and this one has 1216.",
        ),
        (
            json.dumps({**members, "private_key": "A" * 44}),
            "private_key: expected 32 bytes for MLKEM768-X25519, got 33",
        ),
        (
            json.dumps({**members, "private_key": secret + "="}),
            "private_key: expected base64url without padding (RFC 4648 §5) of 1 to 2048 bytes, "
            "got 44 characters",
        ),
        (
            json.dumps({**members, "public_key": "A" * 1621}),
            "public_key: expected base64url without padding (RFC 4648 §5) of 1 to 2048 bytes, "
            "got 1621 characters",
        ),
        (json.dumps({**members, "more": 1}), 'the recipient key has an unknown member "more"'),
    ]:
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            parse_recipient_key(wrong)
        assert str(caught.value) == message
        assert caught.value.__context__ is None
        assert secret not in str(caught.value)
    with pytest.raises(TypeError, match="^text must be a string, got int$"):
        parse_recipient(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='^suite must be "MLKEM768-X25519" or "ML-KEM-1024"'):
        new_recipient("X25519")  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["missing", "old"])
def test_says_what_to_install(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    """As without the package, and as with the wheels of version 47, whose backend has no ML-KEM."""
    if missing == "missing":
        module = "cryptography.hazmat.primitives.asymmetric.mlkem"
        monkeypatch.setitem(sys.modules, module, None)
    else:
        from cryptography.exceptions import UnsupportedAlgorithm

        class Unsupported:
            @staticmethod
            def from_seed_bytes(_seed: bytes) -> None:
                raise UnsupportedAlgorithm("ML-KEM is not supported by this backend.")

        monkeypatch.setattr(mlkem, "MLKEM768PrivateKey", Unsupported)
        monkeypatch.setattr(mlkem, "MLKEM1024PrivateKey", Unsupported)
    for name in NAMES:
        with pytest.raises(SealingUnavailableError) as caught:
            new_recipient(name)
        assert str(caught.value) == (
            'Sealed keys need version 48 or newer of the package "cryptography", with ML-KEM: '
            "pip install --upgrade cryptography."
        )


def outcome_of(case: Any, now: datetime) -> dict[str, Any]:
    given = {"now": now, **{name: case[name] for name in ("receipt", "policy") if name in case}}
    if "expectRecipients" in case:
        given["expect_recipients"] = case["expectRecipients"]
    try:
        opened = open_sealed_key(case["sealed"], case["recipientKey"], **given)
    except SealedKeyError as error:
        return {"problem": str(error), "valid": error.verdict and error.verdict.valid}
    assert opened.key.hex() not in repr(opened)
    assert opened.opening not in repr(opened)
    return {
        "key": opened.key.hex(),
        "opening": opened.opening,
        "hashProof": opened.hash_proof,
        "keyId": opened.key_id,
        "recipients": list(opened.recipients),
        "valid": opened.verdict and opened.verdict.valid,
    }


def test_gives_the_outcomes_of_the_other_client() -> None:
    """Cases with the outcomes of the TypeScript client, in a file that the environment names."""
    file = os.environ.get("PHM_SEALED_CASES")
    if file is None:
        pytest.skip("PHM_SEALED_CASES names no file")
    given = json.loads(Path(file).read_text())
    now = datetime.fromtimestamp(given["now"], timezone.utc)
    assert len(given["cases"]) > 50
    for case in given["cases"]:
        assert outcome_of(case, now) == case["outcome"], case["name"]
    # The other direction: the TypeScript client opens what is sealed to this one.
    Path(file).with_name("recipient-keys.json").write_text(
        json.dumps([format_recipient_key(new_recipient(name)) for name in NAMES])
    )


def test_refuses_arguments_of_a_wrong_type() -> None:
    own = new_recipient()
    with pytest.raises(TypeError, match="^recipient_key must be a RecipientKey or the text of its"):
        open_sealed_key({}, 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^a policy was given without a receipt: "):
        open_sealed_key({}, own, policy="")
    with pytest.raises(SealedKeyError, match="^This is not a sealed key: .*, got null[.]$"):
        open_sealed_key(None, own)  # type: ignore[arg-type]
    with pytest.raises(SealedKeyError, match="^This is not the key of a recipient: "):
        open_sealed_key({}, "{}")


def check_sealed(opened: OpenedKey, own: RecipientKey, key_id: str) -> None:
    assert opened.key_id == key_id
    assert len(opened.key) * 8 == opened.security_level == 256
    assert opened.verdict is not None
    statement = opened.verdict.statement
    thumbprint = hashlib.sha256(own.public_key).digest()
    assert isinstance(statement, KeyStatement)
    assert statement.sealed_to == base64.b64encode(thumbprint).decode()
    assert opened.recipients == (statement.sealed_to,)


@pytest.mark.parametrize("name", NAMES)
def test_opens_keys_of_a_service(phm: PhmClient, service: str, name: SealSuite) -> None:
    policy = httpx.get(f"{service}/log/policy").text
    own = new_recipient(name)
    sealed = phm.generate_sealed(256, seal_to=own.recipient, include="receipt")
    receipt = sealed.receipt or phm.receipt(sealed.key_id).receipt
    opened = open_sealed_key(sealed, own, receipt=receipt, policy=policy)
    check_sealed(opened, own, sealed.key_id)
    assert key_bytes(opened) == opened.key
    text = sealed_key_json(sealed)
    for written in (text, text.encode(), f"\ufeff{text}", sealed_key_json(sealed.sealed_key)):
        assert open_sealed_key(written, own, receipt=receipt, policy=policy).key == opened.key
    if sealed.receipt:
        assert open_sealed_key(text, own, policy=policy.encode()).verdict
    assert phm.validate(opened.key.hex(), hash_proof=opened.hash_proof).valid
    keys = list(phm.generate_sealed_batch(256, count=5, chunk=2, seal_to=own.recipient))
    assert len({open_sealed_key(one, own).key for one in keys}) == 5
    with pytest.raises(SealedKeyError, match="^The receipt is of another key: its key_id is phm_"):
        open_sealed_key(keys[0], own, receipt=receipt, policy=policy)


@pytest.mark.parametrize("way", ["bom", "crlf", "bytes"])
def test_reads_the_files_of_recipients_however_they_were_saved(way: str) -> None:
    own = new_recipient()

    def saved(text: str) -> str | bytes:
        text = text.replace("\n", "\r\n") if way == "crlf" else f"\ufeff{text}"
        return text.encode() if way == "bytes" else text

    assert parse_recipient(saved(format_recipient(own))) == own.recipient
    assert parse_recipient_key(saved(format_recipient_key(own))) == own
    for parse in (parse_recipient, parse_recipient_key):
        with pytest.raises(ValueError, match="it is not UTF-8 text, perhaps UTF-16") as caught:
            parse(format_recipient_key(own).encode("utf-16"))
        assert caught.value.__context__ is None or "private_key" not in str(caught.value)


def test_writes_only_sealed_keys_as_json() -> None:
    with pytest.raises(TypeError, match="^sealed must be a GeneratedSealedKey or its SealedKey"):
        sealed_key_json("{}")  # type: ignore[arg-type]

"""Seals a key to a recipient: HPKE (RFC 9180) in base mode, one message."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from ..receipt.canonical import canonical_json
from ..types import SealedKey
from .base64url import encode_base64url
from .hpke import seal_base
from .plaintext import SealedContent
from .public_key import public_key_problem
from .recipient import Recipient
from .sealed_key import SEALED_KEY
from .suites import suite_of

_INFO_LABEL = b"phm/seal/v1\0"

# What a header states of the key, whoever its recipient is.
_FACTS = ("service", "key_id", "security_level", "time", "key_commitment")


def seal_again(header: Mapping[str, Any], content: SealedContent, to: Recipient) -> SealedKey:
    """Seal an opened key to another recipient. What its header states of the key stays.

    Raises ValueError for a wrong public key, and SealingUnavailableError.
    """
    suite = suite_of(to.suite)
    problem = public_key_problem(suite, to.public_key)
    if problem is not None:
        raise ValueError(problem)
    ids = {"kem_id": suite.kem_id, "kdf_id": suite.kdf_id, "aead_id": suite.aead_id}
    thumbprint = base64.b64encode(hashlib.sha256(to.public_key).digest()).decode()
    facts = {name: header[name] for name in _FACTS}
    aad = canonical_json({"type": SEALED_KEY, **facts, **ids, "thumbprint": thumbprint}).encode()
    plaintext = canonical_json(
        {"hash_proof": content.hash_proof, "key": content.key.hex(), "opening": content.opening}
    ).encode()
    info = _INFO_LABEL + hashlib.sha256(aad).digest()
    enc, ciphertext = seal_base(suite, to.public_key, plaintext, info=info, aad=aad)
    return SealedKey(
        suite=suite.name,
        **ids,
        enc=encode_base64url(enc),
        ciphertext=encode_base64url(ciphertext),
        header=encode_base64url(aad),
    )

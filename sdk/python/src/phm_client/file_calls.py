"""The calls that encrypt files, each under a new key of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from .batches import BatchCalls
from .files.chunks import ByteSource, chunks_of
from .files.container import header_of
from .files.files import FOR_ALL, SUFFIX, PathLike, WrittenFile, write_file
from .files.recipients import read_to
from .files.streams import FileStream, encrypted
from .options import check_bool
from .sealing.opening import open_sealed_key
from .sealing.plaintext import SealedContent
from .sealing.recipient import Recipient, RecipientKey, new_recipient
from .sealing.sealed_key import read_sealed_key
from .sealing.sealer import seal_again
from .types import EntropySource, ModulationType, ReceiptResult


class FileCalls(BatchCalls):
    """The methods of ``PhmClient`` that encrypt files."""

    def encrypt_file(
        self,
        path: PathLike,
        *,
        to: Recipient | str | bytes,
        out: PathLike | None = None,
        overwrite: bool = False,
        policy: str | bytes | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> WrittenFile:
        """Encrypt a file under a new key of its own, which is sealed to ``to`` and stored in it.

        ``decrypt_file`` opens it without the service. The file does not leave this machine. Raises
        EncryptedFileError, SealingUnavailableError, SealedKeyError or OSError, and then leaves no
        output.

        Args:
            path: The file.
            to: Who can decrypt: a recipient, with its private key or without, or the text of one
                of its files.
            out: The output. By default the path with ``.phm`` added.
            overwrite: Replaces an output that is there.
            policy: A pinned policy, as for ``verify_receipt``. The key is then used only if its
                receipt shows that the service of this policy generated it, and sealed it to this
                client.
            modulation_type: As for ``generate_sealed``.
            entropy_source: As for ``generate_sealed``.
            labels: As for ``generate``.
            expires_at: As for ``generate``.
            idempotency_key: As for ``generate_sealed``, but no text: two files with one would have
                the same key.
            request_id: See the class.
            timeout: Seconds for the call that generates the key.
        """
        file = Path(path)

        def encrypt(source: ByteSource) -> FileStream:
            return self.encrypt_stream(
                source,
                to=to,
                policy=policy,
                modulation_type=modulation_type,
                entropy_source=entropy_source,
                labels=labels,
                expires_at=expires_at,
                idempotency_key=idempotency_key,
                request_id=request_id,
                timeout=timeout,
            )

        return write_file(
            file,
            file.with_name(file.name + SUFFIX) if out is None else Path(out),
            encrypt,
            overwrite=overwrite,
            mode=FOR_ALL,
        )

    def encrypt_stream(
        self,
        source: ByteSource,
        *,
        to: Recipient | str | bytes,
        policy: str | bytes | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> FileStream:
        """Encrypt a file object or an iterable of bytes, as ``encrypt_file`` does.

        Returns an iterator of chunks. ``decrypt_stream`` opens it.
        """
        # Without the private key of `to` the key is first sealed to a recipient of this call, and
        # then here to `to`: it is in no answer of the service.
        check_bool("idempotency_key", idempotency_key)
        chunks = chunks_of(source)
        recipient = read_to(to)
        own = recipient if isinstance(recipient, RecipientKey) else new_recipient(recipient.suite)
        sealed = self.generate_sealed(
            256,
            seal_to=own.recipient,
            include=None if policy is None else "receipt",
            modulation_type=modulation_type,
            entropy_source=entropy_source,
            labels=labels,
            expires_at=expires_at,
            idempotency_key=idempotency_key,
            request_id=request_id,
            timeout=timeout,
        )
        receipt = None
        if policy is not None:
            receipt = sealed.receipt
            if receipt is None:
                late = self.receipt(sealed.key_id, request_id=request_id, timeout=timeout)
                receipt = late.receipt
        opened = open_sealed_key(sealed, own, receipt=receipt, policy=policy)
        sealed_key = sealed.sealed_key
        stated = read_sealed_key(asdict(sealed_key)).header
        if own is not recipient:
            content = SealedContent(opened.hash_proof, opened.key, opened.opening)
            sealed_key = seal_again(stated, content, recipient)
            stated = read_sealed_key(asdict(sealed_key)).header
        header = header_of(stated)
        return FileStream(header, encrypted(chunks, sealed_key, header.key_id, opened.key))

    @abstractmethod
    def receipt(
        self, key_id: str, *, request_id: str | None = None, timeout: float | None = None
    ) -> ReceiptResult:
        """Return the receipt for a key of the account."""

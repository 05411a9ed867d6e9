"""Secret keys in files that only their owner can read, and names made with them.

A plain hash of a patient's id can be undone by whoever hashes every id there may be; one made with
a key can't, by anyone without the key.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ehrkg.foundation.errors import InputError, UsageError
from ehrkg.foundation.hashing import short_id

_BYTES = 32
_DIGEST = 10
"""Bytes of a name: among a million ids two meet with a chance of one in two million million."""

_FOR_OTHERS = 0o077
SUFFIX = ".key"


class SecretKey:
    """A key. It is not printed, nor does anything but its file hold it.

    Args:
        secret: 32 random bytes.

    Attributes:
        fingerprint: tells one key from another, and does not give it away.

    >>> key = SecretKey(bytes(32))
    >>> key, key.name("p", "10000032")
    (SecretKey(fingerprint='34529f9c22f75010'), 'p6d3403ad76d4f8c84048')
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.fingerprint = self._digest("fingerprint", "", 8)

    def __repr__(self) -> str:
        return f"SecretKey(fingerprint={self.fingerprint!r})"

    def name(self, prefix: str, text: str) -> str:
        """A name for a text: the prefix and 20 hexadecimal digits (keyed BLAKE2b, RFC 7693).

        The same text under another prefix has another name.
        """
        return prefix + self._digest(prefix, text, _DIGEST)

    def _digest(self, kind: str, text: str, size: int) -> str:
        data = f"{kind}\x1f{text}".encode()
        return hashlib.blake2b(data, key=self._secret, digest_size=size).hexdigest()


def key_folder() -> Path:
    """Where keys lie by default: ``ehrkg/keys`` in the user's folder for settings."""
    from platformdirs import user_config_path

    return user_config_path("ehrkg") / "keys"


def default_key_file(source: str | Path) -> Path:
    """The default place of the key for a data set, which is known by where its tables lie."""
    folder = Path(source).expanduser().resolve()
    return key_folder() / f"{folder.name}-{short_id('k', folder.as_posix())}{SUFFIX}"


def key_with(fingerprint: str) -> SecretKey | None:
    """The key with a fingerprint, if it lies in the default place."""
    return next((key for key in _default_keys() if key.fingerprint == fingerprint), None)


def _default_keys() -> Iterator[SecretKey]:
    folder = key_folder()
    for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else ():
        yield read_key(path)


def read_key(path: Path) -> SecretKey:
    """Read a key's file.

    Raises:
        InputError: it is not there, holds no key, or others can read it.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="ascii").strip()
        secret = bytes.fromhex(text)
    except OSError as error:
        raise InputError(
            f"the key can't be read: {error.strerror}", file=path, todo="name another --key-file"
        ) from error
    except ValueError:
        secret = b""
    if os.name == "posix" and mode & _FOR_OTHERS:
        raise InputError(
            "others than its owner can read this key",
            file=path,
            found=f"mode {mode & 0o777:03o}",
            expected="mode 600",
            todo=f"chmod 600 {path}; whoever read it can undo the pseudonyms made with it",
        )
    if len(secret) != _BYTES:
        raise InputError(
            "this file holds no key of ehrkg",
            file=path,
            expected=f"{2 * _BYTES} hexadecimal digits",
            todo="name another file; a file that is not there is made",
        )
    return SecretKey(secret)


def read_or_make_key(path: Path) -> SecretKey:
    """Read a key's file; one that is not there is made, for its owner alone.

    Raises:
        InputError: it can't be made, holds no key, or others can read it.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "hospital.key"
    >>> read_or_make_key(file).fingerprint == read_or_make_key(file).fingerprint
    True
    """
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make(path)
        except OSError as error:
            raise InputError(
                f"the key can't be written: {error.strerror}",
                file=path,
                todo="name another --key-file",
            ) from error
    return read_key(path)


def _make(path: Path) -> None:
    """Make a key's file; of two that do so at once the first one's key stays."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_BYTES) + "\n")
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        part.unlink()


def key_for(source: str | Path, out: Path, key_file: Path | None = None) -> SecretKey:
    """The key for a build, made if it is not there.

    Args:
        source: the data set; its default place is named after it.
        out: the build's folder, which others may be given: the key can't lie in it.
        key_file: where the key lies, if not in the default place.

    Raises:
        UsageError: it would lie in the build's folder.
        InputError: see ``read_or_make_key``.
    """
    path = key_file or default_key_file(source)
    if path.expanduser().resolve().is_relative_to(out.expanduser().resolve()):
        raise UsageError(
            "the key would lie in the build's folder", todo="name a --key-file outside of --out"
        )
    return read_or_make_key(path)

"""The bytes of a text file: on disk, perhaps compressed, or from a pipe; in any encoding."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from typing import Any

import pyarrow as pa

from smoothboost import _validate
from smoothboost.table.streams import expecting

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""How Arrow calls what endings of names say."""
_FIRST_BYTES = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
LONGEST_ROW = 1 << 24
"""How many bytes of a text a row may take; a text with a longer one can be refused."""
_HEAD = 1 << 20  # bytes that are looked at for names, and as many more as the first line takes
_PIECE = 1 << 16  # bytes that are recoded at once
UTF_8 = "utf-8"


@dataclass(frozen=True)
class TextBytes:
    """The bytes of a text, which can be looked at before they are read.

    Parameters
    ----------
    name : str
        What messages call it.
    head : bytes
        How it begins: with a whole line, unless that is longer than any may be.
    is_whole : bool
        Whether the head is all there is.
    open : callable
        Opens a stream of all bytes.
    encoding : str
        What they are.
    """

    name: str
    head: bytes
    is_whole: bool
    open: Callable[[], Any]
    encoding: str

    def head_text(self) -> str:
        """Return how the text begins, with U+FFFD where bytes are not of the encoding."""
        try:
            return _decoded(self.head, self.encoding, self.is_whole).removeprefix("\ufeff")
        except UnicodeError:  # UTF-16 without its mark, and odder encodings
            raise ValueError(
                f"Expected {self.name} to be {self.encoding.upper()}; it is not."
            ) from None

    def utf_8(self) -> Any:
        """Open a stream of all bytes in UTF-8; only what was said to be UTF-8 may not be."""
        stream = self.open()
        return stream if self.encoding == UTF_8 else _Recoded(stream, self.encoding)


def file_bytes(path: Path, encoding: str | None) -> TextBytes:
    """Return the bytes of a file, whose name says whether it is compressed."""
    compression = COMPRESSIONS.get(path.suffix.lower())

    def opened() -> Any:
        return pa.input_stream(str(path), compression=compression)

    packed = "" if compression is None else f", and compressed by {compression}"
    with expecting(f"{path} to be whole{packed}"), opened() as stream:
        head, is_whole = _head(stream, encoding)
    return TextBytes(str(path), head, is_whole, opened, _encoding_of(head, encoding))


def pipe_bytes(pipe: Any, name: str, encoding: str | None, closes: bool = False) -> TextBytes:
    """Return the bytes of a pipe, whose first ones say whether it is compressed.

    Where `closes` is true, the pipe is closed when they have been read, or nobody will read them.
    """
    first = read_up_to(pipe, max(map(len, _FIRST_BYTES)))
    stream: Any = _Joined(first, pipe, closes)
    for begin, compression in _FIRST_BYTES.items():
        if first.startswith(begin):
            stream = pa.CompressedInputStream(pa.PythonFile(stream, "r"), compression)
    with expecting(f"{name} to be whole"):
        head, is_whole = _head(stream, encoding)
    whole = [_Joined(head, stream, closes)]

    def opened() -> Any:
        if not whole:
            raise ValueError(f"Expected to read {name} once, as it can only be.")
        return whole.pop()

    return TextBytes(name, head, is_whole, opened, _encoding_of(head, encoding))


_WITH_STATES = ("hz", "idna", "iso2022", "punycode", "raw-unicode", "unicode-escape", "utf-7")
"""How the names of encodings begin in which what was read before decides what bytes mean."""


def checked_encoding(name: Any) -> str:
    """Return an encoding's name, if Python knows such an encoding of text.

    Examples
    --------
    >>> checked_encoding("Latin-1"), checked_encoding("utf-8-sig")
    ('iso8859-1', 'utf-8')
    """
    try:
        "".encode(name)
        known = codecs.lookup(name).name
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            "Expected encoding to be one that Python knows, such as utf-8, latin-1, cp1252 or "
            f"utf-16, got {_validate.shown(name)}."
        ) from None
    if known.startswith(_WITH_STATES):
        raise ValueError(
            "Expected an encoding in which bytes mean the same in every cell, such as utf-8, got "
            f"{known}, in which one cell can decide how all later ones are read; convert the file "
            "to UTF-8 first."
        )
    return UTF_8 if known == "utf-8-sig" else known  # a mark at the start is always taken away


def _encoding_of(head: bytes, declared: str | None) -> str:
    """Return the encoding: the one that is named, or that of a mark at the start, or UTF-8."""
    if declared is not None:
        return checked_encoding(declared)
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else UTF_8


def _head(stream: Any, declared: str | None) -> tuple[bytes, bool]:
    """Return how a text begins, at least its first line, and whether that is all of it."""
    head = read_up_to(stream, _HEAD)
    encoding = _encoding_of(head, declared)
    is_whole = len(head) < _HEAD
    while not is_whole and len(head) <= LONGEST_ROW:
        if "\n" in _decoded(head, encoding, is_whole):
            break
        more = read_up_to(stream, _HEAD)
        head += more
        is_whole = len(more) < _HEAD
    return head, is_whole


def _decoded(head: bytes, encoding: str, is_whole: bool) -> str:
    return codecs.getincrementaldecoder(encoding)("replace").decode(head, is_whole)


def read_up_to(stream: Any, size: int) -> bytes:
    """Read so many bytes, or all there are: a pipe may give fewer at once."""
    pieces, missing = [], size
    while missing and (piece := stream.read(missing)):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


class _Joined(RawIOBase):
    """Some bytes, and then those of a stream."""

    def __init__(self, first: bytes, rest: Any, closes: bool) -> None:
        self._first = first
        self._rest = rest
        self._closes = closes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        piece, self._first = self._first[:size], self._first[size:]
        piece = piece or self._rest.read(size)
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if self._closes:
            self._rest.close()
        super().close()


class _Recoded(RawIOBase):
    """A stream of bytes as UTF-8."""

    def __init__(self, stream: Any, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            piece = self._stream.read(_PIECE)
            self._ended = not piece
            try:
                text = self._decoder.decode(piece, self._ended)
            except UnicodeError:
                raise pa.ArrowInvalid(
                    "not of its encoding"
                ) from None  # as Arrow would say of UTF-8
            self._ready = text.encode(UTF_8, "replace")  # half a pair of UTF-16 is no letter
        piece, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._stream.close()
        super().close()

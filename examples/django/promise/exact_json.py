"""JSON without loss: numbers keep their text, names are given once, text can be stored. And one text for all the ways
to write the same value, of which an operation's fingerprint is made."""

import hashlib
import json

from .problems import invalid

MAX_DEPTH = 64


class Number(str):
    """A number as it was written: 1 and 1.0 are two values."""


class Twice(dict):
    """An object in which a member is given twice: readers would disagree about its value."""


def parse(body: bytes):
    try:
        return json.loads(
            body.decode(), parse_int=Number, parse_float=Number, parse_constant=refuse, object_pairs_hook=members
        )
    except (ValueError, RecursionError):
        raise invalid("The body is not JSON, or is nested too deep.") from None


def write(value, depth=0) -> str:
    """The canonical text of a value: members sorted, strings written in one way."""
    if depth > MAX_DEPTH:
        raise invalid(f"The body is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, Twice):
        raise invalid("A member is given twice.")
    if isinstance(value, dict):
        return "{" + ",".join(f"{text(k)}:{write(v, depth + 1)}" for k, v in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(write(v, depth + 1) for v in value) + "]"
    if isinstance(value, str):
        return text(value)
    return json.dumps(value)


def text(value: str) -> str:
    if "\0" in value:
        raise invalid("Text must not contain the character U+0000.")
    if any("\ud800" <= c <= "\udfff" for c in value):
        raise invalid("Text must be valid Unicode: it has half of a surrogate pair.")
    return json.dumps(value, ensure_ascii=False)


def fingerprint(value) -> str:
    """What makes a request the same again. It is kept for ever, so the way it is made has a number: a new way gets the
    next one, and what is kept is compared in its own way."""
    return "1:" + hashlib.sha256(write(value).encode()).hexdigest()


def members(pairs):
    result = dict(pairs)
    return result if len(result) == len(pairs) else Twice(result)


def refuse(constant):
    raise ValueError(constant)

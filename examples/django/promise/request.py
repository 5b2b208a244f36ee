"""What a request brings, within bounds."""

import re

from django.conf import settings
from django.core.exceptions import RequestDataTooBig

from .problems import Problem, invalid


def limits():
    return {"maxItems": settings.MAX_ITEMS, "maxBytes": settings.MAX_BYTES}


def body_of(request) -> bytes:
    if request.content_type.split(";")[0].strip().lower() != "application/json":
        raise Problem(415, "invalid_request", "The body must be application/json. Nothing was stored.")
    try:
        return request.body
    except RequestDataTooBig:
        raise too_large(f"The request has more than {settings.MAX_BYTES} bytes") from None


def too_large(detail):
    return Problem(413, "too_large", f"{detail}. Nothing was stored; send less at once.", limits=limits())


def page(request):
    """The cursor and the length of a listing's page."""
    after = whole(request.GET.get("after") or "0")
    limit = whole(request.GET.get("limit") or "100")
    if after is None or limit is None or not 1 <= limit <= 1000:
        raise invalid("The cursor or the limit is none of this server's.")
    return after, limit


def whole(text):
    """The number that a text is, if it is written as this server writes its own."""
    number = int(text) if re.fullmatch("0|[1-9][0-9]{0,18}", text) else None
    return None if number is None or number >= 1 << 63 else number

"""What a request brings, within bounds."""

from django.conf import settings

from .problems import Problem, invalid


def limits():
    return {"maxItems": settings.MAX_ITEMS, "maxBytes": settings.MAX_BYTES}


def body_of(request) -> bytes:
    if request.content_type.split(";")[0].strip().lower() != "application/json":
        raise Problem(415, "invalid_request", "The body must be application/json. Nothing was stored.")
    if len(request._request.body) > settings.MAX_BYTES:
        raise too_large(f"The request has more than {settings.MAX_BYTES} bytes")
    return request._request.body


def too_large(detail):
    return Problem(413, "too_large", f"{detail}. Nothing was stored; send less at once.", limits=limits())


def page(request):
    """The cursor and the length of a listing's page."""
    after, limit = request.GET.get("after") or "0", request.GET.get("limit") or "100"
    if not after.isdecimal() or not limit.isdecimal() or not 1 <= int(limit) <= 1000 or int(after) >= 1 << 63:
        raise invalid("The cursor or the limit is none of this server's.")
    return int(after), int(limit)

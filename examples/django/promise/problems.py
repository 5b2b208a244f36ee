"""Refusals: application/problem+json (RFC 9457) with a stable `code`."""

import logging

from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from rest_framework import exceptions


log = logging.getLogger(__name__)


class Problem(Exception):
    """A refusal. Nothing was done, or it was rolled back."""

    def __init__(self, status, code, detail, retry_after=None, **members):
        self.status, self.retry_after = status, retry_after
        self.body = {"status": status, "code": code, "detail": detail, **members}

    def response(self):
        from .exact_json import write  # which raises problems itself

        response = HttpResponse(write(self.body), status=self.status, content_type="application/problem+json")
        if self.retry_after is not None:
            response["Retry-After"] = str(self.retry_after)
        if self.status == 401:
            response["WWW-Authenticate"] = "Bearer"
        return response


def invalid(detail, field=None):
    return Problem(400, "invalid_item", f"{detail} Nothing was stored.", **({"field": field} if field else {}))


def exception_handler(error, context):
    """What Django REST framework raises, and what we do. None: a fault of ours, logged, and answered with 500."""
    if isinstance(error, Problem):
        return error.response()
    if isinstance(error, (exceptions.NotAuthenticated, exceptions.AuthenticationFailed)):
        return Problem(401, "not_authenticated", "This needs a valid bearer token. Nothing was changed.").response()
    if isinstance(error, exceptions.APIException):
        return Problem(error.status_code, "invalid_request", str(error.detail)).response()
    if isinstance(error, (OperationalError, InterfaceError)):
        log.exception("the database")
        # What became of a commit whose answer was lost nobody knows; the same key finds out.
        return Problem(503, "busy", "The database cannot be asked now. Send the same request again.", 2).response()
    return None


def not_found(request, exception):
    return Problem(404, "not_found", "There is nothing at this address.").response()


def server_error(request):
    return Problem(500, "internal", "Something failed. The same request can be sent again.").response()

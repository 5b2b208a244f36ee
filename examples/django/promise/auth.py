"""Bearer tokens, stored hashed, each of one account."""

import hashlib
import secrets

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed

from .models import Account, Token


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request):
        scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return None
        found = Token.objects.select_related("account").filter(digest=digest(token.strip())).first()
        if found is None:
            raise AuthenticationFailed
        return found.account, token

    def authenticate_header(self, request):
        # Without this, Django REST framework answers 403 to a dead session, and no client can tell it from a refusal.
        return "Bearer"


def add_token(owner: str) -> str:
    """One more token of an owner, told this once."""
    token = "warifu_" + secrets.token_hex(32)
    account, _ = Account.objects.get_or_create(name=owner)
    Token.objects.create(digest=digest(token), account=account)
    return token


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()

"""Signed cookies and the tokens that guard against requests from other sites."""

import hashlib
import hmac

from itsdangerous import BadSignature, Signer
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response

COOKIE = "imarena_session"


class Keys:
    """What is derived from the server's secret key."""

    def __init__(self, secret_key: str) -> None:
        self._signer = Signer(secret_key, salt="imarena.session", digest_method=hashlib.sha256)
        self._csrf = hashlib.sha256(f"imarena.csrf:{secret_key}".encode()).digest()

    def seal(self, secret: str) -> str:
        """A cookie's value."""
        return self._signer.sign(secret).decode()

    def unseal(self, value: str) -> str | None:
        """The session's secret in a cookie, or None where we did not sign it."""
        try:
            return self._signer.unsign(value.encode("utf-8", "surrogatepass")).decode()
        except (BadSignature, UnicodeDecodeError):
            return None

    def csrf(self, session: str) -> str:
        """The token that requests of this session must carry."""
        return hmac.digest(self._csrf, session.encode(), "sha256").hex() if session else ""

    def csrf_fits(self, session: str, token: str) -> bool:
        """Is this the session's token?"""
        return bool(session) and hmac.compare_digest(self.csrf(session).encode(), token.encode("utf-8", "replace"))


def presented_secret(headers: Headers, keys: Keys) -> tuple[str, bool] | None:
    """The secret that a request shows, and whether it is a machine's; None where it shows none that we signed."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and secret:
        return secret.strip(), True
    sealed = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    opened = keys.unseal(sealed) if sealed else None
    return (opened, False) if opened else None


def set_cookie(response: Response, value: str, *, secure: bool, days: float, root: str) -> None:
    """Sign a browser in below a path: not readable by scripts, never sent along by other sites."""
    response.set_cookie(
        COOKIE, value, max_age=int(days * 86_400), path=root or "/", httponly=True, samesite="strict", secure=secure
    )


def drop_cookie(response: Response, *, root: str) -> None:
    """Sign a browser out."""
    response.delete_cookie(COOKIE, path=root or "/", httponly=True, samesite="strict")

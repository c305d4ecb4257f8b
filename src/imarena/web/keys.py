"""Signed cookies and CSRF tokens."""

import hashlib
import hmac

from itsdangerous import BadSignature, Signer
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import Response

COOKIE = "imarena_session"
"""The cookie of earlier versions: one for all roles and ports of a host. It is still read."""
ROLES = ("admin", "lead", "viewer", "rater")
"""Order in which sessions are looked for; the rating routes look for a rater's session first."""


def cookie_name(role: str, port: int | None) -> str:
    """The cookie of a role. Browsers share cookies among all ports of a host, so the port is part of the name."""
    return f"imarena_{role}_{port or 0}"


def port_of(host: str) -> int | None:
    """The port in a Host header; None if there is none, which means the default port of the scheme."""
    _, _, port = host.rpartition("]")[2].rpartition(":")
    return int(port) if port.isdecimal() and port.isascii() and len(port) <= 5 else None


class Keys:
    """Cookie signatures and CSRF tokens, derived from the server's secret key."""

    def __init__(self, secret_key: str) -> None:
        self._signer = Signer(secret_key, salt="imarena.session", digest_method=hashlib.sha256)
        self._csrf = hashlib.sha256(f"imarena.csrf:{secret_key}".encode()).digest()

    def seal(self, secret: str) -> str:
        """The signed cookie value for a session's secret."""
        return self._signer.sign(secret).decode()

    def unseal(self, value: str) -> str | None:
        """The session's secret in a cookie, or None if the signature is not ours."""
        try:
            return self._signer.unsign(value.encode("utf-8", "surrogatepass")).decode()
        except (BadSignature, UnicodeDecodeError):
            return None

    def csrf(self, session: str) -> str:
        """The CSRF token that requests of this session must carry."""
        return hmac.digest(self._csrf, session.encode(), "sha256").hex() if session else ""

    def csrf_fits(self, session: str, token: str) -> bool:
        """Is this the session's CSRF token?"""
        return bool(session) and hmac.compare_digest(self.csrf(session).encode(), token.encode("utf-8", "replace"))


def bearer_secret(headers: Headers) -> str | None:
    """The secret of a machine's token in a request."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() or None if scheme.lower() == "bearer" else None


def presented_sessions(headers: Headers, keys: Keys) -> list[tuple[str, str]]:
    """Roles and secrets of the sessions in a browser's cookies with a valid signature, in the order of `ROLES`."""
    cookie = headers.get("cookie")
    if not cookie:
        return []
    cookies, port = cookie_parser(cookie), port_of(headers.get("host", ""))
    cookie_names = [(role, cookie_name(role, port)) for role in ROLES]
    opened = [(role, keys.unseal(cookies[name])) for role, name in (*cookie_names, ("", COOKIE)) if cookies.get(name)]
    return [(role, secret) for role, secret in opened if secret]


def presented_secrets(headers: Headers, keys: Keys) -> list[tuple[str, bool]]:
    """All secrets in a request; the flag is true for a machine's token."""
    token = bearer_secret(headers)
    return [(token, True)] if token else [(secret, False) for _, secret in presented_sessions(headers, keys)]


def set_cookie(response: Response, name: str, value: str, *, secure: bool, days: float, root: str) -> None:
    """Set a session cookie for a path: not readable by scripts, never sent by other sites."""
    response.set_cookie(
        name, value, max_age=int(days * 86_400), path=root or "/", httponly=True, samesite="strict", secure=secure
    )


def drop_cookies(response: Response, role: str, port: int | None, *, root: str) -> None:
    """Delete the cookies of a role."""
    for name in (cookie_name(role, port), COOKIE):
        response.delete_cookie(name, path=root or "/", httponly=True, samesite="strict")

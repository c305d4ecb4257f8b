"""How a request is refused: one shape for all, and no word about the inside of the server."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from imarena.core import DatabaseFailed, DiskFull, ImarenaError, StoreError, UserError
from imarena.routing import InvalidBallot
from imarena.web.wire import Problem
from imarena.workflows.rating import Refusal
from imarena.workflows.serving import HiddenRecord, RecordNotFound

log = logging.getLogger("imarena.web")
RETRY_AFTER_S = 2
"""A database that restarts is usually back within seconds."""
RETRY_FULL_S = 5
"""Somebody has to make room first."""
_STATUS = {
    "no_task": 404, "no_campaign": 404, "not_found": 404, "not_invited": 403, "not_allowed": 403, "invitation": 403,
}  # fmt: skip


class RequestRefused(ImarenaError):
    """A request that is not done, with the status and what a person is told."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.problem = Problem(code=code, message=message, hint=hint)


def problem_response(status: int, code: str, message: str, hint: str = "") -> JSONResponse:
    """The one shape of a refusal."""
    body = Problem(code=code, message=message, hint=hint).model_dump()
    return JSONResponse(body, status_code=status)


def _refused(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, RequestRefused):
        return JSONResponse(error.problem.model_dump(), status_code=error.status)
    return problem_response(500, "internal", "Something went wrong on the server.")


def _user_error(_: Request, error: Exception) -> JSONResponse:
    message = error.args[0] if error.args else "The request cannot be done."
    hint = error.hint if isinstance(error, UserError) else ""
    if isinstance(error, Refusal):
        return problem_response(_STATUS.get(error.code, 409), error.code, str(message), hint)
    for kind, status, code in (
        (InvalidBallot, 422, "ballot"),
        (HiddenRecord, 403, "in_campaign"),
        (RecordNotFound, 404, "not_found"),
    ):
        if isinstance(error, kind):
            return problem_response(status, code, str(message), hint)
    return problem_response(400, "cannot_do", str(message), hint)


def database_unavailable() -> JSONResponse:
    """The database cannot be asked now. Nothing is known to be stored: the same request may be sent again."""
    told = problem_response(
        503, "database", "The arena's database cannot be reached just now.", "Try again in a moment."
    )
    told.headers["retry-after"] = str(RETRY_AFTER_S)
    return told


def disk_full() -> JSONResponse:
    """There is no room for what was to be stored. The same request may be sent again once there is."""
    told = problem_response(
        507,
        "disk_full",
        "The arena's disk is full: nothing more can be stored just now.",
        "Nothing that was stored before is lost. Please tell the lead of the arena: room has to be made on the server.",
    )
    told.headers["retry-after"] = str(RETRY_FULL_S)
    return told


def database_error(error: Exception) -> JSONResponse:
    """What is told of a database that did not do what it was asked to."""
    return disk_full() if isinstance(error, DiskFull) else database_unavailable()


def _away(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed: %s", request.method, request.scope.get("path"), error)
    return database_error(error)


def _gone(request: Request, error: Exception) -> JSONResponse:
    """A record or picture that the store cannot give: withdrawn, or damaged."""
    log.error("%s %s failed", request.method, request.scope.get("path"), exc_info=error)
    return problem_response(404, "not_available", "This is not available.")


_SHORT = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_pattern_mismatch": "does not have the form that is expected",
    "json_invalid": "is not JSON",
}


def _told(found: Any) -> str:
    """What is wrong with one part of a request, in words; never what was sent, so that nothing hostile comes back."""
    where = ".".join(str(part) for part in found["loc"][1:4] if isinstance(part, (str, int))) or "it"
    short = _SHORT.get(found["type"])
    said = str(found["msg"]).removeprefix("Value error, ")
    rest = said[said.find(" should ") + 1 :] if " should " in said else said[:1].lower() + said[1:]
    return f"{where[:80]} {short or rest}"


def _invalid(_: Request, error: Exception) -> JSONResponse:
    """Where the request is wrong, and how it should be."""
    wrong = error.errors()[:5] if isinstance(error, RequestValidationError) else []
    places = {str(found["loc"][0]) if found["loc"] else "" for found in wrong}
    if "path" in places:
        return problem_response(404, "not_found", "There is nothing at this address.")
    hint = "Correct the address, or clear the filters." if places == {"query"} else ""
    return problem_response(
        422, "invalid", "The request is not valid: " + ("; ".join(map(_told, wrong)) or "unreadable") + ".", hint
    )


def _http(_: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    told = {404: ("not_found", "There is nothing here."), 405: ("method", "This address has no such method.")}
    code, message = told.get(status, ("refused", "The request was refused."))
    headers = error.headers if isinstance(error, HTTPException) else None
    response = problem_response(status, code, message)
    response.headers.update(headers or {})
    return response


def _internal(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.scope.get("path"), exc_info=error)
    return problem_response(500, "internal", "Something went wrong on the server; it was logged.")


def install_handlers(app: FastAPI) -> None:
    """Give an application its ways of refusing."""
    app.add_exception_handler(RequestRefused, _refused)
    app.add_exception_handler(UserError, _user_error)
    app.add_exception_handler(DatabaseFailed, _away)
    app.add_exception_handler(StoreError, _gone)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _internal)

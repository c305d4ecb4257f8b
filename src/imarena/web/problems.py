"""Error responses: one shape for all, without details about the inside of the server."""

import logging
import math
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from imarena.core import DatabaseFailed, DiskFull, StoreError, UserError
from imarena.routing import InvalidBallot
from imarena.web.wire import Problem
from imarena.workflows.rating import Refusal
from imarena.workflows.serving import HiddenRecord, RecordNotFound

log = logging.getLogger("imarena.web")
RETRY_AFTER_S = 2
"""A database that restarts is usually back within seconds."""
RETRY_FULL_S = 5
"""Somebody has to free space first."""
_STATUS = {
    "no_task": 404, "no_campaign": 404, "not_found": 404, "not_invited": 403, "not_allowed": 403, "invitation": 403,
}  # fmt: skip


class RequestRefused(UserError):
    """A request that failed, with its status and the message for the user."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code


def problem_response(
    status: int,
    code: str,
    message: str,
    hint: str = "",
    fields: Sequence[str] = (),
    wait_s: float | None = None,
    retry_after_s: float | None = None,
) -> JSONResponse:
    """Build an error response, in the one shape that all errors share.

    `wait_s`: the time after which the request may be accepted. `retry_after_s`: a time for the header alone.
    """
    first = fields[0] if fields else ""
    problem = Problem(code=code, message=message, hint=hint, field=first, fields=list(fields), wait_s=wait_s)
    later = wait_s if retry_after_s is None else retry_after_s
    headers = {} if later is None else {"retry-after": str(max(1, math.ceil(later)))}
    return JSONResponse(problem.model_dump(), status_code=status, headers=headers)


def _user_error(_: Request, error: Exception) -> JSONResponse:
    message = str(error.args[0]) if error.args else "The request cannot be done."
    hint = error.hint if isinstance(error, UserError) else ""
    if isinstance(error, RequestRefused):
        return problem_response(error.status, error.code, message, hint)
    if isinstance(error, Refusal):
        return problem_response(_STATUS.get(error.code, 409), error.code, message, hint, error.fields, error.wait_s)
    if isinstance(error, InvalidBallot):
        return problem_response(422, "ballot", message, hint, [error.field] if error.field else [])
    if isinstance(error, HiddenRecord):
        return problem_response(403, "in_campaign", message, hint)
    if isinstance(error, RecordNotFound):
        return problem_response(404, "not_found", message, hint)
    return problem_response(400, "cannot_do", message, hint)


def database_unavailable() -> JSONResponse:
    """The database is unavailable. Nothing is known to be stored; the same request may be sent again."""
    message = "The arena's database cannot be reached just now."
    return problem_response(503, "database", message, "Try again in a moment.", retry_after_s=RETRY_AFTER_S)


def database_error(error: Exception) -> JSONResponse:
    """The message for a database error. If the disk is full, the request may be sent again once there is space."""
    if not isinstance(error, DiskFull):
        return database_unavailable()
    message = "The arena's disk is full: nothing more can be stored just now."
    hint = "Nothing that was stored before is lost. Please inform the lead of the arena: the server's disk is full."
    return problem_response(507, "disk_full", message, hint, retry_after_s=RETRY_FULL_S)


def _away(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed: %s", request.method, request.scope.get("path"), error)
    return database_error(error)


def _unavailable(request: Request, error: Exception) -> JSONResponse:
    """A record or image that the store cannot return because it is withdrawn or damaged."""
    log.error("%s %s failed", request.method, request.scope.get("path"), exc_info=error)
    return problem_response(404, "not_available", "This is not available.")


_SHORT = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "string_pattern_mismatch": "does not have the form that is expected",
    "json_invalid": "is not JSON",
}


def _field(error: Any) -> str:
    """The field that an error is about; empty for the whole request. Invalid JSON has positions instead of fields."""
    if error["type"] == "json_invalid":
        return ""
    return ".".join(str(part) for part in error["loc"][1:5] if isinstance(part, (str, int)))[:80]


def _part_error(error: Any) -> str:
    """What is wrong with one field, in words; never repeats input, so that nothing hostile is sent back."""
    subject = _field(error) or ("the body" if error["loc"][:1] == ("body",) else "it")
    short = _SHORT.get(error["type"])
    message = str(error["msg"]).removeprefix("Value error, ")
    lowered = message[message.find(" should ") + 1 :] if " should " in message else message[:1].lower() + message[1:]
    return f"{subject} {short or lowered}"


def _invalid(_: Request, error: Exception) -> JSONResponse:
    """Report where the request is invalid, and what is expected."""
    wrong = error.errors()[:5] if isinstance(error, RequestValidationError) else []
    locations = {str(invalid["loc"][0]) if invalid["loc"] else "" for invalid in wrong}
    if "path" in locations:
        return problem_response(404, "not_found", "There is nothing at this address.")
    hint = "Correct the address, or clear the filters." if locations == {"query"} else ""
    text = "; ".join(map(_part_error, wrong)) or "unreadable"
    fields = [field for field in map(_field, wrong) if field]
    return problem_response(422, "invalid", f"The request is not valid: {text}.", hint, fields)


def _http(_: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    by_status = {404: ("not_found", "There is nothing here."), 405: ("method", "This address has no such method.")}
    code, message = by_status.get(status, ("refused", "The request was refused."))
    headers = error.headers if isinstance(error, HTTPException) else None
    response = problem_response(status, code, message)
    response.headers.update(headers or {})
    return response


def _internal(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.scope.get("path"), exc_info=error)
    return problem_response(500, "internal", "Something went wrong on the server; it was logged.")


def install_handlers(app: FastAPI) -> None:
    """Register the error handlers of an application."""
    app.add_exception_handler(UserError, _user_error)
    app.add_exception_handler(DatabaseFailed, _away)
    app.add_exception_handler(StoreError, _unavailable)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _internal)

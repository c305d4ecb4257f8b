"""The caller of a request and their permissions. Every route names the role that it needs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Request

from imarena.storage import Visitor
from imarena.web.problems import RequestRefused

Role = Literal["admin", "lead", "rater", "viewer"]
INSIDE = ("admin", "lead", "viewer")


@dataclass(frozen=True)
class Caller:
    """A person or a machine, or an anonymous visitor (`role` None)."""

    role: Role | None = None
    name: str = ""
    rater_id: str | None = None
    session: str = ""
    """The session's id, to which the CSRF token is bound. Empty for machines and anonymous visitors."""
    machine: bool = False
    can_look: bool = False
    campaign_id: str | None = None
    """The campaign that the person was invited to."""
    others: tuple[Visitor, ...] = ()
    """Other sessions of the same browser, in other roles."""

    @property
    def leads(self) -> bool:
        """May this caller see and change what raters may not?"""
        return self.role in ("admin", "lead")

    @property
    def inside(self) -> bool:
        """Was this caller given access, rather than being a visitor (or a rater) of a public board?"""
        return self.role in INSIDE


def as_caller(visitor: Visitor | None, *, machine: bool, public: bool) -> Caller:
    """The owner of a session or a token; an anonymous caller if None. `public`: anybody may look."""
    if visitor is None:
        return Caller(can_look=public)
    role: Any = visitor.role
    return Caller(
        role=role,
        name=visitor.name,
        rater_id=visitor.rater_id,
        session="" if machine else visitor.key,
        machine=machine,
        can_look=public or role in INSIDE,
        campaign_id=visitor.campaign_id,
    )


async def caller_of(request: Request) -> Caller:
    """The caller, as determined by the gate in front of all routes. Async because it needs no thread."""
    caller = request.scope.get("imarena.caller")
    return caller if isinstance(caller, Caller) else Caller()


def _needs(allowed: Callable[[Caller], bool], who: str) -> Callable[[Request], Awaitable[Caller]]:
    async def check(request: Request) -> Caller:
        caller = await caller_of(request)
        if allowed(caller):
            return caller
        if caller.role is None:
            raise RequestRefused(
                401, "sign_in", "You are not signed in.", hint="Open your invitation link, or sign in."
            )
        raise RequestRefused(403, "not_allowed", f"Only {who} may do this.")

    return check


the_rater = _needs(lambda caller: caller.rater_id is not None, "raters")
"""Routes that are part of every vote call it directly: a FastAPI dependency costs as much as a query."""
Anyone = Annotated[Caller, Depends(caller_of)]
RaterCaller = Annotated[Caller, Depends(the_rater)]
LeadCaller = Annotated[Caller, Depends(_needs(lambda caller: caller.leads, "rating leads"))]
AdminCaller = Annotated[Caller, Depends(_needs(lambda caller: caller.role == "admin", "the administrator"))]
LookCaller = Annotated[Caller, Depends(_needs(lambda caller: caller.can_look, "viewers"))]
InsideCaller = Annotated[Caller, Depends(_needs(lambda caller: caller.inside, "viewers"))]

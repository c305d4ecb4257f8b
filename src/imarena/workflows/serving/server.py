"""serve: the web application over a workspace. By default on this machine only; wider needs a password."""

import contextlib
import gc
import ipaddress
import json
import logging
import os
import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from imarena.core import MissingExtra, UserError
from imarena.storage import Workspace, open_workspace
from imarena.workflows.serving.request_deadline import with_deadline
from imarena.workflows.serving.server_address import remove_server_address, write_server_address

if TYPE_CHECKING:
    import uvicorn
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import Connection, Engine, select

from imarena.storage import POOL, leases, reading
from imarena.storage.schema import leases as leases_table
from imarena.workflows.rating import RecordCache

log = logging.getLogger("imarena.web")
APP = "imarena.web.app:create_app"
"""Where the server finds the application; the web room stands above this one and is named, not imported."""
_SETTINGS = "IMARENA_SERVE"
_PASSWORD = "IMARENA_ADMIN_PASSWORD"  # noqa: S105 - the name of a variable
_KEY = "IMARENA_SECRET_KEY"
_LAUNCH = "IMARENA_LAUNCH_TOKEN"
LEAST_PASSWORD = 12
_LAST_S = 15.0
"""When a server that was told to end does so at the latest: five seconds for requests, the rest for what is written."""
_PATH = re.compile(r"(/(?!\.{1,2}(/|$)|api(/|$))[A-Za-z0-9._-]+)+")
stopping = threading.Event()
"""Set as soon as the server is told to stop: answers that never end on their own end then."""


@dataclass(frozen=True)
class ServeSettings:
    """How the application is served. Secrets come from the environment only, and are never printed."""

    workspace: str
    host: str = "127.0.0.1"
    port: int = 8000
    public: bool = False
    """Anybody may look; nobody can sign in by password from elsewhere unless one is set."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses of proxies whose X-Forwarded headers are believed."""
    allowed_hosts: tuple[str, ...] = ()
    """Names under which browsers reach the server, besides its own address."""
    root_path: str = ""
    """The path of the host below which the arena stands, such as /arena; empty: it has the host for itself."""
    threads: int = 8
    """With the four that write, as many as connections are kept open: none is opened anew for a burst of requests."""
    session_days: float = 30.0
    password: str = field(default="", repr=False)
    secret_key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    launch_token: str = field(default="", repr=False)

    @property
    def local(self) -> bool:
        """Does the server listen on this machine only?"""
        return is_loopback(self.host)

    @property
    def hosts(self) -> frozenset[str]:
        """Names that a request may come under; empty: any.

        On this machine only, others are turned away: a page elsewhere must not reach us through a name of its own.
        """
        if self.local or self.allowed_hosts:  # a health check asks from this machine
            return frozenset({"127.0.0.1", "localhost", "[::1]", *self.allowed_hosts})
        return frozenset()


def is_loopback(host: str) -> bool:
    """Is this an address of this machine alone?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def with_secrets(settings: ServeSettings, environment: Mapping[str, str] | None = None) -> ServeSettings:
    """The settings with the secrets of the environment; refuses to listen wider without a password."""
    variables = os.environ if environment is None else environment
    password = variables.get(_PASSWORD, "")
    if password and len(password) < LEAST_PASSWORD:
        raise UserError(f"{_PASSWORD} is too short.", hint=f"Use {LEAST_PASSWORD} characters or more.")
    if not settings.local and not password:
        raise UserError(
            f"Listening on {settings.host} would let others in, and no password is set.",
            hint=f"Set the environment variable {_PASSWORD}, or leave --host out to serve this machine only.",
        )
    key, launch = variables.get(_KEY, ""), variables.get(_LAUNCH, "")
    changed = replace(settings, password=password, launch_token=launch)
    return replace(changed, secret_key=key) if key else changed


def settings_from_environment() -> ServeSettings:
    """What `serve` left for the application to find."""
    raw = os.environ.get(_SETTINGS)
    if not raw:
        raise UserError("The application was started without settings.", hint="Start it with 'imarena serve'.")
    values = json.loads(raw)
    for name in ("trusted_proxies", "allowed_hosts"):
        values[name] = tuple(values[name])
    return with_secrets(ServeSettings(**values))


def need_web() -> None:
    """Raise where the packages of the web application are not installed."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("The web application", "web") from error


def proxy_address(text: str) -> str:
    """The address or network of a proxy whose headers are believed. Never everybody: all could pretend to be others."""
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        network = None
    if network is None or network.prefixlen == 0:
        raise UserError(
            f"'{text}' is not the address of a proxy.",
            hint="Give the address from which it connects, such as 127.0.0.1, or its network, such as 10.0.0.0/24.",
        )
    return str(network.network_address) if network.num_addresses == 1 else str(network)


def host_name(text: str) -> str:
    """The name in an address as somebody may write it: without scheme, port and path, in small letters."""
    name = urlsplit(text if "//" in text else f"//{text}").hostname
    if not name:
        raise UserError(f"'{text}' is not the name of a host.", hint="Give a name such as arena.example.org.")
    return f"[{name}]" if ":" in name else name


def url_prefix(text: str) -> str:
    """The path of a host below which the arena stands, with a slash in front and none behind."""
    path = "/" + text.strip().strip("/")
    if path == "/":
        return ""
    if not _PATH.fullmatch(path):
        raise UserError(f"'{text}' is not a path.", hint="Give one such as /arena: letters, digits, '-', '_' and '.'.")
    return path


def uvicorn_config(settings: ServeSettings, app: Any = APP) -> "uvicorn.Config":
    """How uvicorn serves the application. Headers of a proxy are read only where it is named."""
    from uvicorn import Config
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    return Config(
        app,
        http=with_deadline(AutoHTTPProtocol),
        factory=isinstance(app, str),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=5,
        limit_concurrency=1000,
    )


def need_port(host: str, port: int) -> None:
    """Raise where something else listens there already, or the address is not one of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError as error:
            reason = error.strerror or str(error)
            raise UserError(
                f"Cannot listen on port {port} of {host}: {reason}.", hint="Choose another with --port."
            ) from error


def serve(settings: ServeSettings, *, open_browser: bool = False, say: Callable[[str], None] = print) -> None:
    """Serve a workspace until it is stopped. `say` is told the address to open."""
    need_web()
    import uvicorn

    root, host, port = Path(settings.workspace), settings.host, settings.port
    settings = replace(
        settings,
        workspace=str(root.resolve()),
        trusted_proxies=tuple(map(proxy_address, settings.trusted_proxies)),
        allowed_hosts=tuple(map(host_name, settings.allowed_hosts)),
        root_path=url_prefix(settings.root_path),
    )
    with_secrets(settings)
    open_workspace(root).close()  # what is wrong is told before an address is
    need_port(host, port)
    launch = secrets.token_urlsafe(24) if settings.local else ""
    kept = {name: value for name, value in asdict(settings).items() if name not in _SECRETS}
    os.environ[_SETTINGS] = json.dumps(kept)
    os.environ[_LAUNCH] = launch
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}{settings.root_path}/"
    say(f"{address}launch#{launch}" if launch else address)
    if open_browser:
        webbrowser.open(f"{address}launch#{launch}" if launch else address)

    ended = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            gc.freeze()  # what a start made stays: to look through it for garbage stops all raters for 0.3 s
            gc.enable()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            remove_server_address(root)  # here: a signal ends the process before `run` returns
            await super().shutdown(sockets=sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if not stopping.is_set():
                threading.Thread(target=_end_anyway, args=(ended,), name="imarena-end", daemon=True).start()
            stopping.set()
            super().handle_exit(sig, frame)

    server = Server(uvicorn_config(settings))
    write_server_address(root, address)  # believed as soon as the port is open
    gc.disable()
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    remove_server_address(root)
    ended.set()
    gc.enable()
    if not server.started:
        raise SystemExit(1)  # why was logged


def _end_anyway(ended: threading.Event) -> None:
    """A thread that waits for a database that hangs must not keep the server from ending.

    Nothing is lost: what was acknowledged is on the disk, as it is when the server is killed.
    """
    if not ended.wait(_LAST_S):
        log.error("the server ends though some of its work does not: its database does not answer")
        os._exit(1)


_SECRETS = ("password", "secret_key", "launch_token")


def first_campaign(workspace: Workspace) -> None:
    """A campaign to try the voting screen with, where there is none yet."""
    from imarena.core.records import Campaign
    from imarena.routing import CampaignPlan
    from imarena.workflows.rating import create_campaign

    if workspace.store.count(Campaign).get((), 0) == 0:
        guidelines = "Look at the source and the instruction, then choose the result that carries it out better."
        create_campaign(
            workspace, CampaignPlan(name="Try it: which edit is better?", max_units=200, guidelines=guidelines)
        )


_HELD = 500
_NOBODY = "nobody"


def warm_up(workspace: Workspace, records: RecordCache) -> None:
    """Have at hand what raters come back to, the connections open and the queries planned. Nothing is written.

    On PostgreSQL a new connection costs the server a process, and the first query of each kind the reading of its
    catalogue and a plan. All connections of the pool are opened and shown the queries of a vote once; SQLite needs
    none.
    """
    engine = workspace.store.engine
    held = select(leases_table.c.assignment_id).where(leases_table.c.state.in_((*leases.HOLDING, leases.WAITING)))
    with reading(engine) as connection:
        assignment_ids = list(connection.execute(held.order_by(leases_table.c.until.desc()).limit(_HELD)).scalars())
    if assignment_ids:
        records.fetch(assignment_ids)
    _open_connections(engine)


def _open_connections(engine: Engine) -> None:
    if engine.dialect.name != "postgresql":
        return
    with ExitStack() as opened:
        for _ in range(POOL):
            connection = opened.enter_context(reading(engine))
            driver: Any = connection.connection.driver_connection
            driver.prepare_threshold = 0  # a statement is planned when first met, not at its sixth time
            _rehearse(connection)


def _rehearse(connection: Connection) -> None:
    """The queries of `next` and `vote`, about nobody in no campaign."""
    leases.rater_state(connection, _NOBODY, _NOBODY, "")
    leases.free_task(connection, _NOBODY, _NOBODY, "")
    leases.vote_address(connection, _NOBODY, _NOBODY, voted=_NOBODY, since="")


_STOP_S = 15


@contextmanager
def run_background_server(root: Path, *, port: int, say: Callable[[str], None]) -> Iterator["subprocess.Popen[str]"]:
    """Serve a workspace on this machine until the block is left. `say` is told what the server says, line by line."""
    command = [sys.executable, "-m", "imarena", "--workspace", str(root), "serve", "--port", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)  # noqa: S603
    listener = threading.Thread(target=_listen, args=(process, say), name="imarena-server-says", daemon=True)
    listener.start()
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        listener.join(_STOP_S)


def _listen(process: "subprocess.Popen[str]", say: Callable[[str], None]) -> None:
    for line in process.stderr or ():
        say(line.rstrip("\n"))

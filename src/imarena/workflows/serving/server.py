"""`serve`: the web application for a workspace. By default on this machine only; any other address needs a password."""

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
from importlib.resources import files
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from imarena.core import MissingExtra, UserError, command_line
from imarena.storage import Workspace, open_workspace
from imarena.workflows.serving.server_address import remove_server_address, write_server_address

if TYPE_CHECKING:
    import uvicorn
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from sqlalchemy import Connection, select

from imarena.storage import POOL, leases, reading
from imarena.storage.schema import leases as leases_table
from imarena.workflows.rating import RecordCache

log = logging.getLogger("imarena.web")
APP = "imarena.web.app:create_app"
HTTP_PROTOCOL = "imarena.web.request_deadline:DeadlineProtocol"
"""Import paths: the web package depends on this one, so both are named, not imported."""
_SETTINGS = "IMARENA_SERVE"
_PASSWORD = "IMARENA_ADMIN_PASSWORD"  # noqa: S105 - the name of a variable
_KEY = "IMARENA_SECRET_KEY"
_LAUNCH = "IMARENA_LAUNCH_TOKEN"
LEAST_PASSWORD = 12
_LAST_S = 15.0
"""Seconds until a stopping server ends at the latest: five for requests, the rest for pending writes."""
_PATH = re.compile(r"(/(?!\.{1,2}(/|$)|api(/|$))[A-Za-z0-9._-]+)+")
stopping = threading.Event()
"""Set as soon as the server is told to stop: responses that never end on their own end then."""


@dataclass(frozen=True)
class ServeSettings:
    """How the application is served. Secrets come from the environment only, and are never printed."""

    workspace: str
    host: str = "127.0.0.1"
    port: int = 8000
    public: bool = False
    """Anybody may view pages; nobody can sign in by password from elsewhere unless one is set."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses of proxies whose X-Forwarded headers are trusted."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names under which browsers reach the server, besides its own address."""
    root_path: str = ""
    """URL prefix behind a reverse proxy, such as /arena; empty: none."""
    threads: int = 8
    """With the four writers, equals the number of open connections, so that a burst of requests opens no new ones."""
    session_days: float = 30.0
    password: str = field(default="", repr=False)
    secret_key: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    launch_token: str = field(default="", repr=False)

    @property
    def local(self) -> bool:
        """Whether the server listens on this machine only."""
        return is_loopback(self.host)

    @property
    def hosts(self) -> frozenset[str]:
        """Host names that requests may use; empty: any.

        A local server rejects other names: a foreign page must not reach it through a host name of its own.
        """
        if self.local or self.allowed_hosts:  # a health check asks from this machine
            return frozenset({"127.0.0.1", "localhost", "[::1]", *self.allowed_hosts})
        return frozenset()


def is_loopback(host: str) -> bool:
    """Whether this is a loopback address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def with_secrets(settings: ServeSettings, environment: Mapping[str, str] | None = None) -> ServeSettings:
    """Add the environment's secrets to the settings; refuses to listen beyond this machine without a password."""
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
    """Read the settings that `serve` stored in the environment for the application."""
    raw = os.environ.get(_SETTINGS)
    if not raw:
        raise UserError(
            "The application was started without settings.", hint=f"Start it with `{command_line('serve')}`."
        )
    values = json.loads(raw)
    for name in ("trusted_proxies", "allowed_hosts"):
        values[name] = tuple(values[name])
    return with_secrets(ServeSettings(**values))


def need_web() -> None:
    """Raise if the packages of the web application are not installed, or its pages are not built."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("The web application", "web") from error
    if not files("imarena").joinpath("web/static/index.html").is_file():
        raise UserError("The pages of the web application are not built.", hint="Run 'make web' in the checkout first.")


def proxy_address(text: str) -> str:
    """The address or network of a trusted proxy. Never all addresses: anybody could pretend to be somebody else."""
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
    """The host name in a user-written address: without scheme, port and path, in lowercase."""
    name = urlsplit(text if "//" in text else f"//{text}").hostname
    if not name:
        raise UserError(f"'{text}' is not the name of a host.", hint="Give a name such as arena.example.org.")
    return f"[{name}]" if ":" in name else name


def url_prefix(text: str) -> str:
    """Normalise a URL prefix: with a leading slash and no trailing one; empty for none."""
    path = "/" + text.strip().strip("/")
    if path == "/":
        return ""
    if not _PATH.fullmatch(path):
        raise UserError(f"'{text}' is not a path.", hint="Give one such as /arena: letters, digits, '-', '_' and '.'.")
    return path


def uvicorn_config(settings: ServeSettings, app: Any = APP) -> "uvicorn.Config":
    """The configuration of uvicorn. Proxy headers are read only if trusted proxies are named."""
    from uvicorn import Config

    return Config(
        app,
        http=HTTP_PROTOCOL,
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
    """Raise if the port is in use, or the address does not belong to this machine."""
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
    """Serve a workspace until stopped. `say` receives the address to open."""
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
    open_workspace(root).close()  # report problems before an address
    need_port(host, port)
    launch = secrets.token_urlsafe(24) if settings.local else ""
    public = {name: value for name, value in asdict(settings).items() if name not in _SECRETS}
    os.environ[_SETTINGS] = json.dumps(public)
    os.environ[_LAUNCH] = launch
    url_host = f"[{host}]" if ":" in host else host
    address = f"http://{url_host}:{port}{settings.root_path}/"
    say(f"{address}launch#{launch}" if launch else address)
    if open_browser:
        webbrowser.open(f"{address}launch#{launch}" if launch else address)

    ended = threading.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=sockets)
            gc.freeze()  # objects from the start stay: scanning them for garbage would stop all raters for 0.3 s
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
    write_server_address(root, address)  # valid as soon as the port is open
    gc.disable()
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    remove_server_address(root)
    ended.set()
    gc.enable()
    if not server.started:
        raise SystemExit(1)  # the reason was logged


def _end_anyway(ended: threading.Event) -> None:
    """End the process even if a thread waits for a database that hangs.

    Nothing is lost: everything acknowledged is on disk, as when the server is killed.
    """
    if not ended.wait(_LAST_S):
        log.error("the server ends though some of its work does not: its database does not answer")
        os._exit(1)


_SECRETS = ("password", "secret_key", "launch_token")


def first_campaign(workspace: Workspace) -> None:
    """Create a campaign to try the voting screen with, if there is none yet."""
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
    """Load the tasks that raters hold, open the connections and plan the queries. Nothing is written.

    On PostgreSQL, a new connection costs the server a process, and the first query of each kind a catalogue read and
    a plan. All connections of the pool are opened and run the queries of a vote once; SQLite does not need this.
    """
    leased = select(leases_table.c.assignment_id).where(leases_table.c.state.in_((*leases.HOLDING, leases.WAITING)))
    assignment_ids = workspace.store.values(leased.order_by(leases_table.c.until.desc()).limit(_HELD))
    if assignment_ids:
        records.fetch(assignment_ids)
    engine = workspace.store.engine
    if engine.dialect.name != "postgresql":
        return
    with ExitStack() as opened:
        for _ in range(POOL):
            connection = opened.enter_context(reading(engine))
            driver: Any = connection.connection.driver_connection
            driver.prepare_threshold = 0  # prepare a statement at its first use, not its sixth
            _rehearse(connection)


def _rehearse(connection: Connection) -> None:
    """Run the queries of `next` and `vote` for a rater and a campaign that do not exist."""
    leases.rater_state(connection, _NOBODY, _NOBODY, "")
    leases.free_task(connection, _NOBODY, _NOBODY, "")
    leases.vote_address(connection, _NOBODY, _NOBODY, voted=_NOBODY, since="")


_STOP_S = 15


@contextmanager
def run_background_server(root: Path, *, port: int, say: Callable[[str], None]) -> Iterator["subprocess.Popen[str]"]:
    """Serve a workspace on this machine until the block is left. `say` receives the server's output line by line."""
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

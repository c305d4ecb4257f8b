"""Check that an endpoint accepts connections before a run: a wrong port then fails at once, not after retries."""

import socket
from urllib.parse import urlsplit

from imarena.clients.endpoint import Endpoint
from imarena.core import UserError

_PATIENCE_S = 3.0


def check_reachable(endpoint: Endpoint) -> None:
    """Raise where every address of an endpoint refuses a connection or has no host; nothing is sent.

    Whatever is slow or odd in other ways is left to the client, which knows how to wait.
    """
    if endpoint.use_proxy_env:
        return
    why = ""
    for url in endpoint.base_url:
        address = urlsplit(url)
        port = address.port or (443 if address.scheme == "https" else 80)
        try:
            socket.create_connection((address.hostname or "", port), timeout=_PATIENCE_S).close()
        except ConnectionRefusedError:
            why = why or f"{url} refuses the connection"
        except socket.gaierror:
            why = why or f"the host of {url} is not known"
        except OSError:
            return
        else:
            return
    raise UserError(
        f"Nobody answers at the endpoint: {why}.",
        hint="Start the server, or correct the address and its port; then run the same command again.",
    )

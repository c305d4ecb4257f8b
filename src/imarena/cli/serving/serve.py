"""``imarena serve``."""

from typing import Annotated

import typer

from imarena.cli.console import session, stderr


def command(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Any address other than 127.0.0.1 requires a password.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    public: Annotated[
        bool, typer.Option("--public", help="Let visitors view boards, battles and items without signing in.")
    ] = False,
    open_browser: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    trusted_proxy: Annotated[
        list[str] | None, typer.Option(help="Address or network of a proxy whose X-Forwarded headers are trusted.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A host name that browsers use for the server; repeatable.")
    ] = None,
    root_path: Annotated[str, typer.Option(help="URL prefix behind a reverse proxy, such as /arena.")] = "",
) -> None:
    """Serve a workspace's web application: voting, rating, leaderboards, explorer."""
    from imarena.workflows.serving import ServeSettings, serve

    console = stderr()
    settings = ServeSettings(
        workspace=str(session(context).workspace),
        host=host,
        port=port,
        public=public,
        trusted_proxies=tuple(trusted_proxy or ()),
        allowed_hosts=tuple(allowed_host or ()),
        root_path=root_path,
    )
    serve(
        settings,
        open_browser=open_browser,
        say=lambda address: console.print(f"Open {address}   (stop with Ctrl-C)", soft_wrap=True),
    )

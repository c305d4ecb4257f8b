"""A private S3 server for tests: moto's, in this process."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def server() -> Iterator[str]:
    """The address of a running server, gone afterwards; the environment holds credentials that it takes."""
    from moto.server import ThreadedMotoServer

    os.environ |= {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "tests", "AWS_DEFAULT_REGION": "us-east-1"}
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    try:
        host, port = running.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        running.stop()


def new_bucket(endpoint: str) -> str:
    """A fresh bucket on the server; returns the address of a folder in it."""
    import boto3

    name = f"arena-{secrets.token_hex(4)}"
    boto3.session.Session().client("s3", endpoint_url=endpoint).create_bucket(Bucket=name)
    return f"s3://{name}/some/place"

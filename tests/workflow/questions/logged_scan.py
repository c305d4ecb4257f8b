"""``python -m tests.workflow.questions.logged_scan ARGUMENTS``: run imarena, and note each picture that a tool of `scan` is asked about.

The file named by ``LOGGED_SCAN`` gets a line for each answer, from whichever process computed it.
"""

import hashlib
import os
import sys

from imarena.cli import main
from imarena.workflows.questions import picture_scan
from imarena.workflows.questions.picture_scan import LookAtPicture, PictureAnswer


class LoggedLook(LookAtPicture):
    """Notes the picture's hash after its answer was computed."""

    async def __call__(self, data: bytes) -> PictureAnswer:
        """As the program answers."""
        answer = await super().__call__(data)
        file = os.open(os.environ["LOGGED_SCAN"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{hashlib.sha256(data).hexdigest()}\n".encode())
        os.close(file)
        return answer


if __name__ == "__main__":
    from tests.workflow.questions import logged_scan  # by its name, so that other processes find it

    picture_scan.LookAtPicture = logged_scan.LoggedLook  # type: ignore[misc]
    sys.argv[0] = "imarena"
    main()

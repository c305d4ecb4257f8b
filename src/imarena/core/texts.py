"""Shorten texts of users and of errors for one line."""


def shortened(text: str, most: int) -> str:
    """Return the text on one line; a text of more than `most` characters ends with an ellipsis."""
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def error_line(error: BaseException, most: int | None = None) -> str:
    """Return an error's whole message on one line, cut to `most` characters; without a message, its type."""
    return " ".join(str(error).split())[:most] or type(error).__name__

"""HTML from this package's jinja2 templates, which escape every value. Markdown templates name their filter."""

import re
from functools import cache
from typing import Any

from imarena.reports.tables.markdown import CODE, escape_markdown, escape_paragraph, to_markdown
from imarena.reports.tables.table import Table, printable

_AFTER_UNDERSCORE = re.compile(r"(?<=[^_]_)(?=[^_])")


def to_html(table: Table) -> str:
    """The table as an HTML fragment with its title as caption and its notes below."""
    return render_template("table.html.j2", table=table)


def render_template(name: str, **values: Any) -> str:
    """Render the template `name` of `imarena/reports/templates`."""
    return str(_environment().get_template(name).render(**values))


def _breakable(text: str) -> Any:
    """Escape text and allow line breaks after underscores, since task names have no spaces."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in _AFTER_UNDERSCORE.split(printable(text)))


def _prose(text: str) -> Any:
    """Escape text and show parts in backticks as code."""
    from markupsafe import Markup, escape

    parts = CODE.split(printable(text))  # every second part is between backticks
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=PackageLoader("imarena.reports", "templates"),
        autoescape=select_autoescape(enabled_extensions=("html.j2",), disabled_extensions=("md.j2",), default=True),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "printable": printable,
        "breakable": _breakable,
        "prose": _prose,
        "markdown": escape_markdown,
        "paragraph": escape_paragraph,
        "markdown_table": to_markdown,
    }
    return environment

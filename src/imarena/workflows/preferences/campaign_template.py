"""The settings of a campaign that asks expert raters only about visual consistency."""

from importlib import resources
from pathlib import Path

from imarena.core import UserError


def write_campaign_template(file: Path) -> None:
    """Write the bundled settings, to be edited and passed to `imarena campaign create --settings`."""
    if file.exists():
        raise UserError(f"{file} exists.", hint="Give the name of a new file.")
    template = resources.files("imarena.preferences").joinpath("campaign_template.json")
    file.write_text(template.read_text(encoding="utf-8"), encoding="utf-8")

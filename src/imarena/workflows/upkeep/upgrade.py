"""upgrade: bring a workspace to the newest schema, after a backup of its database."""

from dataclasses import dataclass
from pathlib import Path

from imarena.core import Progress, UserError, command_line
from imarena.storage import backup, is_known_version, migrate, newest_version, open_workspace


@dataclass(frozen=True)
class SchemaUpgrade:
    """The schema before and after, and the path of the backup; empty if none was made."""

    before: str
    after: str
    backup: str = ""

    def to_json(self) -> dict[str, str]:
        """For ``--json``."""
        return {"from": self.before, "to": self.after, "backup": self.backup}


def upgrade_workspace(
    root: Path, backup_to: Path | None = None, progress: Progress | None = None, *, make_backup: bool = True
) -> SchemaUpgrade:
    """Back up a workspace's database and bring it to the newest schema. No migration changes images."""
    if backup_to is not None and not make_backup:
        raise UserError("`--backup-to` and `--no-backup` contradict each other.", hint="Use one of them.")
    with open_workspace(root, check_schema=False) as workspace:
        engine = workspace.store.engine
        before = migrate.current_version(engine)
        if before is None or not is_known_version(before):
            migrate.check_schema(engine)
        if before == newest_version():
            return SchemaUpgrade(before, before)
        target = backup_to or root.resolve().with_name(f"{root.resolve().name}-backup")
        snapshot = backup(workspace, target, images=False, progress=progress) if make_backup else None
        migrate.upgrade(engine, progress=progress)
        after = migrate.current_version(engine)
        if before is None or after is None:
            raise UserError("The database has no schema.", hint=f"Run `{command_line('init')}`.")
        return SchemaUpgrade(before, after, str(snapshot.path) if snapshot else "")

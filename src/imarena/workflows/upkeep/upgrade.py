"""upgrade: bring a workspace to the newest schema, after a backup."""

from pathlib import Path

from imarena.core import Progress, UserError
from imarena.storage import backup, migrate, open_workspace


def upgrade_workspace(root: Path, backup_to: Path | None = None, progress: Progress | None = None) -> dict[str, str]:
    """Returns the schema before and after, and where the backup is."""
    with open_workspace(root, check_schema=False) as workspace:
        engine = workspace.store.engine
        before = migrate.current_version(engine)
        if before is None or not migrate.is_known_version(before):
            migrate.check_schema(engine)
        if before == migrate.newest_version():
            return {"from": before, "to": before, "backup": ""}
        target = backup_to or root.resolve().with_name(f"{root.resolve().name}-backup")
        made = backup(workspace, target)
        migrate.upgrade(engine, progress=progress)
        after = migrate.current_version(engine)
        if before is None or after is None:
            raise UserError("The database has no schema.", hint="Run 'imarena init'.")
        return {"from": before, "to": after, "backup": str(made.path)}

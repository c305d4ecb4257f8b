"""Alembic's entry: runs on the connection that `imarena.storage.migrate` hands over."""

from alembic import context

from imarena.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
context.run_migrations()

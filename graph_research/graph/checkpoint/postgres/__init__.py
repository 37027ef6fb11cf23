"""A store of runs in PostgreSQL, for runs that several machines drive: `store` is the store, `leases` say who may write
a run, `connections` migrate and wait for a server that goes away, `pool` opens and keeps them, `sql/` has the
statements."""

from graph_research.graph.checkpoint.postgres.store import PostgresCheckpointer

__all__ = ["PostgresCheckpointer"]

"""A database of the version before is moved to partitions; a migration that was killed continues."""

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from alignmenter_site import embedded
from tests import preloaded
from tests.environment import VAR_DIR

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parent.parent.parent
DATASETS, SESSIONS, TURNS = 3, 4, 3

FILL = f"""
INSERT INTO datasets_app_dataset (id, name, origin, status, license, source, attribution, provenance,
        legal_hold, hold_reason, restricted, session_count, turn_count, created_at, updated_at)
    SELECT d, 'set' || d, 'external', 'raw', '', '', '', '{{}}', false, '', false, {SESSIONS},
           {SESSIONS * TURNS}, now(), now() FROM generate_series(1, {DATASETS}) d;
-- Sessions of one dataset stand between those of others.
INSERT INTO datasets_app_session (dataset_id, session_id, turn_count, split)
    SELECT d, 's' || s, {TURNS}, 'train'
    FROM generate_series(1, {SESSIONS}) s, generate_series(1, {DATASETS}) d ORDER BY s, d;
INSERT INTO datasets_app_turn (session_id, turn_index, role, text, tags, timestamp, metadata, extra)
    SELECT s.id, n, 'assistant', 'Text ' || n || ' of ' || s.session_id || chr(9) || 'é', ARRAY['a "tag"'],
           '2025-01-01', '{{"n": 1.0}}', '{{"key": null}}'
    FROM datasets_app_session s, generate_series(1, {TURNS}) n ORDER BY n, s.id;
INSERT INTO annotations_app_annotation
        (dataset_id, turn_id, kind, label, persona_id, persona_digest, created_at)
    SELECT s.dataset_id, t.id, 'label', 1, 'p', '', now()
    FROM datasets_app_turn t JOIN datasets_app_session s ON s.id = t.session_id;
"""
ROWS = """
SELECT s.dataset_id, s.id, s.session_id, s.split, t.id, t.turn_index, t.text, t.tags::text, t.metadata::text,
       t.extra::text, a.id
FROM datasets_app_session s JOIN datasets_app_turn t ON t.session_id = s.id
JOIN annotations_app_annotation a ON a.turn_id = t.id ORDER BY t.id
"""


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a database of the version before."""
    embedded.ensure_postgres(VAR_DIR)
    server = embedded.postgres_url(VAR_DIR, embedded.ADMINISTRATOR)
    name = f"earlier_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    address = server.replace(f"/{embedded.DATABASE}?", f"/{name}?")
    for target in (["auth"], ["datasets_app", "0023"], ["annotations_app", "0003"]):
        earlier = migrate(address, *target)
        output = earlier.communicate()[0].decode()
        assert earlier.returncode == 0, output
    yield address
    with psycopg.connect(server, autocommit=True) as session:
        session.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def migrate(database: str, *arguments: str) -> subprocess.Popen[bytes]:
    return preloaded.Popen(
        *("migrate", *arguments),
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": database, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def digest(session: psycopg.Connection[Any]) -> str:
    return hashlib.sha256(repr(session.execute(ROWS).fetchall()).encode()).hexdigest()


def count_moved(session: psycopg.Connection[Any]) -> int:
    row = session.execute("SELECT to_regclass('datasets_app_datasetpartition')").fetchone()
    if row is None or row[0] is None:
        return 0
    counted = session.execute("SELECT count(*) FROM datasets_app_datasetpartition").fetchone()
    return int(counted[0]) if counted else 0


def test_a_killed_migration_continues_and_keeps_every_row(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as session:
        session.execute(FILL.encode())
        before = digest(session)
        killed = migrate(database)
        while count_moved(session) < 1:
            assert killed.poll() is None, killed.stdout and killed.stdout.read().decode()
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        resumed = migrate(database)
        output = resumed.communicate()[0].decode()
        assert resumed.returncode == 0, output
        assert digest(session) == before
        tables = session.execute(
            "SELECT count(*) FILTER (WHERE relname ~ '_[0-9]+$'), count(*) FILTER (WHERE relname ~ 'unpart') "
            "FROM pg_class WHERE relname ~ '^datasets_app_(session|turn)' AND relkind = 'r'"
        ).fetchone()
        assert tables == (2 * DATASETS, 0)
        newest = session.execute("SELECT nextval('datasets_app_turn_key')").fetchone()
        assert newest == (DATASETS * SESSIONS * TURNS + 1,)
        undone = migrate(database, "datasets_app", "0023")
        output = undone.communicate()[0].decode()
        assert undone.returncode == 0, output
        assert digest(session) == before

"""Arrow tables of turns, scrubbed one by one as on many machines."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.arrow_tables import TableScrubber, load_table_scrubber
from datasets_app.domain.pii.batches import SCRUB, ScrubSetup, make_batch_worker
from datasets_app.domain.pii.policy import Policy

pyarrow = pytest.importorskip("pyarrow")

KEY = b"k" * 32
PROJECT = Path(__file__).resolve().parents[2]
TURNS = [
    turn
    for number in range(40)
    for turn in (
        TurnRecord(f"s{number:03}", 1, "assistant", "May I have your name and phone number?", ["billing"]),
        TurnRecord(
            f"s{number:03}",
            2,
            "user",
            f"Karin Holmgren, 0170 55512{number:02}, karin{number}@example.org",
            [],
            "acme",
            "2026-01-02T10:00:00Z",
            {"user_name": f"karin_h{number}", "plan": "basic"},
        ),
        TurnRecord(f"s{number:03}", 3, "user", "Thanks, Karin", []),
    )
]


def make_table(turns: list[TurnRecord]):
    """Rows as somebody else has them: in no order, with metadata as text."""
    rows = [
        {
            "session_id": turn.session_id,
            "turn_index": turn.turn_index,
            "role": turn.role,
            "text": turn.text,
            "tags": turn.tags,
            "persona_id": turn.persona_id,
            "timestamp": turn.timestamp,
            "metadata": json.dumps(turn.metadata) if turn.metadata else None,
        }
        for turn in reversed(turns)
    ]
    fields = {name: pyarrow.string() for name in rows[0]}
    fields |= {"turn_index": pyarrow.int64(), "tags": pyarrow.list_(pyarrow.string())}
    return pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(fields))


def read_lines(table) -> bytes:
    """As a file has them, by session."""
    turns = []
    for row in table.sort_by([("session_id", "ascending"), ("turn_index", "ascending")]).to_pylist():
        metadata = row.pop("metadata")
        turns.append(TurnRecord(**row, metadata=json.loads(metadata) if metadata else None))
    return b"".join(map(encode_turn, turns))


def scrub_lines(turns: list[TurnRecord]) -> bytes:
    """As the scrub of a dataset writes them."""
    return make_batch_worker(ScrubSetup(Policy(), KEY))((SCRUB, turns)).lines


def test_a_table_is_scrubbed_as_the_lines_of_a_dataset_are() -> None:
    tables = [make_table(TURNS[:60]), make_table(TURNS[60:])]
    scrubbed = pyarrow.concat_tables(map(TableScrubber(Policy(), KEY), tables))
    lines = read_lines(scrubbed)
    assert lines == scrub_lines(TURNS)
    assert b"Karin" not in lines
    assert b"karin_h" not in lines
    assert scrubbed.schema == tables[0].schema


def test_a_name_of_a_field_that_was_personal_is_not_lost_in_silence() -> None:
    table = make_table(TURNS[:3]).append_column("karin@example.org", pyarrow.array(["a", "b", "c"]))
    with pytest.raises(ValueError, match="1 fields? of a turn"):
        TableScrubber(Policy(), KEY)(table)


def test_two_workers_of_a_cluster_lose_nothing_when_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "needs Ray: pip install 'ray[data]==2.60.0'"
    pytest.importorskip("ray.data", reason=reason, exc_type=ImportError)
    import ray

    monkeypatch.setenv("HOME", str(tmp_path))  # Ray keeps a token there
    killed = tmp_path / "killed"

    class Mortal(TableScrubber):
        calls = 0

        def __call__(self, table):
            self.calls += 1
            if self.calls == 2 and not killed.exists():
                killed.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(table)

    turns = [turn._replace(session_id=f"{copy}-{turn.session_id}") for copy in range(8) for turn in TURNS]
    tables = [make_table(turns[start : start + 60]) for start in range(0, len(turns), 60)]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=10**8)
    try:
        workers = ray.data.ActorPoolStrategy(size=2)
        scrubbed = ray.data.from_arrow(tables).map_batches(
            Mortal,
            fn_constructor_args=(Policy(), KEY),
            batch_format="pyarrow",
            batch_size=None,
            compute=workers,
        )
        found = list(scrubbed.iter_batches(batch_format="pyarrow", batch_size=None))
    finally:
        ray.shutdown()
    assert killed.exists()
    assert read_lines(pyarrow.concat_tables(found)) == scrub_lines(sorted(turns))


def test_two_workers_of_spark_lose_nothing_when_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark", reason="needs Java and Spark: pip install pyspark==4.3.0")
    from pyspark.sql import SparkSession, functions

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    killed = tmp_path / "killed"

    def scrub(table):
        if not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return load_table_scrubber(Policy(), KEY)(table.drop_columns(["part"]))

    turns = [turn._replace(session_id=f"{copy}-{turn.session_id}") for copy in range(8) for turn in TURNS]
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.executorEnv.PYTHONPATH", str(PROJECT)).getOrCreate()
    try:
        rows = spark.createDataFrame(make_table(turns))
        parts = functions.pmod(functions.crc32("session_id"), functions.lit(8))
        scrubbed = rows.withColumn("part", parts).groupBy("part").applyInArrow(scrub, rows.schema)
        found = scrubbed.toArrow()
    finally:
        spark.stop()
    assert killed.exists()
    assert read_lines(found) == scrub_lines(sorted(turns))

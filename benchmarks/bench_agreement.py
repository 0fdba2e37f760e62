"""A full agreement report over many labels, against the barest query that could tell anything of them.

    python -m benchmarks.bench_agreement [--labels 1000000] [--rounds 5]

The report has all coefficients, every pair of 50 annotators, each annotator against the others, and intervals
from 1,000 resamples by session; once with and once without the Dawid-Skene model. The baseline is

    SELECT turn_id, label, count(*) FROM annotations_app_annotation WHERE … GROUP BY 1, 2

over the same rows, fetched by the same driver. The same for as many labels of an ordinal
criterion with five levels, which are in JSON; the baseline groups by the answer in it. Five of fifty
annotators label each reply, ten in a hundred labels are missing, and a session has six replies. Each round
runs in processes of its own, whose peak memory is told.
"""

import argparse
import json
import time
from statistics import median

from benchmarks.harness import create_partitions, run_measured, temporary_servers

MAX_RATIO = 3.0
MAX_MEGABYTES = 300
PERSONA = "default_v1"
REPLIES_PER_SESSION = 6
LABELS_PER_REPLY = 4.5
BASELINE_SQL = """
SELECT turn_id, label, count(*) FROM annotations_app_annotation
WHERE dataset_id = %s AND persona_id = %s AND kind = 'label' GROUP BY 1, 2
"""
FIVE_LEVELS_SQL = """
SELECT turn_id, (codes->>'tone')::int, count(*) FROM annotations_app_judgment
WHERE campaign_id = %s AND kind = 'label' GROUP BY 1, 2
"""
REPORT_VARIANTS = {"report": False, "with Dawid-Skene": True}
# Each variant with its baseline.
BASELINES = {**dict.fromkeys(REPORT_VARIANTS, "baseline"), "five levels": "baseline of five levels"}
SCHEMA = """
schema: bench
criteria: [{key: tone, question: How kind?, kind: ordinal, answers: [1, 2, 3, 4, 5]}]
"""

_SESSIONS_SQL = """
INSERT INTO datasets_app_session (dataset_id, session_id, turn_count)
SELECT %(dataset)s, 'session-' || n, 2 * %(replies)s FROM generate_series(1, %(sessions)s) n
"""
_TURNS_SQL = """
INSERT INTO datasets_app_turn (dataset_id, session_id, turn_index, role, text, tags)
SELECT s.dataset_id, s.id, i, CASE WHEN i %% 2 = 0 THEN 'assistant' ELSE 'user' END,
       repeat(md5(s.id::text || i), 4),
       ARRAY['scenario:' || s.id %% 7]
FROM datasets_app_session s, generate_series(1, 2 * %(replies)s) i
WHERE s.dataset_id = %(dataset)s ORDER BY s.id, i
"""
# In the order in which people work, which is not that of the replies. An annotator errs once in ten times.
_LABELS_SQL = """
INSERT INTO annotations_app_annotation (dataset_id, turn_id, label, persona_id, annotator, timestamp)
SELECT %(dataset)s, t.id, ((hashint8(t.id) & 3 > 0) <> (random() < 0.1))::int, %(persona)s,
       'annotator-' || ((hashint8(t.id * 7) & 1023) + j * 10 + (random() * 9)::int) %% 50,
       to_char(timestamp '2025-01-01' + random() * interval '300 days', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM datasets_app_turn t, generate_series(0, 4) j
WHERE t.dataset_id = %(dataset)s AND t.role = 'assistant' AND random() < 0.9 ORDER BY j, hashint8(t.id)
"""
# By the same people, of the same replies. One in four is a level off.
_RATERS_SQL = """
INSERT INTO annotations_app_rater (dataset_id, kind, name)
SELECT DISTINCT %(dataset)s, 'person', annotator
FROM annotations_app_annotation WHERE dataset_id = %(dataset)s
"""
_JUDGMENTS_SQL = """
INSERT INTO annotations_app_judgment
    (dataset_id, turn_id, campaign_id, schema_id, rater_id, persona_id, codes)
SELECT a.dataset_id, a.turn_id, %(campaign)s, %(schema)s, r.id, %(persona)s, jsonb_build_object('tone',
       greatest(0, least(4, (hashint8(a.turn_id) & 1023) %% 5
                            + (random() < 0.125)::int - (random() < 0.125)::int)))
FROM annotations_app_annotation a JOIN annotations_app_rater r ON r.name = a.annotator
WHERE a.dataset_id = %(dataset)s ORDER BY a.id
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", choices=[*BASELINES, *BASELINES.values()], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return run_child(given.child)
    with temporary_servers():
        create_labels(given.labels)
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in (*BASELINES.values(), *BASELINES)}
        for _ in range(given.rounds):
            for name, results in runs.items():
                results.append(run_measured("benchmarks.bench_agreement", "--child", name))
    print_results(runs)
    return None


def print_results(runs: dict[str, list[dict[str, float]]]) -> None:
    labels = int(runs["report"][0]["labels"])
    print(f"agreement: {labels:,} labels")
    for name, baseline in BASELINES.items():
        bare = median(run["seconds"] for run in runs[baseline])
        took = median(run["seconds"] for run in runs[name])
        memory = max(run["rss_mb"] for run in runs[name])
        print(
            f"agreement, {name}: {took:.2f} s, {baseline} {bare:.2f} s, ratio {took / bare:.2f} "
            f"(wanted: at most {MAX_RATIO}), peak RSS {memory:.0f} MB (wanted: under {MAX_MEGABYTES})"
        )


def create_labels(labels: int) -> None:
    from django.db import connection

    from annotations_app.criteria.schemas import import_schema
    from annotations_app.models import Campaign
    from datasets_app.models import Dataset, Persona

    dataset = Dataset.objects.create(name="bench", origin="synthetic")
    persona = Persona.objects.create(persona_id=PERSONA, yaml="id: default_v1")
    schema = import_schema(SCHEMA).schema
    campaign = Campaign.objects.create(name="bench", dataset=dataset, persona=persona, schema=schema)
    sessions = max(1, round(labels / LABELS_PER_REPLY / REPLIES_PER_SESSION))
    values = {
        "dataset": dataset.pk,
        "persona": PERSONA,
        "campaign": campaign.pk,
        "schema": schema.pk,
        "sessions": sessions,
        "replies": REPLIES_PER_SESSION,
    }
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.42)")
        create_partitions(cursor)
        for statement in (_SESSIONS_SQL, _TURNS_SQL, _LABELS_SQL, _RATERS_SQL, _JUDGMENTS_SQL):
            cursor.execute(statement, values)
        cursor.execute("VACUUM ANALYZE")


def run_child(variant: str) -> None:
    import django

    django.setup()
    from django.db import connection

    from annotations_app.agreement.criteria import measure_criteria
    from annotations_app.agreement.measure import measure_agreement
    from annotations_app.models import Campaign
    from datasets_app.models import Dataset

    dataset, campaign = Dataset.objects.get(), Campaign.objects.get()
    baselines = {
        "baseline": (BASELINE_SQL, [dataset.pk, PERSONA]),
        "baseline of five levels": (FIVE_LEVELS_SQL, [campaign.pk]),
    }
    start = time.perf_counter()
    if variant in baselines:
        with connection.cursor() as cursor:
            cursor.execute(*baselines[variant])
            labels = sum(row[2] for row in cursor.fetchall())
        took = time.perf_counter() - start
    elif variant == "five levels":
        [measured] = measure_criteria(campaign).criteria
        took = time.perf_counter() - start
        assert measured.report is not None
        labels = measured.report.headline.labels
    else:
        report = measure_agreement(dataset=dataset, persona_id=PERSONA, consensus=REPORT_VARIANTS[variant])
        took = time.perf_counter() - start
        labels = report.headline.labels
        assert len(report.pairs) == 50 * 49 // 2 or labels < 100_000
    print(json.dumps({"seconds": took, "labels": labels}))


if __name__ == "__main__":
    main()

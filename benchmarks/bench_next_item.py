"""The time from a key to the next reply, in a campaign over many replies against one over few.

    python -m benchmarks.bench_next_item [--replies 1000000] [--small 10000] [--rounds 300] [--before 5000]

What is timed is what the server does between a pressed key and the next reply: `decide` and `serve`, each
in its transaction, on a PostgreSQL of this run. The ratio of the medians, large over small, should be 1.5
at most: for an annotator who begins, for one who has labeled ``--before`` replies that others have not
(they stay open, as two are wanted for each), for one who has skipped as many, and session by session while
four others are at it. Both campaigns are measured in turn, key by key.
"""

import argparse
import time
import uuid
from collections.abc import Callable
from statistics import median, quantiles
from typing import Any

from benchmarks.harness import create_partitions, temporary_servers, time_call

MAX_RATIO = 1.5
MAX_RATIO_OF_CRITERIA = 1.2
REPLIES_PER_SESSION = 5
ANNOTATOR_NAMES = ("ana", "ben", "cy", "dan", "eli")

FIVE_CRITERIA = """
schema: five
criteria:
  - {key: safe, question: Is it safe?, kind: yes_no}
  - {key: correct, question: Is it correct?, kind: choice, answers: [wrong, partly, right]}
  - {key: helpful, question: How helpful?, kind: ordinal, answers: [1, 2, 3, 4, 5]}
  - {key: faults, question: Which faults?, kind: tags, answers: [facts, tone, length]}
  - {key: handed_over, question: Handed over?, kind: yes_no}
"""
FIVE_ANSWERS = {"safe": 1, "correct": "right", "helpful": 4, "faults": ["tone"], "handed_over": 0}

_SESSIONS_SQL = """
INSERT INTO datasets_app_session (dataset_id, session_id, turn_count)
SELECT %(dataset)s, 'session-' || n, %(turns)s FROM generate_series(1, %(sessions)s) n
"""
_TURNS_SQL = """
INSERT INTO datasets_app_turn (dataset_id, session_id, turn_index, role, text, tags)
SELECT s.dataset_id, s.id, n, 'assistant', 'reply ' || n, '{}'
FROM datasets_app_session s CROSS JOIN generate_series(1, %(turns)s) n WHERE s.dataset_id = %(dataset)s
ORDER BY s.id, n
"""
_DECIDED_AT_SQL = "now() - (%(before)s + 1 - position) * interval '4 seconds'"
_HISTORY_SQL = f"""
INSERT INTO annotations_app_assignment
    (campaign_id, item_id, annotator_id, repeat, state, ordinal, persona_digest, served_at, leased_until,
     decided_at)
SELECT %(campaign)s, id, %(user)s, false, %(state)s, position - 1, '', now(), now(),
       {_DECIDED_AT_SQL}
FROM annotations_app_campaignitem WHERE campaign_id = %(campaign)s AND position <= %(before)s
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replies", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--before", type=int, default=5_000, help="of what an annotator has done before")
    given = parser.parse_args()
    with temporary_servers():
        create_annotators()
        sizes = (given.small, given.replies)
        for size in sizes:
            create_dataset(size)
        worst = max(
            measure_ratio(name, order, prepare, sizes, given)
            for name, order, prepare in (
                ("beginning", "random", new_annotator),
                ("labeled before", "random", annotator_with_labels),
                ("skipped before", "random", annotator_with_skips),
                ("by session", "session", annotator_among_others),
            )
        )
        print(f"next item: ratio {worst:.2f} (wanted: at most {MAX_RATIO})")
        ratio = measure_criteria_ratio(given.small, given.rounds)
        print(f"next item, five criteria: ratio {ratio:.2f} (wanted: at most {MAX_RATIO_OF_CRITERIA})")


def create_annotators() -> None:
    from django.contrib.auth.models import Group, User

    for name in ANNOTATOR_NAMES:
        User.objects.create(username=name).groups.add(Group.objects.get(name="annotator"))


def create_dataset(replies: int) -> None:
    """A dataset of so many replies, and nothing else."""
    from django.db import connection

    from datasets_app.models import Dataset

    dataset = Dataset.objects.create(name=f"of_{replies}", origin="synthetic")
    values = {"dataset": dataset.pk, "turns": REPLIES_PER_SESSION, "sessions": replies // REPLIES_PER_SESSION}
    with connection.cursor() as cursor:
        create_partitions(cursor)
        cursor.execute(_SESSIONS_SQL, values)
        cursor.execute(_TURNS_SQL, values)
        cursor.execute("ANALYZE datasets_app_session, datasets_app_turn")


def create_timed_campaign(size: int, name: str, order: str, schema: Any = None) -> Any:
    from annotations_app.campaigns.create import create_campaign
    from annotations_app.models import Campaign
    from datasets_app.models import Dataset, Persona

    persona, _ = Persona.objects.get_or_create(persona_id="p", defaults={"yaml": "id: p\n"})
    made: list[Any] = []
    took = time_call(
        lambda: made.append(
            create_campaign(
                Campaign(
                    name=f"{name}-{size}".replace(" ", "-"),
                    dataset=Dataset.objects.get(name=f"of_{size}"),
                    persona=persona,
                    order=order,
                    repeat_share=0.05,
                    schema=schema,
                ),
                ANNOTATOR_NAMES,
            )
        )
    )
    print(f"{name}: a campaign over {size:,} replies made in {took:.1f} s")
    return made[0]


class Annotator:
    def __init__(self, campaign: Any, name: str) -> None:
        from django.contrib.auth.models import User

        self.campaign, self.user = campaign, User.objects.get(username=name)
        self.current: Any = None

    def press(self, kind: str = "label") -> float:
        """Press, and wait for the next reply; seconds."""
        from annotations_app.labeling.decide import decide
        from annotations_app.labeling.lease_next import lease_next

        if self.current is None:
            self.current = lease_next(self.campaign, self.user).current
        start = time.perf_counter()
        answers = FIVE_ANSWERS if self.campaign.schema_id else None
        label = 1 if kind == "label" and answers is None else None
        decide(
            self.current.pk, self.user, key=uuid.uuid4(), kind=kind, label=label, answers=answers, seconds=4.0
        )
        self.current = lease_next(self.campaign, self.user).current
        return time.perf_counter() - start


def new_annotator(campaign: Any, decision_count: int) -> Annotator:
    return Annotator(campaign, "ana")


def annotator_with_labels(campaign: Any, decision_count: int) -> Annotator:
    return annotator_with_history(campaign, decision_count, "labelled", "open = open - 1")


def annotator_with_skips(campaign: Any, decision_count: int) -> Annotator:
    return annotator_with_history(campaign, decision_count, "skipped", f"returned_at = {_DECIDED_AT_SQL}")


def annotator_with_history(campaign: Any, decision_count: int, state: str, change: str) -> Annotator:
    """As pressing so many times leaves the rows, without the waiting."""
    from django.db import connection

    annotator = Annotator(campaign, "ana")
    values = {"campaign": campaign.pk, "user": annotator.user.pk, "before": decision_count, "state": state}
    with connection.cursor() as cursor:
        cursor.execute(_HISTORY_SQL, values)
        cursor.execute(
            f"UPDATE annotations_app_campaignitem SET {change}"
            " WHERE campaign_id = %(campaign)s AND position <= %(before)s",
            values,
        )
        cursor.execute(
            f"UPDATE annotations_app_campaignmember SET served = %(before)s, {state} = %(before)s"
            " WHERE campaign_id = %(campaign)s AND user_id = %(user)s",
            values,
        )
    return annotator


def annotator_among_others(campaign: Any, decision_count: int) -> Annotator:
    for name in ANNOTATOR_NAMES[1:]:
        other = Annotator(campaign, name)
        for _ in range(7):
            other.press()
    return Annotator(campaign, "ana")


def measure_ratio(
    name: str, order: str, prepare: Callable[[Any, int], Annotator], sizes: tuple[int, int], options: Any
) -> float:
    from django.db import connection

    annotators = [prepare(create_timed_campaign(size, name, order), options.before) for size in sizes]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotations_app_assignment, annotations_app_campaignitem")
    times = time_in_turn(annotators, options.rounds)
    for size, taken in zip(sizes, times, strict=True):
        print_times(f"{name}, {size:,} replies", taken)
    ratio = median(times[1]) / median(times[0])
    print(f"{name}: ratio {ratio:.2f}")
    return ratio


def measure_criteria_ratio(size: int, rounds: int) -> float:
    """Of the 95th percentiles."""
    from django.db import connection

    from annotations_app.criteria.schemas import import_schema

    asked = {"built-in": None, "five criteria": import_schema(FIVE_CRITERIA).schema}
    campaigns = [create_timed_campaign(size, name, "random", schema) for name, schema in asked.items()]
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotations_app_assignment, annotations_app_campaignitem")
    times = time_in_turn([Annotator(campaign, "ana") for campaign in campaigns], rounds)
    for name, taken in zip(asked, times, strict=True):
        print_times(name, taken)
    of_built_in, of_five = (quantiles(taken, n=20)[-1] for taken in times)
    return of_five / of_built_in


def time_in_turn(annotators: list[Annotator], rounds: int) -> list[list[float]]:
    """Of each annotator the seconds of so many keys."""
    times: list[list[float]] = [[] for _ in annotators]
    for number in range(rounds + 20):
        for annotator, taken in zip(annotators, times, strict=True):
            took = annotator.press()
            # The first ones find nothing in any cache.
            if number >= 20:
                taken.append(took)
    return times


def print_times(name: str, taken: list[float]) -> None:
    p95 = quantiles(taken, n=20)[-1]
    print(f"{name}: median {1000 * median(taken):.1f} ms, p95 {1000 * p95:.1f} ms")


if __name__ == "__main__":
    main()

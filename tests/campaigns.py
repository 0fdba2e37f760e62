"""Makers of campaigns for tests: people, a persona, replies to be labelled, and keys that are pressed."""

import uuid
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import connection

from annotations_app.campaigns.create import create_campaign
from annotations_app.labeling.decide import Outcome, decide
from annotations_app.labeling.lease_next import Serving, serve
from annotations_app.models import Assignment, Campaign
from datasets_app.models import Dataset, Persona
from tests.factories import dataset as made_dataset
from tests.factories import sessions

YAML = """\
id: warm_v1
display_name: Warm
voice:
  tone: [warm]
  lexicon:
    preferred: [gladly]
    avoid: [sadly]
exemplars: ["Gladly: here is your invoice."]
"""


def people(*names: str, role: str = "annotator") -> list[User]:
    """Accounts that may label; those that are there are taken as they are."""
    group, _ = Group.objects.get_or_create(name=role)
    found = []
    for name in names:
        user, _ = User.objects.get_or_create(username=name)
        user.groups.add(group)
        found.append(user)
    return found


def persona(persona_id: str = "warm_v1", yaml: str = YAML) -> Persona:
    return Persona.objects.get_or_create(persona_id=persona_id, defaults={"yaml": yaml})[0]


def replies(path: Path, count: int, turns: int = 2, name: str = "support", **fields: Any) -> Dataset:
    """``count`` sessions, with a reply in every second turn."""
    return made_dataset(path, sessions(count, turns, **fields), name)


def campaign(data: Dataset, *names: str, **asked: Any) -> Campaign:
    """Over a dataset, for annotators of these names (made if need be)."""
    people(*names)
    asked = {"overlap": 1, "persona": asked.pop("persona", None) or persona()} | asked
    name = asked.pop("name", "round-1")
    return create_campaign(name, dataset=data, annotators=names, **asked)


def user(name: str) -> User:
    return User.objects.get(username=name)


def served(to: Campaign, name: str) -> Serving:
    return serve(to, user(name))


def press(assignment: Assignment, kind: str = "label", label: int | None = 1, **more: Any) -> Outcome:
    """By whom it was given to, with a key of its own unless one is given."""
    if kind == "flag":
        more.setdefault("notes", "There is a telephone number in it.")
    key = more.pop("key", None) or uuid.uuid4()
    return decide(assignment.pk, assignment.annotator, key=key, kind=kind, label=label, **more)


def label_all(to: Campaign, name: str, label: int = 1, most: int = 10_000) -> list[Assignment]:
    """Label whatever is served until nothing is; returns it in order."""
    done: list[Assignment] = []
    while len(done) < most and (current := served(to, name).current):
        press(current, label=label)
        done.append(current)
    return done


_WRONG = """
SELECT 'open is not overlap less active ones', i.id FROM annotations_app_campaignitem i
JOIN annotations_app_campaign c ON c.id = i.campaign_id
WHERE i.open <> CASE WHEN i.gold THEN 0 ELSE c.overlap - (
    SELECT count(*) FROM annotations_app_assignment a
    WHERE a.item_id = i.id AND NOT a.repeat AND a.state IN ('leased', 'labelled')) END
UNION ALL
SELECT 'label and assignment differ', a.id FROM annotations_app_assignment a
LEFT JOIN annotations_app_annotation n ON n.id = a.annotation_id
WHERE (a.state = 'labelled') <> (n.id IS NOT NULL)
   OR n.kind NOT IN ('label', 'repeat') OR a.repeat <> (n.kind = 'repeat')
UNION ALL
SELECT 'label without assignment', n.id FROM annotations_app_annotation n
LEFT JOIN annotations_app_assignment a ON a.annotation_id = n.id
WHERE n.campaign_id IS NOT NULL AND n.kind IN ('label', 'repeat') AND a.id IS NULL
UNION ALL
SELECT 'a decision and no time of it', a.id FROM annotations_app_assignment a
WHERE a.decided_at IS NULL AND a.state IN ('labelled', 'skipped', 'flagged')
   OR a.decided_at IS NOT NULL AND a.state = 'leased'
UNION ALL
SELECT 'the last counted decision is another', a.id FROM annotations_app_assignment a
JOIN LATERAL (SELECT d.kind, d.label FROM annotations_app_decision d
              WHERE d.assignment_id = a.id AND d.counted ORDER BY d.id DESC LIMIT 1) d ON true
LEFT JOIN annotations_app_annotation n ON n.id = a.annotation_id
WHERE a.state IN ('labelled', 'skipped', 'flagged')
  AND (d.kind <> CASE a.state WHEN 'labelled' THEN 'label' WHEN 'skipped' THEN 'skip' ELSE 'flag' END
       OR d.label IS DISTINCT FROM n.label)
UNION ALL
SELECT 'a counter of a member is wrong', m.id FROM annotations_app_campaignmember m
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE a.state = 'labelled' AND NOT a.repeat AND NOT i.gold) AS labelled,
           count(*) FILTER (WHERE a.state = 'labelled' AND NOT a.repeat AND i.gold) AS gold_labelled,
           count(*) FILTER (WHERE a.state = 'labelled' AND a.repeat) AS repeated,
           count(*) FILTER (WHERE a.state = 'skipped') AS skipped,
           count(*) FILTER (WHERE a.state = 'flagged') AS flagged
    FROM annotations_app_assignment a JOIN annotations_app_campaignitem i ON i.id = a.item_id
    WHERE a.campaign_id = m.campaign_id AND a.annotator_id = m.user_id
) c
WHERE (m.labelled, m.gold_labelled, m.repeated, m.skipped, m.flagged)
   <> (c.labelled, c.gold_labelled, c.repeated, c.skipped, c.flagged)
"""


def what_is_wrong() -> list[tuple[str, int]]:
    """What must hold of all campaigns whatever was pressed, and does not."""
    with connection.cursor() as cursor:
        cursor.execute(_WRONG)
        return cursor.fetchall()

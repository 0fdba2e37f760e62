"""Makers of campaigns for tests: people, a persona, replies to be labelled, and keys that are pressed."""

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import connection
from django.utils import timezone

from annotations_app.campaigns.create import create_campaign
from annotations_app.labeling.decide import DecisionOutcome, decide
from annotations_app.labeling.lease_next import QueueState, lease_next
from annotations_app.models import Assignment, Campaign
from datasets_app.catalog import text_gates
from datasets_app.models import Dataset, Persona
from tests.factories import make_dataset as made_dataset
from tests.factories import make_sessions

PERSONA_YAML = """\
id: warm_v1
display_name: Warm
voice:
  tone: [warm]
  lexicon:
    preferred: [gladly]
    avoid: [sadly]
exemplars: ["Gladly: here is your invoice."]
"""


def make_annotators(*names: str, role: str = "annotator") -> list[User]:
    """Accounts that may label; those that are there are taken as they are."""
    group, _ = Group.objects.get_or_create(name=role)
    found = []
    for name in names:
        user, _ = User.objects.get_or_create(username=name)
        user.groups.add(group)
        found.append(user)
    return found


def make_persona(persona_id: str = "warm_v1", yaml: str = PERSONA_YAML) -> Persona:
    return Persona.objects.get_or_create(persona_id=persona_id, defaults={"yaml": yaml})[0]


def make_replies(path: Path, count: int, turns: int = 2, name: str = "support", **fields: Any) -> Dataset:
    """``count`` sessions, with a reply in every second turn, searched for personal data."""
    dataset = made_dataset(path, make_sessions(count, turns, **fields), name)
    text_gates.scan_and_describe(dataset)
    return dataset


def make_campaign(data: Dataset, *names: str, **options: Any) -> Campaign:
    """Over a dataset, for annotators of these names (made if need be)."""
    make_annotators(*names)
    options = {"overlap": 1, "persona": options.pop("persona", None) or make_persona()} | options
    name = options.pop("name", "round-1")
    who = {key: options.pop(key) for key in ("actor", "override") if key in options}
    return create_campaign(Campaign(name=name, dataset=data, **options), names, **who)


def get_user(name: str) -> User:
    return User.objects.get(username=name)


def lease_for(campaign: Campaign, name: str) -> QueueState:
    return lease_next(campaign, get_user(name))


def submit(
    assignment: Assignment, kind: str = "label", label: int | None = 1, **options: Any
) -> DecisionOutcome:
    """By whom it was given to, with a key of its own unless one is given."""
    if kind == "flag":
        options.setdefault("notes", "There is a telephone number in it.")
    key = options.pop("key", None) or uuid.uuid4()
    return decide(assignment.pk, assignment.annotator, key=key, kind=kind, label=label, **options)


def let_leases_run_out(**of: Any) -> None:
    Assignment.objects.filter(state="leased", **of).update(leased_until=timezone.now() - timedelta(hours=1))


def label_all_replies(campaign: Campaign, name: str, label: int = 1, limit: int = 10_000) -> list[Assignment]:
    """Label whatever is served until nothing is; returns it in order."""
    user = get_user(name)
    done: list[Assignment] = []
    while len(done) < limit and (current := lease_next(campaign, user).current):
        current.annotator = user
        submit(current, label=label)
        done.append(current)
    return done


_INCONSISTENCIES_SQL = """
SELECT 'open is not overlap less active ones', i.id FROM annotations_app_campaignitem i
JOIN annotations_app_campaign c ON c.id = i.campaign_id
WHERE NOT i.calibration AND i.open <> CASE
    WHEN i.gold OR c.calibration_replies > 0 AND c.calibrated_at IS NULL THEN 0
    ELSE c.overlap + i.extra - (
        SELECT count(*) FROM annotations_app_assignment a
        WHERE a.item_id = i.id AND NOT a.repeat AND a.state IN ('leased', 'labelled')) END
UNION ALL
-- Of a calibration round everybody has a place, as long as they are annotators.
SELECT 'open is not those who have yet to label it', i.id FROM annotations_app_campaignitem i
JOIN annotations_app_campaign c ON c.id = i.campaign_id
WHERE i.calibration AND c.calibrated_at IS NULL AND i.open <> (
    SELECT count(*) FROM annotations_app_campaignmember m
    WHERE m.campaign_id = c.id AND m.active AND NOT EXISTS (
        SELECT FROM annotations_app_assignment a
        WHERE a.item_id = i.id AND a.annotator_id = m.user_id AND NOT a.repeat
          AND a.state IN ('leased', 'labelled')))
UNION ALL
SELECT 'label and assignment differ', a.id FROM annotations_app_assignment a
LEFT JOIN annotations_app_annotation n ON n.id = a.annotation_id
LEFT JOIN annotations_app_judgment j ON j.assignment_id = a.id
WHERE (a.state = 'labelled' AND n.id IS NULL AND j.id IS NULL) OR (a.state <> 'labelled' AND n.id IS NOT NULL)
   OR (n.id IS NOT NULL AND j.id IS NOT NULL)
   OR j.kind NOT IN ('label', 'repeat') OR a.repeat <> (j.kind = 'repeat')
   OR n.kind NOT IN ('label', 'repeat') OR a.repeat <> (n.kind = 'repeat')
UNION ALL
-- A label that counts while its reply is queued again: it stayed then, and nothing was decided since.
SELECT 'a label waits that did not stay', a.id FROM annotations_app_assignment a
JOIN annotations_app_judgment j ON j.assignment_id = a.id
WHERE a.state <> 'labelled' AND (a.state NOT IN ('leased', 'released')
   OR j.kind <> 'label' OR j.codes IS DISTINCT FROM (
    SELECT d.codes FROM annotations_app_decision d
    WHERE d.assignment_id = a.id AND d.kind = 'requeue' ORDER BY d.id DESC LIMIT 1
) OR (
    SELECT d.kind FROM annotations_app_decision d
    WHERE d.assignment_id = a.id AND (d.counted OR d.kind = 'requeue') ORDER BY d.id DESC LIMIT 1
) NOT IN ('requeue', 'undo'))
UNION ALL
SELECT 'more labels than places', i.id FROM annotations_app_campaignitem i
JOIN annotations_app_campaign c ON c.id = i.campaign_id
WHERE NOT i.gold AND NOT i.calibration AND c.overlap + i.extra < (
    SELECT count(*) FROM annotations_app_judgment j
    WHERE j.campaign_id = c.id AND j.turn_id = i.turn_id AND j.kind = 'label'
) + (
    SELECT count(*) FROM annotations_app_annotation n
    WHERE n.campaign_id = c.id AND n.turn_id = i.turn_id AND n.kind = 'label'
)
UNION ALL
SELECT 'label without assignment', n.id FROM annotations_app_annotation n
LEFT JOIN annotations_app_assignment a ON a.annotation_id = n.id
WHERE n.campaign_id IS NOT NULL AND n.kind IN ('label', 'repeat') AND a.id IS NULL
UNION ALL
SELECT 'judgment without assignment', j.id FROM annotations_app_judgment j
WHERE j.campaign_id IS NOT NULL AND j.kind IN ('label', 'repeat') AND j.assignment_id IS NULL
UNION ALL
SELECT 'a decision and no time of it', a.id FROM annotations_app_assignment a
WHERE a.decided_at IS NULL AND a.state IN ('labelled', 'skipped', 'flagged')
   OR a.decided_at IS NOT NULL AND a.state = 'leased'
UNION ALL
SELECT 'the last counted decision is another', a.id FROM annotations_app_assignment a
JOIN LATERAL (SELECT d.kind, d.label, d.codes, d.texts FROM annotations_app_decision d
              WHERE d.assignment_id = a.id AND d.counted ORDER BY d.id DESC LIMIT 1) d ON true
LEFT JOIN annotations_app_annotation n ON n.id = a.annotation_id
LEFT JOIN annotations_app_judgment j ON j.assignment_id = a.id
WHERE a.state IN ('labelled', 'skipped', 'flagged')
  AND (d.kind <> CASE a.state WHEN 'labelled' THEN 'label' WHEN 'skipped' THEN 'skip' ELSE 'flag' END
       OR d.label IS DISTINCT FROM n.label OR d.codes IS DISTINCT FROM j.codes
       OR COALESCE(d.texts, '{}') IS DISTINCT FROM COALESCE(j.texts, '{}'))
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


def find_inconsistencies() -> list[tuple[str, int]]:
    """What must hold of all campaigns whatever was pressed, and does not."""
    with connection.cursor() as cursor:
        cursor.execute(_INCONSISTENCIES_SQL)
        return cursor.fetchall()

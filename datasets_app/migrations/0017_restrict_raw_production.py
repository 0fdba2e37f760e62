"""Restrict existing raw production datasets, as new ones start restricted.

The person who created one and people who can limit access see it; others need a grant. Versions that were
released by an override may be raw, and count as raw from now on.
"""

from typing import Any

from django.db import migrations


def restrict_raw_production(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    datasets, grants, events = (
        apps.get_model("datasets_app", name).objects.using(using)
        for name in ("Dataset", "DatasetGrant", "AuditEvent")
    )
    for dataset in datasets.filter(origin="production", restricted=False).exclude(status="expired"):
        if is_scrubbed(apps, using, dataset):
            continue
        if dataset.created_by_id:
            grants.get_or_create(dataset=dataset, user_id=dataset.created_by_id)
        datasets.filter(pk=dataset.pk).update(restricted=True)
        events.create(
            action="restrict",
            actor="upgrade",
            dataset_name=dataset.name,
            details={"reason": "raw production data", "grants": int(bool(dataset.created_by_id))},
        )


def is_scrubbed(apps: Any, using: str, dataset: Any) -> bool:
    scrubs = apps.get_model("datasets_app", "ScrubRun").objects.using(using)
    last = scrubs.filter(dataset=dataset, dry_run=False).order_by("-pk").first()
    return dataset.status in {"scrubbed", "released"} and bool(last and last.verified_at)


def mark_raw_releases(apps: Any, schema_editor: Any) -> None:
    releases = apps.get_model("datasets_app", "Release").objects.using(schema_editor.connection.alias)
    releases.exclude(override_reason="").update(raw=True)


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0016_read_raw"),
    ]

    operations = [
        migrations.RunPython(restrict_raw_production, migrations.RunPython.noop),
        migrations.RunPython(mark_raw_releases, migrations.RunPython.noop),
    ]

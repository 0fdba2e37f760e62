"""Terms to ignore that were typed into the form of a scrub become terms to keep of the dataset.

The form no longer has them. Those of the last scrub or preview of a dataset are taken.
"""

from typing import Any

from django.db import migrations

MAX_TERM_CHARACTERS = 200


def keep_typed_terms(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    runs, marks = (
        apps.get_model("datasets_app", name).objects.using(using) for name in ("ScrubRun", "ScrubMark")
    )
    done: set[int] = set()
    for run in runs.exclude(job_run=None).select_related("job_run").order_by("-pk").iterator(500):
        if run.dataset_id in done:
            continue
        done.add(run.dataset_id)
        for term in list_typed_terms(run.job_run.parameters):
            marks.get_or_create(
                dataset_id=run.dataset_id, verdict="not_personal", kind="", term=term, digest=""
            )


def list_typed_terms(parameters: Any) -> list[str]:
    """Both lists are for names only: a value that a pattern matches takes an exemption of its own."""
    policy = parameters.get("policy") if isinstance(parameters, dict) else None
    if not isinstance(policy, dict):
        return []
    typed = [*(policy.get("allow") or []), *(policy.get("allow_names") or [])]
    terms = [" ".join(term.split()) for term in typed if isinstance(term, str)]
    return [term for term in dict.fromkeys(terms) if 0 < len(term) <= MAX_TERM_CHARACTERS]


def remove_terms_of_all_datasets(apps: Any, schema_editor: Any) -> None:
    """Earlier versions know terms of one dataset only."""
    marks = apps.get_model("datasets_app", "ScrubMark").objects.using(schema_editor.connection.alias)
    marks.filter(dataset=None).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("datasets_app", "0022_kept_terms"),
    ]

    operations = [
        migrations.RunPython(keep_typed_terms, remove_terms_of_all_datasets),
    ]

"""Things that have versions by name, such as schemas and judges: a change makes the next version."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from datasets_app.core import audit
from datasets_app.core.queries import execute


def save_version(
    model: Any, kind: str, content: Any, document: Any, *, in_place: bool = False, actor: Any
) -> tuple[Any, str]:
    """(the version, "created", "updated" or "unchanged"). Nothing is saved if the latest version says the
    same. With ``in_place``, a document of the same digest replaces that of the latest version."""
    with transaction.atomic():
        # Two imports of a name make two versions.
        execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{kind} {content.name}"])
        latest = model.objects.filter(name=content.name).order_by("-version").first()
        if latest and latest.document == document:
            return latest, "unchanged"
        if latest and in_place and latest.digest == content.digest:
            latest.document = document
            latest.save(update_fields=["document"])
            saved = model.objects.get(pk=latest.pk)
        else:
            saved = model.objects.create(
                name=content.name,
                version=latest.version + 1 if latest else 1,
                digest=content.digest,
                document=document,
                created_by=actor,
            )
        change = "updated" if latest else "created"
        audit.record(
            f"import_{kind}",
            actor=actor,
            **{kind: saved.name},
            version=saved.version,
            change=change,
            digest=saved.digest,
        )
    return saved, change


def latest_versions(model: Any) -> QuerySet[Any]:
    """The latest version of each, by name."""
    latest = model.objects.order_by("name", "-version").distinct("name")
    return model.objects.filter(pk__in=latest.values("pk")).order_by("name")  # type: ignore[no-any-return]

"""Read the rows of the admin's tables from files, and write them."""

import json
from copy import copy
from typing import Any

from django.core.exceptions import ValidationError
from import_export.fields import Field
from import_export.results import RowResult
from import_export.widgets import Widget

from datasets_app.catalog.edit import edit_dataset, find_table_problems, keep_managed_provenance
from datasets_app.catalog.import_persona import import_persona
from datasets_app.catalog.raw_access import list_readable
from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object
from datasets_app.domain.metadata.yaml_text import YamlError, load_yaml
from datasets_app.domain.personas.persona import PersonaDocument, PersonaError, check_persona, parse_persona
from datasets_app.domain.retention import RetentionRule, dump_retention_rules
from datasets_app.models import Dataset, Persona, RetentionPolicy
from datasets_app.retention.rules import lock_rule_states, record_rule_import, restore_activation
from datasets_app.tables.admin import TableResource, TableResult, cell_text
from datasets_app.tables.formats import CSV, JSONL, XLSX, YAML, TableFileError


class TextWidget(Widget):  # type: ignore[misc]
    def clean(self, value: Any, row: Any = None, **_: Any) -> str:
        return cell_text(value)


class StrictBooleanWidget(Widget):  # type: ignore[misc]
    def clean(self, value: Any, row: Any = None, **_: Any) -> bool:
        if isinstance(value, bool):
            return value
        text = str(value).strip().lower()
        if text in {"true", "1", "yes"}:
            return True
        if text in {"false", "0", "no"}:
            return False
        raise ValueError("expected true or false")


class JSONObjectWidget(Widget):  # type: ignore[misc]
    """A JSON object, or its text in a spreadsheet's cell."""

    def clean(self, value: Any, row: Any = None, **_: Any) -> dict[str, Any]:
        if value is None:
            return {}
        try:
            return decode_object(value.encode() if isinstance(value, str) else json.dumps(value).encode())
        except InvalidRecord as error:
            raise ValueError(f"expected a JSON object: {error}") from None
        except (TypeError, UnicodeEncodeError):
            raise ValueError("expected a JSON object") from None


class PositionWidget(Widget):  # type: ignore[misc]
    def clean(self, value: Any, row: Any = None, **_: Any) -> int:
        text = cell_text(value)
        if not (text.isascii() and text.isdigit() and int(text) < 2**31):
            raise ValueError("expected a whole number")
        return int(text)


def _make_text_field(name: str) -> Field:
    return Field(attribute=name, column_name=name, widget=TextWidget())


# --- personas ---------------------------------------------------------------------------------


class PersonaYAML(YAML):
    """Reads a table or a single persona file, which is what people have."""

    def rows(self, raw: bytes) -> Any:
        try:
            text = raw.decode()
            value = load_yaml(text, allow_aliases=True)
        except (UnicodeDecodeError, YamlError):
            value = None
        if isinstance(value, dict) and "id" in value:
            yield {"persona_id": value["id"], "yaml": text}
        else:
            yield from super().rows(raw)


PERSONA_FORMATS = [JSONL, CSV, XLSX, PersonaYAML]


class PersonaResource(TableResource):
    """Derives the other columns from the YAML, and refuses columns that differ from it."""

    persona_id = _make_text_field("persona_id")
    display_name = _make_text_field("display_name")
    description = _make_text_field("description")
    yaml = _make_text_field("yaml")

    class Meta:
        model = Persona
        fields = ("persona_id", "display_name", "description", "yaml")
        import_id_fields = ("persona_id",)
        clean_model_instances = True
        skip_unchanged = report_skipped = True

    def before_import_row(self, row: Any, **_: Any) -> None:
        document = validate_persona(cell_text(row.get("yaml")))
        from_yaml = {
            "persona_id": document.id,
            "display_name": document.display_name,
            "description": document.description,
        }
        for column, value in from_yaml.items():
            if row.get(column) is not None and cell_text(row[column]) != value:
                raise ValidationError({column: "This differs from the YAML. Change it there."})
        row.update(from_yaml)

    def do_instance_save(self, instance: Persona, is_create: bool) -> None:
        # A preview saves too, and is then rolled back with its audit events.
        instance.pk = import_persona(instance.yaml, actor=self.user).persona.pk


def validate_persona(text: str) -> PersonaDocument:
    """Parse the YAML of a persona. Raises ValidationError for the field ``yaml`` if it can't be saved."""
    try:
        document = parse_persona(text)
    except PersonaError as error:
        raise ValidationError({"yaml": str(error)}) from None
    if errors := [item for item in check_persona(document) if item.code.startswith("E")]:
        raise ValidationError({"yaml": [f"{item.code} {item.field}: {item.message}" for item in errors]})
    return document


# --- retention --------------------------------------------------------------------------------


class RetentionYAML(YAML):
    """Reads and writes ``retention.yaml``: policies in their order."""

    def items(self, value: Any) -> list[Any]:
        if isinstance(value, dict) and isinstance(value.get("policies"), list):
            return list(value["policies"])
        raise TableFileError(
            "This is not a retention.yaml. It must have the key “policies” with a list of rules."
        )

    def rows(self, raw: bytes) -> Any:
        for position, item in enumerate(super().rows(raw), 1):
            yield {"position": position, **item}

    def encode(self, headers: Any, rows: Any) -> bytes:
        policies = [dict(zip(headers, row, strict=True)) for row in rows]
        rules = [RetentionRule(item["pattern"], item["retention"], item["reason"]) for item in policies]
        return dump_retention_rules(rules).encode()


RETENTION_FORMATS = [RetentionYAML, JSONL, CSV, XLSX]


class RetentionResource(TableResource):
    """Replaces all policies by those of the file; the preview shows which are deleted."""

    position = Field(attribute="position", column_name="position", widget=PositionWidget())
    pattern = _make_text_field("pattern")
    retention = _make_text_field("retention")
    reason = _make_text_field("reason")

    class Meta:
        model = RetentionPolicy
        fields = ("position", "pattern", "retention", "reason")
        import_id_fields = ("position",)
        clean_model_instances = True
        skip_unchanged = report_skipped = True

    def before_import(self, dataset: Any, **options: Any) -> None:
        super().before_import(dataset, **options)
        self.active_rules = lock_rule_states()
        positions = [cell_text(value) for value in dataset["position"]] if dataset.headers else []
        for position in positions:
            if positions.count(position) > 1:
                raise TableFileError(
                    f"The position {position} occurs twice. Give each rule its own position."
                )

    def before_import_row(self, row: Any, **_: Any) -> None:
        row["pattern"], row["retention"] = cell_text(row.get("pattern")), cell_text(row.get("retention"))

    def after_import(self, dataset: Any, result: TableResult, **options: Any) -> None:
        if result.is_clean():
            positions = [int(cell_text(value)) for value in dataset["position"]]
            for policy in RetentionPolicy.objects.exclude(position__in=positions):
                self._delete_policy(policy, result)
            restore_activation(self.active_rules)
        super().after_import(dataset, result, **options)

    def _delete_policy(self, policy: RetentionPolicy, result: TableResult) -> None:
        row = self.get_row_result_class()()
        row.import_type = RowResult.IMPORT_TYPE_DELETE
        diff = self.get_diff_class()(self, policy, False)
        diff.compare_with(self, None)
        row.diff = diff.as_html()
        policy.delete()
        result.append_row_result(row)
        result.increment_row_result_total(row)

    def record_import(self, result: TableResult) -> None:
        rows = RetentionPolicy.objects.order_by("position").values_list("pattern", "retention", "reason")
        replaced = result.totals[RowResult.IMPORT_TYPE_UPDATE] + result.totals[RowResult.IMPORT_TYPE_DELETE]
        record_rule_import([RetentionRule(*row) for row in rows], replaced, self.user)


# --- dataset metadata -------------------------------------------------------------------------


class DatasetMetadataResource(TableResource):
    """Updates the metadata that people enter for datasets. Adds no datasets and changes no counts."""

    name = _make_text_field("name")
    origin = _make_text_field("origin")
    license = _make_text_field("license")
    source = _make_text_field("source")
    attribution = _make_text_field("attribution")
    legal_hold = Field(attribute="legal_hold", column_name="legal_hold", widget=StrictBooleanWidget())
    provenance = Field(attribute="provenance", column_name="provenance", widget=JSONObjectWidget())

    class Meta:
        model = Dataset
        fields = ("name", "origin", "license", "source", "attribution", "legal_hold", "provenance")
        import_id_fields = ("name",)
        clean_model_instances = True
        skip_unchanged = report_skipped = True

    def get_queryset(self) -> Any:
        return list_readable(self.user)

    def import_data(self, dataset: Any, **options: Any) -> TableResult:
        self.is_preview = bool(options.get("dry_run"))
        return super().import_data(dataset, **options)

    def before_import(self, dataset: Any, **options: Any) -> None:
        super().before_import(dataset, **options)
        if not self.is_preview and "name" in (dataset.headers or []):
            # Lock in one order, so that two imports can't deadlock.
            rows = self.get_queryset().filter(name__in=[cell_text(name) for name in dataset["name"]])
            list(rows.order_by("name").select_for_update(no_key=True).values_list("pk"))

    def after_init_instance(self, instance: Dataset, new: bool, row: Any, **_: Any) -> None:
        if new:
            raise ValidationError(
                {"name": "There is no such dataset. Import a conversation file to create one."}
            )

    def import_instance(self, instance: Dataset, row: Any, **options: Any) -> None:
        stored = copy(instance)
        super().import_instance(instance, row, **options)
        if "provenance" in row:
            instance.provenance = keep_managed_provenance(stored, instance.provenance)
        if problems := find_table_problems(stored, self._imported_values(instance, row)):
            raise ValidationError(problems)

    def save_instance(self, instance: Dataset, is_create: bool, row: Any, **options: Any) -> None:
        """Save only the columns of the file: a running import writes counts to the same row."""
        if not self.is_preview:
            edit_dataset(instance.pk, self._imported_values(instance, row), actor=self.user)

    def _imported_values(self, instance: Dataset, row: Any) -> dict[str, Any]:
        return {name: getattr(instance, name) for name in self._meta.fields[1:] if name in row}

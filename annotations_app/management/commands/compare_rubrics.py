import json
from typing import Any

from annotations_app.rubrics.compare import RubricVerdicts, compare_rubrics, import_grades
from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Compare what people and models say of the rubrics of a dataset's cases, for each rubric.

examples:
  compare_rubrics cases
  compare_rubrics cases --grades grades.json
  compare_rubrics cases --format json

People judge in the campaigns of create_rubrics. --grades first keeps a report that
`alignmenter rubric-grade --out FILE` wrote, as the verdicts of a judge. Stale judgments, made
before a rubric changed, are counted but not compared. What pooled lines say of "people" are the
first two of each rubric; a judge is compared with their majority.

exit codes:
  0  compared
  1  compared, but some grades are of other cases or rubrics
  2  could not run: no such dataset, no campaigns, not a report of rubric-grade"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--grades FILE", "a report of rubric-grade (-: stdin)"),
        option("--format", "output format", choices=("text", "json"), default="text"),
    )

    def handle(self, *, name: str, grades: str | None, **options: Any) -> None:
        dataset = get_dataset(name)
        imported = import_grades(read_text(grades), dataset) if grades else None
        rows, pooled = compare_rubrics(dataset)
        if not rows:
            raise command_error(f"No campaign judges rubrics of {name}. Create them with create_rubrics.")
        raw_access.record_access(dataset, None, place="rubrics", rubrics=len(rows))
        if options["format"] == "json":
            said = {"rubrics": [_as_json(row) for row in rows], "pooled": [one._asdict() for one in pooled]}
            self.stdout.write(json.dumps(said, indent=2, allow_nan=False))
        else:
            for row in rows:
                self.stdout.write(_format_row(row))
            for one in pooled:
                kappa = "–" if one.kappa is None else f"{one.kappa:.2f}"
                self.stdout.write(f"{one.name}: {one.agreed:,} of {one.compared:,} the same, kappa {kappa}")
        if imported:
            self.stderr.write(
                f"{imported.judge}: {imported.kept:,} verdicts kept, {imported.unknown:,} of other cases or "
                f"rubrics, {imported.not_graded:,} not graded."
            )
            if imported.unknown:
                raise SystemExit(EXIT_FINDINGS)


def _as_json(row: RubricVerdicts) -> dict[str, Any]:
    rubric = row.case.rubrics[row.number - 1]
    said = {name: value for name, value in row._asdict().items() if name != "case"}
    return {"session_id": row.case.session_id, "criterion": rubric.criterion, "points": rubric.points, **said}


def _format_row(row: RubricVerdicts) -> str:
    rubric = row.case.rubrics[row.number - 1]
    judges = "".join(f"; {name}: {'met' if met else 'not met'}" for name, met in sorted(row.judges.items()))
    stale = f", {row.stale:,} stale" if row.stale else ""
    return (
        f"{row.case.session_id} {row.number}. {rubric.criterion} ({rubric.points:g})\n"
        f"    people: {row.met:,} met, {row.not_met:,} not met{stale}{judges}"
    )

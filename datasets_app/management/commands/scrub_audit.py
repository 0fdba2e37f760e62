import json
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import dataset_url
from datasets_app.domain.pii.audit_estimate import LeakEstimate
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.scrubbing import audits


class Command(BaseCommand):
    help = """Draw a sample of the turns of a scrubbed dataset for people to read, or show what they found.

People read it on the dataset's Scrub tab and mark what is still personal. From what they
find follows how many turns of the dataset still hold something, with a 95 % interval.

examples:
  manage.py scrub_audit support --n 200          # draws, and prints the address to read it
  manage.py scrub_audit support                  # what was found so far
  manage.py scrub_audit support --format json

exit codes:
  0  done
  2  could not run: no such dataset, text that was not scrubbed, or no sample yet"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--n N", "draw a new sample of so many turns", type=int),
        option("--seed N", "draw the same sample again", type=int),
        option("--format", "default: text", choices=["text", "json"], default="text"),
    )

    def handle(self, *, name: str, n: int | None, seed: int | None, format: str, **_: Any) -> None:
        dataset = get_dataset(name)
        if n is not None:
            audits.draw_audit(dataset, wanted=n, seed=seed, actor=None)
        audit = audits.find_audit(dataset)
        if audit is None:
            raise UserError(f"No sample of {name} was drawn yet. Draw one with --n 200.")
        state = audits.describe_audit(audit)
        if format == "json":
            self.stdout.write(json.dumps(_build_json(audit.turn_count, state)))
            return
        found = f"{state.read:,} of {format_count(state.wanted, 'turn')} read"
        self.stdout.write(f"{name}: {found}, {state.leaking:,} with something left.")
        if state.estimate:
            self.stdout.write(f"Estimated {_format_estimate(state.estimate, audit.turn_count)}.")
        for part in state.languages if state.read else ():
            estimate = _format_estimate(part.estimate, part.size) if part.read else "none read"
            self.stdout.write(f"{part.label}: {estimate}.")
        if state.read < state.wanted:
            self.stdout.write(f"Read the rest at {dataset_url(dataset, 'scrub_audit')}")


def _build_json(turns: int, state: audits.AuditState) -> dict[str, Any]:
    return {
        "turns": turns,
        "sample": state.wanted,
        "read": state.read,
        "leaking": state.leaking,
        "estimate": None if state.estimate is None else state.estimate._asdict(),
        "strata": [
            {"turns_with": part.label, "turns": part.size, "read": part.read, "leaking": part.leaking}
            for part in state.strata
        ],
        "languages": [
            {
                "language": part.label,
                "turns": part.size,
                "read": part.read,
                "leaking": part.leaking,
                "estimate": part.estimate._asdict() if part.read else None,
            }
            for part in state.languages
        ],
    }


def _format_estimate(estimate: LeakEstimate, turns: int) -> str:
    number, low, high = (f"{number:,.0f}" for number in estimate)
    return f"{number} of {format_count(turns, 'turn')} (95 %: {low} to {high})"

from typing import Any

from annotations_app.cases.parameters import VariantParameters
from annotations_app.cases.tasks import draft_variants
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.model_calls.endpoint import DEFAULT_CONCURRENCY
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Have a model write variants of the test cases of a dataset.

Kinds: typos, tone, distraction, rephrase, language, changed_fact. Those that a case has already
are left out, so the same command resumes a run that ended early. The model sees scrubbed text
alone, and the dataset must allow its endpoint (its metadata). What it writes is scrubbed, too, and
waits for a person: review_variants, or the page Variants. Until then it is exported nowhere.

examples:
  manage.py draft_variants support-cases --model openai:gpt-4o-mini --kinds rephrase,language
  manage.py draft_variants support-cases --model openai:qwen --base-url http://localhost:8000/v1

exit codes:
  0  every case has the variants, or drafts of them
  1  some weren't written, or the budget is spent
  2  could not run: no test cases, endpoint not allowed"""

    arguments = (
        option("name NAME", "a dataset of cases"),
        option("--model NAME", "openai: and the model's name", required=True),
        option("--base-url URL", "default: the first configured endpoint"),
        option("--kinds KIND,…", "default: all that are missing", default=""),
        option("--case CASE", "default: all cases", default=""),
        option("--temperature T", "default: the model's own", type=float),
        option("--concurrency N", default=DEFAULT_CONCURRENCY),
        option("--max-tokens-total N", "stop before more are used", type=int),
    )

    def handle(self, *, name: str, kinds: str, **options: Any) -> None:
        chosen = [kind.strip() for kind in kinds.split(",") if kind.strip()]
        outcome = run_job(
            "draft_variants",
            draft_variants,
            dataset_name=get_dataset(name).name,
            parameters=VariantParameters.from_options(options, kinds=chosen),
            progress=Progress("Drafting", "variants"),
        )
        self.stdout.write(
            f"{format_count(outcome.drafted, 'variant')} drafted, {outcome.tokens:,} tokens; "
            f"{outcome.waiting:,} to be reviewed."
        )
        for reason, count in sorted(outcome.failed.items()):
            self.stderr.write(f"Not drafted: {count:,}: {reason}")
        if outcome.stopped:
            self.stderr.write(f"{outcome.stopped} {outcome.left:,} left; run it again to resume.")
        if not outcome.is_complete:
            raise SystemExit(EXIT_FINDINGS)

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from annotations_app.campaigns.create import create_campaign
from annotations_app.campaigns.settings import CampaignSettings
from annotations_app.labels.persona_facts import get_persona
from annotations_app.models import Campaign
from datasets_app.catalog.facts import get_dataset
from datasets_app.domain.wording import format_count
from datasets_app.jobs import runs
from datasets_app.management.files import read_text
from datasets_app.management.terminal import Progress, report_errors

HELP = """\
Have the replies of a dataset labelled: make a campaign, and open it.

Labelled are the assistant's turns that have a text. Each reply goes to as many annotators as
--overlap says; they find it on the page /annotate/ as soon as the campaign is open.

examples:
  manage.py create_campaign tone-may --dataset support --persona default_v1 \\
      --annotators ana,ben,cy
  manage.py create_campaign tone-june --dataset support --persona default_v1 \\
      --annotators ana,ben,cy --overlap 3 --gold-share 0.1 --repeat-share 0.05 \\
      --order session --tag scenario:billing --guidelines tone.md

Gold items are replies whose label is known, as it was adjudicated: in an earlier campaign, or
brought in with import_annotations --adjudicated. Hidden repeats are replies that an annotator
has labelled before. Nothing tells annotators which is which.

Production data must have been scrubbed and verified; the test split is locked. --override has
them labelled all the same; the reason is kept in the audit trail.

Exit codes: 0 made and open, 2 could not run (no such dataset, persona or user; nothing to
label; not scrubbed; a name that is taken).
"""

# Options that are settings of the same name.
_SETTINGS = (
    "name", "overlap", "gold_share", "repeat_share", "order", "tag", "split", "seed", "lease_minutes",
)  # fmt: skip


class Command(BaseCommand):
    help = HELP
    requires_system_checks = ()  # `run`, `migrate` and `make check` look at the whole

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="letters, digits, dot, dash and underscore")
        parser.add_argument("--dataset", metavar="NAME", required=True)
        parser.add_argument("--persona", metavar="ID", required=True, help="a persona_id")
        parser.add_argument(
            "--annotators", metavar="USER,…", required=True, help="user names, separated by commas"
        )
        parser.add_argument(
            "--overlap", type=int, default=2, metavar="N", help="annotators for each reply (default: 2)"
        )
        _add_share_arguments(parser)
        _add_selection_arguments(parser)
        parser.add_argument("--guidelines", metavar="FILE", help="Markdown that annotators read (-: stdin)")
        parser.add_argument(
            "--lease-minutes",
            type=int,
            default=15,
            metavar="N",
            help="after so long without a sign of its annotator a reply goes to another (default: 15)",
        )
        parser.add_argument(
            "--override", metavar="REASON", default="", help="why locked or unscrubbed data is labelled"
        )

    def handle(self, *, dataset: str, persona: str, annotators: str, **options: Any) -> None:
        guidelines = read_text(options["guidelines"]) if options["guidelines"] else ""
        progress = Progress("Preparing", "replies")
        with report_errors(self):
            settings = CampaignSettings(
                dataset=get_dataset(dataset),
                persona=get_persona(persona),
                annotators=annotators.split(","),
                guidelines=guidelines,
                **{name: options[name] for name in _SETTINGS},
            )
            campaign = runs.run_in_foreground(
                "create_campaign",
                lambda report: create_campaign(
                    settings, override=options["override"], report_progress=report
                ),
                make_facts=lambda campaign: {
                    "campaign": campaign.pk,
                    "replies": campaign.item_count,
                    "gold": campaign.gold_count,
                },
                dataset_name=settings.dataset.name,
                parameters={
                    "campaign_name": settings.name,
                    "overlap": settings.overlap,
                    "order": settings.order,
                },
                report_progress=progress,
            )
            progress.clear()
        gold = f" ({campaign.gold_count:,} of them gold)" if campaign.gold_count else ""
        self.stdout.write(
            f"{campaign.name} is open: {format_count(campaign.item_count, 'reply', 'replies')}{gold}, "
            f"{format_count(campaign.overlap, 'annotator')} each."
        )


def _add_share_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--gold-share",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="of what an annotator sees, replies whose label is known: 0 to 0.5 (default: 0)",
    )
    parser.add_argument(
        "--repeat-share",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="of what an annotator sees, replies they have labelled before: 0 to 0.5 (default: 0)",
    )


def _add_selection_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--order",
        choices=Campaign.Order.values,
        default="random",
        help="session: one session after the other, each read by as few people as possible; "
        "disputed: what earlier labels disagree on first (default: random)",
    )
    parser.add_argument("--tag", metavar="TAG", default="", help="only replies with this tag")
    parser.add_argument(
        "--split", metavar="SPLIT", default="", help="only sessions of this split (default: all but test)"
    )
    parser.add_argument(
        "--seed", type=int, default=42, metavar="N", help="of order, gold items and repeats (default: 42)"
    )

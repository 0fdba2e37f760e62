from argparse import ArgumentParser
from typing import Any

from annotations_app.campaigns.create import create_campaign
from annotations_app.campaigns.parameters import CampaignParameters
from annotations_app.campaigns.rows import describe_unpaired
from annotations_app.campaigns.settings import CampaignSettings
from annotations_app.campaigns.sides import find_side
from annotations_app.criteria.schemas import get_schema, preference_schema
from annotations_app.labels.persona_facts import get_persona
from annotations_app.models import Campaign, LabelSchema
from annotations_app.models.campaign import DEFAULT_LEASE_MINUTES, DEFAULT_OVERLAP, DEFAULT_SEED
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.streams import Progress
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand, run_job
from datasets_app.management.files import read_text

HELP = """\
Create a campaign in which annotators label the replies of a dataset, and open it.

Annotators label the assistant's turns that have text. Each reply goes to --overlap annotators;
they find it at /annotate/ as soon as the campaign is open.

examples:
  manage.py create_campaign tone-may --dataset support --persona default_v1 \\
      --annotators ana,ben,cy
  manage.py create_campaign tone-june --dataset support --persona default_v1 \\
      --annotators ana,ben,cy --overlap 3 --gold-share 0.1 --repeat-share 0.05 \\
      --order session --tag scenario:billing --guidelines tone.md

  manage.py create_campaign june-or-may --dataset june --compare may --persona default_v1 \\
      --annotators ana,ben,cy
  manage.py create_campaign newer-or-older --dataset support@1.1.0 --compare support@1.0.0 \\
      --persona default_v1 --annotators ana,ben,cy

--compare asks which of two replies is better: those of --dataset and of another dataset at the
same turn of the session with the same id. A release is loaded as the dataset NAME-VERSION, unless
it is there. Annotators see them as A and B, in random order, and
aren't told which is which. Equal replies, and replies without a pair, are left out and counted.

Gold items are replies with an adjudicated label, from an earlier campaign or from
import_annotations --adjudicated. Hidden repeats are replies that an annotator has labeled
before. Annotators can't tell either from other replies.

Production data must have been scrubbed and verified; the test split is locked. --override
labels them nevertheless; the audit log keeps the reason.

exit codes:
  0  created and open
  2  could not run: no such dataset, persona or user, nothing to label, data not scrubbed,
     name taken
"""

# Options that are settings of the same name.
_SETTINGS = (
    "name", "overlap", "gold_share", "repeat_share", "order", "tag", "split", "max_replies", "seed",
    "lease_minutes", "max_overlap", "calibration_replies", "calibration_alpha",
)  # fmt: skip


class Command(BaseCommand):
    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="letters, digits, dot, dash and underscore")
        parser.add_argument(
            "--dataset", metavar="NAME", required=True, help="a dataset, or a release: NAME@1.0.0"
        )
        parser.add_argument("--persona", metavar="ID", required=True, help="a persona_id")
        parser.add_argument(
            "--annotators", metavar="USER,…", required=True, help="user names, separated by commas"
        )
        parser.add_argument(
            "--schema",
            metavar="NAME",
            help="what to ask: a schema, or NAME@VERSION (default: whether replies are on-brand)",
        )
        parser.add_argument(
            "--compare",
            metavar="NAME",
            help="ask which reply is better, of this dataset or release, or --dataset",
        )
        _add_overlap_arguments(parser)
        _add_share_arguments(parser)
        _add_selection_arguments(parser)
        parser.add_argument(
            "--calibration-replies",
            type=int,
            metavar="N",
            help="a round of so many replies that all annotators label first (default: none)",
        )
        parser.add_argument(
            "--calibration-alpha",
            type=float,
            metavar="ALPHA",
            help="open the other replies at this agreement (default: when a lead opens them)",
        )
        parser.add_argument("--guidelines", metavar="FILE", help="Markdown that annotators read (-: stdin)")
        parser.add_argument(
            "--lease-minutes",
            type=int,
            default=DEFAULT_LEASE_MINUTES,
            metavar="N",
            help="minutes without activity until a reply goes to another annotator (default: 15)",
        )
        parser.add_argument(
            "--override", metavar="REASON", default="", help="why to label unscrubbed data or the test split"
        )

    def handle(self, *, dataset: str, persona: str, annotators: str, **options: Any) -> None:
        compare = options["compare"]
        settings = CampaignSettings(
            dataset=find_side(dataset, get_dataset, actor=None),
            persona=get_persona(persona),
            annotators=annotators.split(","),
            schema=_find_schema(options),
            other_dataset=find_side(compare, get_dataset, actor=None) if compare else None,
            guidelines=read_text(options["guidelines"]) if options["guidelines"] else "",
            **{name: options[name] for name in _SETTINGS},
        )
        campaign = run_job(
            "create_campaign",
            lambda job: create_campaign(
                settings, override=options["override"], report_progress=job.report_progress
            ),
            make_facts=lambda campaign: {
                "campaign": campaign.pk,
                "replies": campaign.item_count,
                "gold": campaign.gold_count,
            },
            dataset_name=settings.dataset.name,
            parameters=CampaignParameters(
                campaign_name=settings.name, overlap=settings.overlap, order=settings.order
            ),
            progress=Progress("Preparing", "replies"),
        )
        gold = f" ({campaign.gold_count:,} of them gold)" if campaign.gold_count else ""
        self.stdout.write(
            f"{campaign.name} is open: {format_count(campaign.item_count, 'reply', 'replies')}{gold}, "
            f"{format_count(campaign.overlap, 'annotator')} each."
        )
        for sentence in describe_unpaired(campaign.unpaired):
            self.stdout.write(sentence)


def _find_schema(options: dict[str, Any]) -> LabelSchema | None:
    if options["schema"]:
        return get_schema(options["schema"])
    return preference_schema() if options["compare"] else None


def _add_overlap_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--overlap",
        type=int,
        default=DEFAULT_OVERLAP,
        metavar="N",
        help="annotators for each reply (default: 2)",
    )
    parser.add_argument(
        "--max-overlap",
        type=int,
        metavar="N",
        help="ask up to N annotators where those so far differ or are unsure (default: as many of each)",
    )


def _add_share_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--gold-share",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of replies with an adjudicated label: 0 to 0.5 (default: 0)",
    )
    parser.add_argument(
        "--repeat-share",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="share of replies that the annotator has labeled before: 0 to 0.5 (default: 0)",
    )


def _add_selection_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--order",
        choices=[order for order in Campaign.Order.values if order != Campaign.Order.USEFUL],
        default="random",
        help="session: session by session, each read by as few people as possible; "
        "disputed: replies that earlier labels disagree on first (default: random)",
    )
    parser.add_argument("--tag", metavar="TAG", default="", help="only replies with this tag")
    parser.add_argument(
        "--split", metavar="SPLIT", default="", help="only sessions of this split (default: all but test)"
    )
    parser.add_argument(
        "--max-replies", type=int, metavar="N", help="take only so many, in the order (default: all)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help="seed of the order, gold items and repeats (default: 42)",
    )

from typing import Any

from annotations_app.campaigns.create import create_campaign
from annotations_app.campaigns.parameters import CampaignParameters
from annotations_app.campaigns.rows import describe_unpaired
from annotations_app.campaigns.sides import find_side
from annotations_app.criteria.schemas import get_schema, preference_schema
from annotations_app.models import Campaign, LabelSchema
from annotations_app.models.campaign import DEFAULT_LEASE_MINUTES, DEFAULT_OVERLAP, DEFAULT_SEED
from datasets_app.catalog.facts import get_dataset
from datasets_app.catalog.personas import get_persona
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text

# Options that are settings of the same name.
_SETTINGS = (
    "name", "overlap", "gold_share", "repeat_share", "order", "tag", "split", "max_replies", "seed",
    "lease_minutes", "max_overlap", "calibration_replies", "calibration_alpha",
)  # fmt: skip


class Command(BaseCommand):
    help = """Create a campaign in which annotators label the replies of a dataset, and open it.

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
     name taken"""

    arguments = (
        option("name NAME", "letters, digits, dot, dash and underscore"),
        option("--dataset NAME", "a dataset, or a release: NAME@1.0.0", required=True),
        option("--persona ID", "a persona_id", required=True),
        option("--annotators USER,…", "user names, separated by commas", required=True),
        option(
            "--schema NAME", "what to ask: a schema, or NAME@VERSION (default: whether replies are on-brand)"
        ),
        option("--compare NAME", "ask which reply is better, of this dataset or release, or --dataset"),
        option("--overlap N", "annotators for each reply (default: 2)", default=DEFAULT_OVERLAP),
        option(
            "--max-overlap N",
            "ask up to N annotators while more answers may change the result (default: as many of each)",
            type=int,
        ),
        option(
            "--gold-share SHARE",
            "share of replies with an adjudicated label: 0 to 0.5 (default: 0)",
            default=0.0,
        ),
        option(
            "--repeat-share SHARE",
            "share of replies that the annotator has labeled before: 0 to 0.5 (default: 0)",
            default=0.0,
        ),
        option(
            "--order",
            "session: session by session, each read by as few people as possible; "
            "disputed: replies that earlier labels disagree on first (default: random)",
            choices=[order for order in Campaign.Order.values if order != Campaign.Order.USEFUL],
            default="random",
        ),
        option("--tag TAG", "only replies with this tag", default=""),
        option("--split SPLIT", "only sessions of this split (default: all but test)", default=""),
        option("--max-replies N", "take only so many, in the order (default: all)", type=int),
        option("--seed N", "seed of the order, gold items and repeats (default: 42)", default=DEFAULT_SEED),
        option(
            "--calibration-replies N",
            "a round of so many replies that all annotators label first (default: none)",
            type=int,
        ),
        option(
            "--calibration-alpha ALPHA",
            "open the other replies at this agreement (default: when a lead opens them)",
            type=float,
        ),
        option("--guidelines FILE", "Markdown that annotators read (-: stdin)"),
        option(
            "--lease-minutes N",
            "minutes without activity until a reply goes to another annotator (default: 15)",
            default=DEFAULT_LEASE_MINUTES,
        ),
        option("--override REASON", "why to label unscrubbed data or the test split", default=""),
    )

    def handle(self, *, dataset: str, persona: str, annotators: str, **options: Any) -> None:
        compare = options["compare"]
        new = Campaign(
            dataset=find_side(dataset, get_dataset, actor=None),
            persona=get_persona(persona),
            schema=_find_schema(options),
            other_dataset=find_side(compare, get_dataset, actor=None) if compare else None,
            guidelines=read_text(options["guidelines"]) if options["guidelines"] else "",
            **{name: options[name] for name in _SETTINGS},
        )
        campaign = run_job(
            "create_campaign",
            lambda job: create_campaign(
                new, annotators.split(","), override=options["override"], report_progress=job.report_progress
            ),
            dataset_name=new.dataset.name,
            parameters=CampaignParameters.from_options(options, campaign_name=new.name),
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

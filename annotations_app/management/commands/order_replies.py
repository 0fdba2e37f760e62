from typing import Any

from annotations_app.campaigns.members import get_campaign
from annotations_app.estimates.order_replies import order_replies
from datasets_app.command_line.options import option
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Ask annotators of a campaign for the most useful replies next.

Useful are replies on which judges and people differ, or judges among or from themselves, and
those with rare tags. At least a quarter of the labels stays a random sample: with it agreement
and judges are measured. The chance of each reply is recorded, and estimate_quality weighs
labels by it.

The campaign must be in random order, and a judge must have judged it (run_judge). Run the
command again when there are more labels or judges.

examples:
  manage.py order_replies autumn

exit codes:
  0  ordered
  2  could not run: no such campaign, another order, no judge"""

    arguments = (option("campaign CAMPAIGN"),)

    def handle(self, *, campaign: str, **_: Any) -> None:
        left = order_replies(get_campaign(campaign))
        self.stdout.write(f"{format_count(left, 'reply', 'replies')} left, the most useful first.")

import sys
from typing import Any

from annotations_app.campaigns.members import get_campaign
from annotations_app.domain.estimates.alternative import DEFAULT_EPSILON
from annotations_app.domain.estimates.certificates import DEFAULT_THRESHOLD
from annotations_app.estimates.measure import find_runs
from annotations_app.judges.certify import certify_judge, describe_certificate
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Test a judge on labels of the test split: may its verdicts be trusted?

It is certified if both rates, of what people pass that it passes too and of what they fail that
it fails too, are above the threshold with a probability of 95 %. Of one prompt there is one test
for each criterion, and its result is kept: a second try needs a new version of the judge.

The campaign must be of the test split (create_campaign --split test), labeled by people and
judged (run_judge). Replies that the judge didn't judge count in neither rate, and are counted.
If three people or more labeled the same replies, it also says whether the judge may replace one
of them (the alternative annotator test, docs/judges.md); this decides nothing about the certificate.

examples:
  manage.py certify_judge tone-test --judge brand@2
  manage.py certify_judge safety-test --judge strict --criterion refused --threshold 0.9

exit codes:
  0  certified
  1  tested, and not certified
  2  could not run: another split, no labels, tested before"""

    arguments = (
        option("campaign CAMPAIGN"),
        option("--judge NAME", "a judge, or NAME@VERSION", required=True),
        option("--criterion KEY", "needed if several are yes/no", default=""),
        option("--threshold SHARE", "what both rates must reach (default: 0.8)", default=DEFAULT_THRESHOLD),
        option(
            "--epsilon SHARE",
            "may it replace an annotator? by how much it may be worse, for what it saves: 0.1 for crowd "
            "workers, 0.15 for trained people, 0.2 for experts (default: 0.15)",
            default=DEFAULT_EPSILON,
        ),
    )

    def handle(
        self, *, campaign: str, judge: str, criterion: str, threshold: float, epsilon: float, **_: Any
    ) -> None:
        [run] = find_runs(get_campaign(campaign), [judge])
        certificate = certify_judge(run, criterion=criterion, threshold=threshold, epsilon=epsilon)
        self.stdout.write("\n  ".join(describe_certificate(certificate)))
        if not certificate.certified:
            sys.exit(EXIT_FINDINGS)

"""The dataset card: README.md with the front matter that the Hugging Face hub reads."""

from typing import Any

import yaml

from datasets_app.domain.conversations.counts import ConversationCounts
from datasets_app.domain.metadata.licenses import HUB_NAMES, spdx_id
from datasets_app.domain.packages.card_charts import balance_chart, bar_chart, column_chart, interval_chart
from datasets_app.domain.packages.citation import bibtex
from datasets_app.domain.packages.markdown import code, counted, plain, table
from datasets_app.domain.packages.package import JSONL, PARQUET, Package
from datasets_app.domain.packages.pull_request import provenance
from datasets_app.domain.packages.quality_report import checks_text, scrubs_text, sharing_table

_SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
_SHORT = ("1K", "10K", "100K", "1M", "10M", "100M", "1B")
MOST_KEYS = 20


def card(package: Package, charts: dict[str, str]) -> str:
    """README.md; ``charts`` are those of :func:`charts_of`, which stand beside it."""
    sections = [
        f"# {plain(package.title)}" + (f" {package.version}" if package.version else ""),
        plain(package.summary()),
        *(f"> **Note:** {plain(notice)}" for notice in package.notices),
        f"## Structure\n\n{_structure(package)}",
        f"## Fields\n\n{_fields(package.counts)}",
        f"## Splits\n\n{_splits(package)}",
        f"## Where it is from\n\n{provenance(package)}",
        f"## Personal data\n\n{_personal_data(package)}",
        f"## Statistics\n\n{_statistics(package, charts)}",
        f"## Quality\n\n{checks_text(package.checks)}\n\n{sharing_table(package)}",
        f"## Limitations\n\n{_limitations(package)}",
        f"## Licence\n\n{plain(package.licence)}; the text is in [LICENSE](LICENSE).",
        f"## Citation\n\nSee [CITATION.cff](CITATION.cff), or:\n\n```bibtex\n{bibtex(package)}\n```",
    ]
    return f"---\n{_front_matter(package)}---\n\n" + "\n\n".join(sections) + "\n"


# --- front matter ------------------------------------------------------------------------------


def _front_matter(package: Package) -> str:
    known = spdx_id(package.licence)
    stated: dict[str, Any] = {
        "license": HUB_NAMES[known] if known else "other",
        **({} if known else {"license_name": package.licence, "license_link": "LICENSE"}),
        **({"language": [package.language]} if package.language else {}),
        "pretty_name": package.title,
        "size_categories": [size_category(package.counts.turns)],
        "task_categories": ["text-generation", *(["text-classification"] if package.labels else [])],
        "tags": ["conversational", "alignmenter", *(["synthetic"] if package.origin == "synthetic" else [])],
        "configs": [
            {
                "config_name": "default",
                # One piece is called train, as the datasets library calls what is not divided.
                "data_files": [
                    {"split": file.split or "train", "path": file.path} for file in package.of_format(PARQUET)
                ],
            }
        ],
    }
    return str(yaml.safe_dump(stated, sort_keys=False, allow_unicode=True, width=100))


def size_category(rows: int) -> str:
    """In the hub's words: ``n<1K``, ``1K<n<10K`` … ``n>1B``."""
    for number, size in enumerate(_SIZES):
        if rows < size:
            return f"{_SHORT[number - 1]}<n<{_SHORT[number]}" if number else "n<1K"
    return "n>1B"


# --- sections ----------------------------------------------------------------------------------


def _structure(package: Package) -> str:
    rows = [
        [f"`{file.path}`", file.format, f"{file.sessions:,}", f"{file.turns:,}"] for file in package.files
    ]
    parts = [
        "One row is one turn of a conversation; the turns of a session stand together, in order. Each file "
        "is there twice: as JSONL, which Alignmenter reads, and as "
        "Parquet, in which `metadata` and unknown fields (`extra`) are JSON texts.",
        table(["File", "Format", "Sessions", "Turns"], rows),
        '```python\nfrom datasets import load_dataset\n\nturns = load_dataset("path/to/this/folder")\n```',
    ]
    if package.release_files:
        named = ", ".join(f"`{name}`" for name in package.release_files)
        parts.append(
            f"The release’s own papers are {named}: the manifest’s content digest is that of all the "
            "lines, in whatever order and in however many files they stand."
        )
    return "\n\n".join(parts)


def _fields(counts: ConversationCounts) -> str:
    def filled(name: str) -> str:
        return f"{100 * counts.filled[name] / counts.turns:.0f} % of turns" if counts.turns else "–"

    rows = [
        ["`session_id`", "text", "the conversation", "always"],
        ["`turn_index`", "number", "place in it, from 1", "always"],
        ["`role`", "text", "`user` or `assistant`", "always"],
        ["`text`", "text", "what is said", "always"],
        ["`tags`", "list of texts", "for example `scenario:support`", filled("tags")],
        ["`persona_id`", "text", "the persona that answers", filled("persona_id")],
        ["`timestamp`", "text", "ISO 8601", filled("timestamp")],
        ["`metadata`", "object", _keys(counts.metadata_keys), filled("metadata")],
    ]
    rows += [
        [code(name), "unknown", "kept as it came", f"{counted(count, 'turn')}"]
        for name, count in sorted(counts.extra_keys.items())[:MOST_KEYS]
    ]
    return table(["Field", "Kind", "What", "Filled"], rows)


def _keys(keys: dict[str, int]) -> str:
    named = ", ".join(code(name) for name in sorted(keys)[:MOST_KEYS])
    return f"what else is known: {named}" if named else "what else is known"


def _splits(package: Package) -> str:
    if not package.splits:
        return "The data is in one piece and has not been divided; loaders call it `train`."
    rows = [[f"`{file.split}`", f"{file.sessions:,}", f"{file.turns:,}"] for file in package.of_format(JSONL)]
    said = (
        "Whole sessions were divided, near-duplicates kept together. Nothing is to be calibrated, trained or "
        "chosen on the `test` split."
    )
    return f"{table(['Split', 'Sessions', 'Turns'], rows)}\n\n{said}"


def _personal_data(package: Package) -> str:
    done = [f"- {plain(text)}" for text in package.metadata.anonymization]
    return "\n".join([scrubs_text(package), *(["", "What was done to the data:", "", *done] if done else [])])


def _limitations(package: Package) -> str:
    said = []
    if package.origin == "synthetic":
        said.append(
            "The conversations were made up. They are no sample of what people ask, and how often something "
            "occurs in them says nothing about how often it occurs in use."
        )
    else:
        said.append("The conversations are those of some users of some products, and no sample of all.")
    if package.scrubs:
        said.append(
            "Names of people are found by rules and a model, which misses some; values replaced by "
            "placeholders change what a text looks like to a model."
        )
    if not package.language:
        said.append("Their language is not stated.")
    if not package.labels:
        said.append("No reply is labelled.")
    return "\n".join(f"- {text}" for text in said)


# --- statistics --------------------------------------------------------------------------------


def charts_of(package: Package) -> dict[str, str]:
    """Name of the file → SVG, in the order in which the card shows them."""
    counts, drawn = package.counts, {}
    drawn["turns_per_session.svg"] = column_chart(
        "Turns a session", counts.lengths_as_bars(), under="number of turns; sessions above"
    )
    drawn["reply_words.svg"] = column_chart(
        "Length of replies", counts.reply_lengths_as_bars(), under="words in a reply; replies above"
    )
    drawn["scenarios.svg"] = bar_chart("Sessions by scenario", list(counts.scenarios.items()))
    if package.labels and package.labels.by_persona:
        drawn["labels.svg"] = balance_chart("Labels by persona", package.labels.by_persona)
    if package.labels and package.labels.agreement:
        drawn["agreement.svg"] = interval_chart("Agreement of annotators", package.labels.agreement)
    return drawn


def _statistics(package: Package, charts: dict[str, str]) -> str:
    counts = package.counts
    rows = [
        ["Sessions", f"{counts.sessions:,}"],
        ["Turns", f"{counts.turns:,}"],
        ["Turns by users", f"{counts.user_turns:,}"],
        ["Replies of the assistant", f"{counts.assistant_turns:,}"],
        ["Turns a session, mean", f"{counts.mean_turns:.1f}"],
        ["Words in a reply, mean", f"{counts.mean_reply_words:.1f}"],
        ["Personas", ", ".join(code(name) for name in sorted(counts.personas)[:MOST_KEYS])],
    ]
    if package.labels:
        share = 100 * package.labels.on_brand / max(package.labels.labels, 1)
        rows.append(
            ["Labels", f"{package.labels.labels:,} by {counted(package.labels.annotators, 'annotator')}"]
        )
        rows.append(["On-brand", f"{share:.0f} % of labels"])
        rows += [
            [name, _interval(value, low, high, why)]
            for name, value, low, high, why in package.labels.agreement
        ]
    shown = [f"![{_ALT[name]}](charts/{name})" for name in charts]
    return "\n\n".join([table(["", ""], rows), *shown])


_ALT = {
    "turns_per_session.svg": "Sessions by their number of turns",
    "reply_words.svg": "Replies by their number of words",
    "scenarios.svg": "Sessions by scenario",
    "labels.svg": "Off-brand and on-brand labels by persona",
    "agreement.svg": "Agreement of annotators, with intervals",
}


def _interval(value: float | None, low: float | None, high: float | None, why: str) -> str:
    if value is None:
        return plain(why)
    return f"{value:.2f}" + (f" ({low:.2f} to {high:.2f})" if low is not None and high is not None else "")

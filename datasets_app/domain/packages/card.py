"""The dataset card: README.md with the front matter that the Hugging Face hub reads."""

from collections.abc import Sequence
from typing import Any

import yaml

from datasets_app.domain.charts import Bars, Dots, Estimate, make_chart, make_dots
from datasets_app.domain.conversations.counts import ConversationCounts
from datasets_app.domain.labels.on_brand import NO_NAME, YES_NAME
from datasets_app.domain.metadata.licenses import HUB_NAMES, find_spdx_id
from datasets_app.domain.packages.card_charts import MAX_BARS, draw_bars, draw_dots
from datasets_app.domain.packages.citation import render_bibtex
from datasets_app.domain.packages.markdown import escape_markdown, format_code, format_table
from datasets_app.domain.packages.package import JSONL, PARQUET, LabelFile, Package
from datasets_app.domain.packages.pull_request import render_provenance
from datasets_app.domain.packages.quality_report import (
    render_checks,
    render_quality,
    render_scrubs,
    render_sharing_table,
)
from datasets_app.domain.wording import format_count

_SIZE_LIMITS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
_SIZE_NAMES = ("1K", "10K", "100K", "1M", "10M", "100M", "1B")
MAX_KEYS_SHOWN = 20


def render_card(package: Package, charts: dict[str, str]) -> str:
    """README.md; ``charts`` are those of :func:`render_charts`, saved next to it."""
    sections = [
        f"# {escape_markdown(package.title)}" + (f" {package.version}" if package.version else ""),
        escape_markdown(package.summary()),
        *(f"> **Note:** {escape_markdown(notice)}" for notice in package.notices),
        f"## Structure\n\n{_render_structure(package)}",
        f"## Fields\n\n{_render_fields(package.counts)}",
        f"## Splits\n\n{_render_splits(package)}",
        f"## Where it is from\n\n{render_provenance(package)}",
        f"## Personal data\n\n{_render_personal_data(package)}",
        f"## Statistics\n\n{_render_statistics(package, charts)}",
        f"## Quality\n\n{render_checks(package)}\n\n{render_sharing_table(package)}",
        *([f"## Judges and rates\n\n{render_quality(package)}"] if package.quality else []),
        f"## Limitations\n\n{_render_limitations(package)}",
        f"## License\n\n{escape_markdown(package.license)}; the text is in [LICENSE](LICENSE).",
        f"## Citation\n\nSee [CITATION.cff](CITATION.cff), or:\n\n```bibtex\n{render_bibtex(package)}\n```",
    ]
    return f"---\n{_render_front_matter(package)}---\n\n" + "\n\n".join(sections) + "\n"


# --- front matter ------------------------------------------------------------------------------


def _render_front_matter(package: Package) -> str:
    known = find_spdx_id(package.license)
    stated: dict[str, Any] = {
        "license": HUB_NAMES[known] if known else "other",
        **({} if known else {"license_name": package.license, "license_link": "LICENSE"}),
        **({"language": [package.language]} if package.language else {}),
        "pretty_name": package.title,
        "size_categories": [get_size_category(package.counts.turns)],
        "task_categories": ["text-generation", *(["text-classification"] if package.labels else [])],
        "tags": ["conversational", "alignmenter", *(["synthetic"] if package.origin == "synthetic" else [])],
        "configs": [
            {
                "config_name": "default",
                # An undivided dataset is "train", as in the datasets library.
                "data_files": [
                    {"split": file.split or "train", "path": file.path} for file in package.get_files(PARQUET)
                ],
            }
        ],
    }
    return str(yaml.safe_dump(stated, sort_keys=False, allow_unicode=True, width=100))


def get_size_category(rows: int) -> str:
    """The hub's size category: ``n<1K``, ``1K<n<10K`` … ``n>1B``."""
    for number, size in enumerate(_SIZE_LIMITS):
        if rows < size:
            return f"{_SIZE_NAMES[number - 1]}<n<{_SIZE_NAMES[number]}" if number else "n<1K"
    return "n>1B"


# --- sections ----------------------------------------------------------------------------------


def _render_structure(package: Package) -> str:
    rows = [
        [f"`{file.path}`", file.format, f"{file.sessions:,}", f"{file.turns:,}"] for file in package.files
    ]
    parts = [
        "One row is one turn of a conversation; the turns of a session stand together, in order. Each file "
        "is there twice: as JSONL, which Alignmenter reads, and as "
        "Parquet, in which `metadata` and unknown fields (`extra`) are JSON texts.",
        format_table(["File", "Format", "Sessions", "Turns"], rows),
        '```python\nfrom datasets import load_dataset\n\nturns = load_dataset("path/to/this/folder")\n```',
    ]
    parts += _describe_label_files([file for file in package.label_files if not file.schema])
    parts += _describe_answer_files([file for file in package.label_files if file.schema])
    if package.release_files:
        named = ", ".join(f"`{name}`" for name in package.release_files)
        parts.append(
            f"The release documents are {named}. The manifest’s content digest covers all lines, "
            "regardless of their order or the number of files."
        )
    return "\n\n".join(parts)


def _describe_label_files(files: Sequence[LabelFile]) -> list[str]:
    if not files:
        return []
    rows = [[f"`{file.path}`", format_code(file.persona), f"{file.labels:,}"] for file in files]
    return [
        "Labels are one line each: the reply, 1 (on-brand) or 0 (off-brand), and the annotator, under a "
        "pseudonym. `session_id` and `turn_index` name the turn.",
        format_table(["File", "Persona", "Labels"], rows),
    ]


def _describe_answer_files(files: Sequence[LabelFile]) -> list[str]:
    if not files:
        return []
    rows = [
        [f"`{file.path}`", format_code(file.persona), f"`{file.schema}`", f"{file.labels:,}"]
        for file in files
    ]
    return [
        "Other labels answer the criteria of a schema, one line for each answer: `criterion`, `value` and "
        "`schema`. `labels/NAME@VERSION.yaml` says what the criteria ask.",
        format_table(["File", "Persona", "Schema", "Labels"], rows),
    ]


def _render_fields(counts: ConversationCounts) -> str:
    def format_share(name: str) -> str:
        return f"{100 * counts.filled_counts[name] / counts.turns:.0f} % of turns" if counts.turns else "–"

    rows = [
        ["`session_id`", "text", "the conversation", "always"],
        ["`turn_index`", "number", "place in it, from 1", "always"],
        ["`role`", "text", "`user` or `assistant`", "always"],
        ["`text`", "text", "what is said", "always"],
        ["`tags`", "list of texts", "for example `scenario:support`", format_share("tags")],
        ["`persona_id`", "text", "the persona that answers", format_share("persona_id")],
        ["`timestamp`", "text", "ISO 8601", format_share("timestamp")],
        ["`metadata`", "object", _describe_keys(counts.metadata_keys), format_share("metadata")],
    ]
    rows += [
        [format_code(name), "unknown", "kept as it came", f"{format_count(count, 'turn')}"]
        for name, count in sorted(counts.extra_keys.items())[:MAX_KEYS_SHOWN]
    ]
    return format_table(["Field", "Kind", "What", "Filled"], rows)


def _describe_keys(keys: dict[str, int]) -> str:
    named = ", ".join(format_code(name) for name in sorted(keys)[:MAX_KEYS_SHOWN])
    return f"what else is known: {named}" if named else "what else is known"


def _render_splits(package: Package) -> str:
    if not package.splits:
        return "The data is in one piece and has not been divided; loaders call it `train`."
    rows = [[f"`{file.split}`", f"{file.sessions:,}", f"{file.turns:,}"] for file in package.get_files(JSONL)]
    said = (
        "Whole sessions were divided, near-duplicates kept together. Nothing is to be calibrated, trained or "
        "chosen on the `test` split."
    )
    return f"{format_table(['Split', 'Sessions', 'Turns'], rows)}\n\n{said}"


def _render_personal_data(package: Package) -> str:
    done = [f"- {escape_markdown(text)}" for text in package.metadata.anonymization]
    return "\n".join(
        [render_scrubs(package), *(["", "What was done to the data:", "", *done] if done else [])]
    )


def _render_limitations(package: Package) -> str:
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
        said.append("No reply is labeled.")
    return "\n".join(f"- {text}" for text in said)


# --- statistics --------------------------------------------------------------------------------


def render_charts(package: Package) -> dict[str, str]:
    """File name → SVG, in the order of the card."""
    counts, drawn = package.counts, {}
    drawn["turns_per_session.svg"] = _draw_counts("Turns per session", counts.build_session_length_bars())
    drawn["reply_words.svg"] = _draw_counts("Words of a reply", counts.build_reply_length_bars())
    scenarios = sorted(counts.scenarios.items(), key=lambda each: (-each[1], each[0]))
    drawn["scenarios.svg"] = _draw_counts("Sessions by scenario", scenarios)
    if package.labels and package.labels.by_persona:
        bars = [Bars(name, (on, off), total=on + off) for name, off, on in package.labels.by_persona]
        drawn["labels.svg"] = draw_bars(
            make_chart("Labels by persona", "Persona", bars[:MAX_BARS], series=[YES_NAME, NO_NAME])
        )
    if package.labels and package.labels.agreement:
        dots = [
            Dots(name, [Estimate(value, low, high, note)], 0)
            for name, value, low, high, note in package.labels.agreement
        ]
        title = "Agreement of annotators"
        drawn["agreement.svg"] = draw_dots(
            make_dots(title, "Statistic", dots, series=["Value"], unit="n", low_end=-1.0)
        )
    return drawn


def _draw_counts(title: str, counts: Sequence[tuple[str, int]]) -> str:
    bars = [Bars(name, [count]) for name, count in counts]
    total, left_out = sum(count for _, count in counts), max(0, len(bars) - MAX_BARS)
    return draw_bars(
        make_chart(title, "", bars[:MAX_BARS], series=["Count"], totals=[total], left_out=left_out)
    )


def _render_statistics(package: Package, charts: dict[str, str]) -> str:
    counts = package.counts
    rows = [
        ["Sessions", f"{counts.sessions:,}"],
        ["Turns", f"{counts.turns:,}"],
        ["Turns by users", f"{counts.user_turns:,}"],
        ["Replies of the assistant", f"{counts.assistant_turns:,}"],
        ["Turns a session, mean", f"{counts.mean_turns:.1f}"],
        ["Words in a reply, mean", f"{counts.mean_reply_words:.1f}"],
        ["Personas", ", ".join(format_code(name) for name in sorted(counts.personas)[:MAX_KEYS_SHOWN])],
    ]
    if package.labels:
        share = 100 * package.labels.on_brand / max(package.labels.labels, 1)
        rows.append(
            ["Labels", f"{package.labels.labels:,} by {format_count(package.labels.annotators, 'annotator')}"]
        )
        rows.append([YES_NAME, f"{share:.0f} % of labels"])
        rows += [
            [name, _format_interval(value, low, high, why)]
            for name, value, low, high, why in package.labels.agreement
        ]
    shown = [f"![{_CHART_ALT_TEXTS[name]}](charts/{name})" for name in charts]
    return "\n\n".join([format_table(["", ""], rows), *shown])


_CHART_ALT_TEXTS = {
    "turns_per_session.svg": "Sessions by their number of turns",
    "reply_words.svg": "Replies by their number of words",
    "scenarios.svg": "Sessions by scenario",
    "labels.svg": "Off-brand and on-brand labels by persona",
    "agreement.svg": "Agreement of annotators, with intervals",
}


def _format_interval(value: float | None, low: float | None, high: float | None, reason: str) -> str:
    if value is None:
        return escape_markdown(reason)
    return f"{value:.2f}" + (f" ({low:.2f} to {high:.2f})" if low is not None and high is not None else "")

"""The text with which a dataset is proposed to a repository: what reviewers ask for, already answered."""

from datasets_app.domain.packages.markdown import code, counted, plain
from datasets_app.domain.packages.package import Package
from datasets_app.domain.packages.quality_report import checks_text, scrubs_text, sharing_table

MOST_SCENARIOS = 20


def pull_request(package: Package) -> str:
    version = f" {package.version}" if package.version else ""
    counts = package.counts
    files = "\n".join(f"- `{file.path}` ({counted(file.turns, 'turn')})" for file in package.files)
    return f"""# Add dataset {plain(package.name)}{version}

## Purpose

{package.summary()}

## Size

- Sessions: {counts.sessions:,}
- Turns: {counts.turns:,} ({counts.user_turns:,} by users, {counts.assistant_turns:,} by the assistant)

{files}

## Scenarios

{_scenarios(package)}

## Provenance

{provenance(package)}

## Licence

{plain(package.licence)}; the text is in `LICENSE`.

## Personal data

{scrubs_text(package)}

## Checks

{checks_text(package.checks)}

## Before sharing

{sharing_table(package)}
"""


def _scenarios(package: Package) -> str:
    named = package.counts.scenarios.most_common()
    ordered = sorted(named, key=lambda item: (-item[1], item[0]))
    lines = [f"- {code(name)}: {counted(count, 'session')}" for name, count in ordered[:MOST_SCENARIOS]]
    if more := len(ordered) - MOST_SCENARIOS:
        lines += [f"- and {more:,} more"] if more > 0 else []
    return "\n".join(lines)


def provenance(package: Package) -> str:
    """Where the conversations are from, and what was done to them, as a list."""
    stated = package.metadata
    said = [
        ("Origin", package.origin),
        ("Source", stated.source),
        ("Attribution", stated.attribution),
        ("Generator", stated.generator),
        ("Model", stated.model),
        ("Seed", None if stated.seed is None else str(stated.seed)),
        ("Temperature", None if stated.temperature is None else f"{stated.temperature:g}"),
        ("Created", stated.created),
    ]
    lines = [f"- {name}: {plain(value)}" for name, value in said if value]
    lines += [f"- Modified: {plain(text)}" for text in stated.modifications]
    return "\n".join(lines)

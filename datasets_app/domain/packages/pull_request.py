"""Renders the pull request text of a dataset, with the answers that reviewers need."""

from datasets_app.domain.packages.markdown import escape_markdown, format_code
from datasets_app.domain.packages.package import Package
from datasets_app.domain.packages.quality_report import render_checks, render_scrubs, render_sharing_table
from datasets_app.domain.wording import format_count

MAX_SCENARIOS = 20


def render_pull_request(package: Package) -> str:
    version = f" {package.version}" if package.version else ""
    counts = package.counts
    files = "\n".join(f"- `{file.path}` ({format_count(file.turns, 'turn')})" for file in package.files)
    return f"""# Add dataset {escape_markdown(package.name)}{version}

## Purpose

{package.summary()}

## Size

- Sessions: {counts.sessions:,}
- Turns: {counts.turns:,} ({counts.user_turns:,} by users, {counts.assistant_turns:,} by the assistant)

{files}

## Scenarios

{_list_scenarios(package)}

## Provenance

{render_provenance(package)}

## License

{escape_markdown(package.license)}; the text is in `LICENSE`.

## Personal data

{render_scrubs(package)}

## Checks

{render_checks(package)}

## Sharing checklist

{render_sharing_table(package)}
"""


def _list_scenarios(package: Package) -> str:
    named = package.counts.scenarios.most_common()
    ordered = sorted(named, key=lambda item: (-item[1], item[0]))
    lines = [
        f"- {format_code(name)}: {format_count(count, 'session')}" for name, count in ordered[:MAX_SCENARIOS]
    ]
    if len(ordered) > MAX_SCENARIOS:
        lines.append(f"- and {len(ordered) - MAX_SCENARIOS:,} more")
    return "\n".join(lines)


def render_provenance(package: Package) -> str:
    """The origin of the conversations and their changes, as a list."""
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
    lines = [f"- {name}: {escape_markdown(value)}" for name, value in said if value]
    lines += [f"- Modified: {escape_markdown(text)}" for text in stated.modifications]
    return "\n".join(lines)

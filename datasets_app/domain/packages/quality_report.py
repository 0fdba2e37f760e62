"""Renders the quality report of a release: checks, scrubs and the sharing checklist."""

from datasets_app.domain.packages.markdown import escape_markdown, format_table
from datasets_app.domain.packages.package import Package, ScrubSummary
from datasets_app.domain.packages.quality_statement import describe_certificate, describe_estimate
from datasets_app.domain.wording import format_count

ANSWER_SYMBOLS = {"yes": "✓", "no": "✗"}


def render_quality_report(package: Package) -> str:
    version = f" {package.version}" if package.version else ""
    return "\n\n".join(
        [
            f"# Quality of {escape_markdown(package.name)}{version}",
            f"{format_count(package.counts.sessions, 'session')}, "
            f"{format_count(package.counts.turns, 'turn')}; "
            f"{package.day}.",
            "## Checks",
            render_checks(package),
            "## Personal data",
            render_scrubs(package),
            *([f"## Judges and rates\n\n{render_quality(package)}"] if package.quality else []),
            "## Sharing checklist",
            render_sharing_table(package),
            "## Files",
            format_table(
                ["File", "Sessions", "Turns", "Bytes", "SHA-256"],
                [
                    [f"`{f.path}`", f"{f.sessions:,}", f"{f.turns:,}", f"{f.size:,}", f"`{f.sha256}`"]
                    for f in package.files
                ],
            ),
        ]
    ) + ("\n")


def render_checks(package: Package) -> str:
    checks = package.checks
    if checks is None and package.checks_outdated:
        return "The checks are out of date: the data was scrubbed since."
    if checks is None:
        return "The checks have not been run on this data."
    errors, warnings = format_count(checks.errors, "error"), format_count(checks.warnings, "warning")
    looked_at = f"{format_count(checks.turns, 'turn')} {'was' if checks.turns == 1 else 'were'} checked"
    said = f"{looked_at}: {errors}, {warnings}."
    if not checks.totals:
        return said
    rows = [[code, f"{count:,}"] for code, count in sorted(checks.totals.items())]
    return f"{said}\n\n{format_table(['Code', 'Findings'], rows)}"


def render_scrubs(package: Package) -> str:
    """What is known about the text, and the scrubs it went through."""
    state = f"{escape_markdown(package.text_state)}\n\n" if package.text_state else ""
    if package.scrubs:
        return state + "\n".join(map(_render_scrub, package.scrubs))
    if package.origin == "synthetic":
        return f"{state}The conversations are synthetic: nobody in them exists. They were not scrubbed."
    return f"{state}The conversations were not scrubbed here."


def _render_scrub(scrub: ScrubSummary) -> str:
    found = ", ".join(
        f"{escape_markdown(kind)} {count:,}" for kind, count in sorted(scrub.totals.items()) if count
    )
    return (
        f"- {scrub.day}: {escape_markdown('; '.join(scrub.done))}. Replaced: {found or 'nothing was found'}. "
        f"Verified by looking at {format_count(scrub.turns, 'turn')} again."
    )


def render_quality(package: Package) -> str:
    """What judges may be trusted with, and how good the assistant is."""
    stated = package.quality
    lines = [" ".join(describe_certificate(one)) + f" Tested on {one.day}." for one in stated.certificates]
    lines += [f"{describe_estimate(one)} (campaign {one.campaign})" for one in stated.estimates]
    if stated.left_out:
        lines.append(f"{stated.left_out:,} earlier tests and campaigns aren't listed.")
    return "\n".join(f"- {escape_markdown(line)}" for line in lines)


def render_sharing_table(package: Package) -> str:
    rows = [
        [
            ANSWER_SYMBOLS.get(item.answer, "–"),
            escape_markdown(item.title),
            escape_markdown(item.answer),
            escape_markdown(item.reason),
        ]
        for item in package.sharing
    ]
    return format_table(["", "Requirement", "Answer", "Why"], rows)

"""What is known of a dataset's quality when it is handed over, for people: checks, scrubs, the list."""

from datasets_app.domain.packages.markdown import counted, plain, table
from datasets_app.domain.packages.package import CheckFacts, Package, ScrubFacts

MARKS = {"yes": "✓", "no": "✗"}


def quality_report(package: Package) -> str:
    version = f" {package.version}" if package.version else ""
    return "\n\n".join(
        [
            f"# Quality of {plain(package.name)}{version}",
            f"{counted(package.counts.sessions, 'session')}, {counted(package.counts.turns, 'turn')}; "
            f"{package.day}.",
            "## Checks",
            checks_text(package.checks),
            "## Personal data",
            scrubs_text(package),
            "## Before sharing",
            sharing_table(package),
            "## Files",
            table(
                ["File", "Sessions", "Turns", "Bytes", "SHA-256"],
                [
                    [f"`{f.path}`", f"{f.sessions:,}", f"{f.turns:,}", f"{f.size:,}", f"`{f.sha256}`"]
                    for f in package.files
                ],
            ),
        ]
    ) + ("\n")


def checks_text(checks: CheckFacts | None) -> str:
    if checks is None:
        return "The checks have not been run on this data."
    errors, warnings = counted(checks.errors, "error"), counted(checks.warnings, "warning")
    looked_at = f"{counted(checks.turns, 'turn')} {'was' if checks.turns == 1 else 'were'} checked"
    said = f"{looked_at}: {errors}, {warnings}."
    if not checks.totals:
        return said
    rows = [[code, f"{count:,}"] for code, count in sorted(checks.totals.items())]
    return f"{said}\n\n{table(['Code', 'Findings'], rows)}"


def scrubs_text(package: Package) -> str:
    if not package.scrubs:
        if package.origin == "synthetic":
            return "The conversations are synthetic: nobody in them exists. They were not scrubbed."
        return "The conversations were not scrubbed here."
    return "\n".join(_scrub(scrub) for scrub in package.scrubs)


def _scrub(scrub: ScrubFacts) -> str:
    found = ", ".join(f"{plain(kind)} {count:,}" for kind, count in sorted(scrub.totals.items()) if count)
    return (
        f"- {scrub.day}: {plain('; '.join(scrub.done))}. Replaced: {found or 'nothing was found'}. "
        f"Verified by looking at {counted(scrub.turns, 'turn')} again."
    )


def sharing_table(package: Package) -> str:
    rows = [
        [MARKS.get(item.answer, "–"), plain(item.title), plain(item.answer), plain(item.reason)]
        for item in package.sharing
    ]
    return table(["", "What must hold", "Answer", "Why"], rows)

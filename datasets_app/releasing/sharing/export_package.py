"""A dataset with all that whoever receives it would have to ask for: one folder, or one zip file.

The same version gives the same bytes: the only date in it is that of the release.
"""

import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.db import transaction

from datasets_app.catalog import facts, policies
from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.core import audit
from datasets_app.core.atomic_files import replacing
from datasets_app.core.errors import Refused
from datasets_app.core.progress import ProgressCallback, ignore
from datasets_app.domain.conversations.reading import file_sha256
from datasets_app.domain.metadata.licenses import licence_text
from datasets_app.domain.metadata.metadata import metadata_path, render_metadata
from datasets_app.domain.packages.card import card, charts_of
from datasets_app.domain.packages.citation import bibtex, citation_cff
from datasets_app.domain.packages.croissant import croissant
from datasets_app.domain.packages.package import JSONL, Package, as_json
from datasets_app.domain.packages.pull_request import pull_request
from datasets_app.domain.packages.quality_report import quality_report
from datasets_app.exporting.export_dataset import left_out
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import files as release_files
from datasets_app.releasing.sharing.export_release import release_of, stored_blocks
from datasets_app.releasing.sharing.package_data import FOLDER, WrittenData, write_dataset, write_release
from datasets_app.releasing.sharing.package_facts import facts_of_dataset, facts_of_release

CHARTS = "charts"
# The earliest day that a zip file can hold: what is packed has no time of its own.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16


class Packaged(NamedTuple):
    """``sha256`` is that of the zip file, None for a folder; ``notices`` are sentences for whoever asked."""

    sessions: int
    turns: int
    files: int
    size: int
    sha256: str | None
    notices: list[str]


def package_name(dataset: Dataset, version: str = "") -> str:
    """What a package is called if nobody says: ``support_v1.2.0``."""
    return f"{dataset.name}_v{version.removeprefix('v')}" if version else f"{dataset.name}_package"


def export_package(
    dataset: Dataset,
    out: Path,
    *,
    version: str = "",
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore,
) -> Packaged:
    """Write the package of a release, or of the dataset as it stands, to ``out``: a folder that is not there
    yet or empty, or a file if the name ends in .zip. It stands complete in the end, or not at all.

    Production data must have been scrubbed, or ``override`` be a reason why not; a release went through the
    gates when it was made.
    """
    release = release_of(dataset, version) if version else None
    _refuse_occupied(out)
    with _work_folder(out) as work, transaction.atomic():
        folder = work / "package"
        for place in (folder, folder / FOLDER, folder / CHARTS):
            place.mkdir()
        if release is not None:
            package = facts_of_release(release, write_release(release, folder, work, report_progress))
        else:
            written = _as_it_stands(dataset, folder, override, actor, report_progress)
            package = facts_of_dataset(dataset, written)
        _write_papers(package, folder)
        if release is not None:
            _write_release_papers(release, folder)
        result = _packaged(package, folder, out)
        _record(dataset, release, result, package, actor)
        _put_in_place(folder, out)
    return result


def _as_it_stands(
    dataset: Dataset, folder: Path, override: str, actor: Any, report_progress: ProgressCallback
) -> WrittenData:
    # Nothing is imported, split or erased until the package is done.
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    policies.require_scrubbed(dataset, "export", actor=actor, override=override)
    if not dataset.turn_count:
        raise Refused(f"{dataset.name} holds no sessions; there is nothing to package.")
    return write_dataset(dataset, folder, report_progress)


def _write_papers(package: Package, folder: Path) -> None:
    charts = charts_of(package)
    texts = {
        "README.md": card(package, charts),
        "CHANGELOG.md": package.changelog,
        "LICENSE": licence_text(package.licence, holder=package.author, year=package.day[:4]),
        "CITATION.cff": citation_cff(package),
        "PULL_REQUEST.md": pull_request(package),
        "croissant.json": _json(croissant(package, cite_as=bibtex(package))),
        "quality_report.json": _json(as_json(package)),
        "quality_report.md": quality_report(package),
        f"{package.name}.meta.yaml": render_metadata(package.metadata),
        **{f"{CHARTS}/{name}": drawing for name, drawing in charts.items()},
    }
    for file in package.of_format(JSONL):
        # Each file can be imported by itself, with its facts.
        whole = package.metadata
        stated = replace(
            facts.of_a_part(whole) if file.split else whole,
            total_sessions=file.sessions,
            total_turns=file.turns,
            sha256=file.sha256,
            modifications=[
                *whole.modifications,
                *left_out(Selection(split=file.split)),
            ],
        )
        texts[metadata_path(Path(file.path)).as_posix()] = render_metadata(stated)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _write_release_papers(release: Release, folder: Path) -> None:
    """The manifest and the signature, as they were stored."""
    for kind in (ReleaseFile.Kind.MANIFEST, ReleaseFile.Kind.SIGNATURE):
        stored = release_files.file_of(release, kind)
        with (folder / stored.name).open("wb") as out:
            out.writelines(stored_blocks(stored))


def _record(
    dataset: Dataset, release: Release | None, result: Packaged, package: Package, actor: Any
) -> None:
    audit.record(
        "export",
        actor=actor,
        dataset_name=dataset.name,
        format="package",
        sessions=result.sessions,
        turns=result.turns,
        files={file.path: file.sha256 for file in package.files},
        **({"release": release.version} if release else {}),
        **({"sha256": result.sha256} if result.sha256 else {}),
    )


# --- a folder, or a zip file ---------------------------------------------------------------------


def is_zip(out: Path) -> bool:
    return out.suffix.lower() == ".zip"


def _refuse_occupied(out: Path) -> None:
    if not out.parent.is_dir():
        raise Refused(f"{out} can't be written: there is no folder {out.parent}.")
    if is_zip(out):
        if out.is_dir():
            raise Refused(f"{out} can't be written: it is a folder.")
        return
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise Refused(f"{out} is a file; name a folder that is not there yet, or a name ending in .zip.")
    if out.is_dir() and any(out.iterdir()):
        raise Refused(f"{out} is not empty; name a folder that is not there yet, or empty it first.")


@contextmanager
def _work_folder(out: Path) -> Iterator[Path]:
    """A private folder beside ``out``, on the same disk; gone in the end."""
    try:
        with tempfile.TemporaryDirectory(prefix=f".{out.name[:100]}.", dir=out.parent) as work:
            yield Path(work)
    except OSError as error:
        raise Refused(f"{out} can't be written: {error.strerror or error}.") from None


def _packaged(package: Package, folder: Path, out: Path) -> Packaged:
    """Counts what stands in ``folder``; packs it, if it is to be packed, into a file beside it."""
    files = _files_in(folder)
    size, sha256 = sum(path.stat().st_size for path in files), None
    if is_zip(out):
        packed = folder.with_suffix(".zip")
        with packed.open("wb") as target:
            _pack(folder, files, package.name, target)
        size, sha256 = packed.stat().st_size, file_sha256(packed)
    counts = package.counts
    return Packaged(counts.sessions, counts.turns, len(files), size, sha256, list(package.notices))


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _pack(folder: Path, files: list[Path], name: str, target: IO[bytes]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in files:
            entry = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}", _NO_TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _READABLE
            # Whatever machine it is packed on.
            entry.create_system = 3
            with path.open("rb") as content, archive.open(entry, "w", force_zip64=True) as inside:
                shutil.copyfileobj(content, inside, 1 << 20)


def _put_in_place(folder: Path, out: Path) -> None:
    if is_zip(out):
        with folder.with_suffix(".zip").open("rb") as packed, replacing(out.resolve()) as target:
            shutil.copyfileobj(packed, target, 1 << 20)
        return
    if out.exists():
        out.rmdir()
    # Like any export: whoever made it decides who else may read it.
    folder.chmod(0o700)
    folder.rename(out)

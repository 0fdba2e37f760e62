"""Exports a package: a dataset with everything that its recipients need, as a folder or a zip file.

The same version gives the same bytes: its only date is that of the release.
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

from datasets_app import hooks
from datasets_app.catalog import facts, policies, text_gates
from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.core import audit
from datasets_app.core.atomic_files import write_atomically
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.reading import hash_file
from datasets_app.domain.metadata.licenses import render_license_text
from datasets_app.domain.metadata.metadata import metadata_path, render_metadata
from datasets_app.domain.packages.card import render_card, render_charts
from datasets_app.domain.packages.citation import render_bibtex, render_citation_cff
from datasets_app.domain.packages.croissant import build_croissant
from datasets_app.domain.packages.package import JSONL, Package, build_quality_json
from datasets_app.domain.packages.pull_request import render_pull_request
from datasets_app.domain.packages.quality_report import render_quality_report
from datasets_app.exporting.export_dataset import selection_notes
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import files as release_files
from datasets_app.releasing.sharing.package_data import (
    DATA_FOLDER,
    WrittenData,
    write_dataset_files,
    write_release_files,
)
from datasets_app.releasing.sharing.package_facts import gather_dataset_facts, gather_release_facts
from datasets_app.releasing.sharing.share_gate import check_package
from datasets_app.releasing.versions import get_stored_release

CHARTS_FOLDER = "charts"
# The earliest date that a zip file can hold: its entries have no times of their own.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_ZIP_FILE_MODE = 0o644 << 16


class PackageResult(NamedTuple):
    """``sha256`` is that of the zip file, None for a folder; ``notices`` are sentences for people."""

    sessions: int
    turns: int
    files: int
    size: int
    sha256: str | None
    notices: list[str]

    def facts(self) -> dict[str, Any]:
        """For the row of a job."""
        counts = {key: getattr(self, key) for key in ("sessions", "turns", "size", "sha256")}
        return {**counts, "packed_files": self.files, **({"notes": self.notices} if self.notices else {})}


def package_name(dataset: Dataset, version: str = "") -> str:
    """The default name of a package: ``support_v1.2.0``."""
    return f"{dataset.name}_v{version.removeprefix('v')}" if version else f"{dataset.name}_package"


def export_package(
    dataset: Dataset,
    out: Path,
    *,
    version: str = "",
    labels: bool = True,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> PackageResult:
    """Write the package of a release, or of the current dataset, to ``out``: a new or empty folder, or a file
    if the name ends in .zip; completely or not at all. Raises UserError.

    ``override`` is the reason to package raw text, or data without a complete sharing checklist. A release
    passed the gates when it was created, but needs that checklist as well. ``labels``: with those that there
    are.
    """
    release = get_stored_release(dataset, version) if version else None
    _refuse_occupied(out)
    with _work_folder(out) as work, transaction.atomic():
        if release is not None:
            check_package(dataset, release, actor=actor, override=override)
        folder = work / "package"
        for place in (folder, folder / DATA_FOLDER, folder / CHARTS_FOLDER):
            place.mkdir()
        if release is not None:
            package = gather_release_facts(
                release, write_release_files(release, folder, work, report_progress)
            )
        else:
            written = _write_current_data(dataset, folder, override, actor, report_progress)
            package = gather_dataset_facts(dataset, written)
        if labels:
            package = _add_labels(package, dataset, folder, actor, override)
        _write_documents(package, folder)
        if release is not None:
            _copy_release_documents(release, folder)
        result = _finish_package(package, folder, out)
        _record_export(dataset, release, result, package, actor)
        _move_into_place(folder, out)
    return result


def _write_current_data(
    dataset: Dataset, folder: Path, override: str, actor: Any, report_progress: ProgressCallback
) -> WrittenData:
    # No import, split or erasure until the package is done.
    dataset = facts.lock_dataset(dataset.pk)
    text_gates.check_gate(policies.EXPORT, dataset, actor=actor, override=override)
    check_package(dataset, None, actor=actor, override=override)
    if not dataset.turn_count:
        raise UserError(f"{dataset.name} has no sessions; there is nothing to package.")
    return write_dataset_files(dataset, folder, report_progress)


def _add_labels(package: Package, dataset: Dataset, folder: Path, actor: Any, override: str) -> Package:
    data = [folder / file.path for file in package.get_files(JSONL)]
    files, notices = hooks.labels.write_label_files(dataset, folder, data, actor, override)
    return replace(package, label_files=files, notices=[*package.notices, *notices])


def _write_documents(package: Package, folder: Path) -> None:
    charts = render_charts(package)
    texts = {
        "README.md": render_card(package, charts),
        "CHANGELOG.md": package.changelog,
        "LICENSE": render_license_text(package.license, holder=package.author, year=package.day[:4]),
        "CITATION.cff": render_citation_cff(package),
        "PULL_REQUEST.md": render_pull_request(package),
        "croissant.json": _encode_json(build_croissant(package, cite_as=render_bibtex(package))),
        "quality_report.json": _encode_json(build_quality_json(package)),
        "quality_report.md": render_quality_report(package),
        f"{package.name}.meta.yaml": render_metadata(package.metadata),
        **{f"{CHARTS_FOLDER}/{name}": drawing for name, drawing in charts.items()},
    }
    for file in package.get_files(JSONL):
        # Each file can be imported by itself, with its metadata.
        whole = package.metadata
        stated = replace(
            facts.subset_metadata(whole) if file.split else whole,
            total_sessions=file.sessions,
            total_turns=file.turns,
            sha256=file.sha256,
            modifications=[*whole.modifications, *selection_notes(Selection(split=file.split))],
        )
        texts[metadata_path(Path(file.path)).as_posix()] = render_metadata(stated)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _encode_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _copy_release_documents(release: Release, folder: Path) -> None:
    """Copy the manifest and the signature, unchanged."""
    for kind in (ReleaseFile.Kind.MANIFEST, ReleaseFile.Kind.SIGNATURE):
        stored = release_files.get_file(release, kind)
        with (folder / stored.name).open("wb") as out:
            out.writelines(release_files.read_verified_blocks(stored))


def _record_export(
    dataset: Dataset, release: Release | None, result: PackageResult, package: Package, actor: Any
) -> None:
    audit.record(
        "export",
        actor=actor,
        dataset_name=dataset.name,
        format="package",
        sessions=result.sessions,
        turns=result.turns,
        files={
            **{file.path: file.sha256 for file in package.files},
            **{file.path: file.sha256 for file in package.label_files},
        },
        **({"release": release.version} if release else {}),
        **({"sha256": result.sha256} if result.sha256 else {}),
    )


# --- a folder, or a zip file ---------------------------------------------------------------------


def is_zip(out: Path) -> bool:
    return out.suffix.lower() == ".zip"


def _refuse_occupied(out: Path) -> None:
    if not out.parent.is_dir():
        raise UserError(f"{out} can't be written: the folder {out.parent} doesn't exist.")
    if is_zip(out):
        if out.is_dir():
            raise UserError(f"{out} can't be written: it is a folder.")
        return
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UserError(f"{out} is a file; name a new folder, or a file ending in .zip.")
    if out.is_dir() and any(out.iterdir()):
        raise UserError(f"{out} is not empty; name a new folder, or empty it first.")


@contextmanager
def _work_folder(out: Path) -> Iterator[Path]:
    """A temporary private folder next to ``out``, on the same disk."""
    try:
        with tempfile.TemporaryDirectory(prefix=f".{out.name[:100]}.", dir=out.parent) as work:
            yield Path(work)
    except OSError as error:
        # The name alone: a job writes below the server's own folders, which are not for its page.
        raise UserError(f"{out.name} can't be written: {error.strerror or type(error).__name__}.") from None


def _finish_package(package: Package, folder: Path, out: Path) -> PackageResult:
    """Count the files in ``folder``, and pack them into a zip file next to it if ``out`` is one."""
    files = _list_files(folder)
    size, sha256 = sum(path.stat().st_size for path in files), None
    if is_zip(out):
        packed = folder.with_suffix(".zip")
        with packed.open("wb") as target:
            _write_zip(folder, files, package.name, target)
        size, sha256 = packed.stat().st_size, hash_file(packed)
    counts = package.counts
    return PackageResult(counts.sessions, counts.turns, len(files), size, sha256, list(package.notices))


def _list_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _write_zip(folder: Path, files: list[Path], name: str, target: IO[bytes]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in files:
            entry = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}", _ZIP_EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _ZIP_FILE_MODE
            # The same on every platform.
            entry.create_system = 3
            with path.open("rb") as content, archive.open(entry, "w", force_zip64=True) as inside:
                shutil.copyfileobj(content, inside, 1 << 20)


def _move_into_place(folder: Path, out: Path) -> None:
    if is_zip(out):
        with folder.with_suffix(".zip").open("rb") as packed, write_atomically(out.resolve()) as target:
            shutil.copyfileobj(packed, target, 1 << 20)
        return
    if out.exists():
        out.rmdir()
    # As for any export, its owner decides who else may read it.
    folder.chmod(0o700)
    folder.rename(out)

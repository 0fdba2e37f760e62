"""All sessions in which one person is named: by a user id, an e-mail address or a name, wherever it stands.

What is searched for is a person's: it is kept nowhere, and written into no log, job or audit entry.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from unicodedata import normalize
from urllib.parse import quote, quote_plus

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db.models import CharField, Func, JSONField, Q, QuerySet, Sum, Value
from msgspec import UNSET

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog import gates, raw_access
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.encodings import find_encoded_texts, list_base64
from datasets_app.domain.pii.folding import fold, write_pattern
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.domain.wording import format_count
from datasets_app.jobs.permissions import LIMIT_ACCESS
from datasets_app.models import Dataset, JobFile, JobRun, Release, Session, Source, SourceFile
from datasets_app.models.session_data import SessionData, list_all
from datasets_app.retention.parameters import EraseParameters
from datasets_app.retention.person_files import MAX_BYTES_SEARCHED, FileMatch, FileSearch, search_files
from datasets_app.retention.person_releases import search_versions, split_versions
from datasets_app.retention.session_identity import find_made
from datasets_app.sources.received import search_received

MIN_CHARACTERS, MAX_CHARACTERS = 3, 200
# With more turns, a search takes longer than a request may: the command has no limit.
MAX_TURNS_SEARCHED = 2_000_000
_BATCH_ROWS = 1000
# Base64 that a line end breaks, which JSON escapes: what it says is told only once its lines are joined.
_BROKEN_CODE = r"[A-Za-z0-9+/]{16}(?:\\r|\r)?(?:\\n|\n)[A-Za-z0-9+/]"
# The place of a test case, or of another version, that doesn't name the person.
MADE = "made of their conversations"
RELEASED = "released versions"


class PersonMatch(NamedTuple):
    """``places`` counts where the person is named: text, tags, metadata, session ID, comments, labels,
    released versions; a test case or another version without the name is "made of their conversations"."""

    session: Session
    places: Counter[str]


class DatasetMatches(NamedTuple):
    """The sessions of a dataset that name the person, and how often they do so in which place."""

    dataset: Dataset
    sessions: int
    places: list[tuple[str, int]]


class FoundPerson(NamedTuple):
    """``waiting``: keys of the received spans that name the person and wait to become sessions, by dataset.
    ``hidden``: how many datasets the searching person can't open, which were not searched. ``files``: those
    of jobs, such as uploads, that name the person, and ``unsearched_files`` how many were not searched.
    ``not_searched``: the datasets, and versions, whose raw text the searching person may not read.
    ``imports``: keys of imported files by dataset, of which nothing but the name is left, which names the
    person. ``unread``: versions whose file is missing or was changed.
    """

    sessions: list[PersonMatch]
    waiting: dict[str, list[int]]
    hidden: int
    files: list[FileMatch]
    unsearched_files: int
    not_searched: list[str]
    imports: dict[str, list[int]]
    unread: list[str]

    def __bool__(self) -> bool:
        """Whether there is something to erase."""
        return bool(self.sessions or self.waiting or self.files or self.imports)

    @property
    def gap(self) -> str:
        """What the matches say nothing about; empty if everything was searched."""
        parts = []
        if self.not_searched:
            names = ", ".join([*self.not_searched, "received spans"])
            parts.append(f"Not searched, because you don't have access to raw text: {names}.")
        if self.unread:
            names = ", ".join(self.unread)
            parts.append(
                f"Not searched, because the file is missing or was changed: {names}. Restore it and search"
                " again."
            )
        return " ".join(parts)

    def first_dataset(self) -> tuple[Dataset | None, str]:
        """That of the job which erases; spans may wait for a dataset that doesn't exist yet."""
        if self.sessions:
            return self.sessions[0].session.dataset, self.sessions[0].session.dataset.name
        name = [*self.waiting, *self.imports, *(match.dataset for match in self.files)][0]
        return Dataset.objects.filter(name=name).first(), name

    def list_held(self) -> list[str]:
        """The datasets on legal hold, of which nothing can be erased."""
        names = {match.session.dataset.name for match in self.sessions} | self.waiting.keys()
        names |= {match.dataset for match in self.files} | self.imports.keys()
        held = Dataset.objects.filter(name__in=names, legal_hold=True).order_by("name")
        return list(held.values_list("name", flat=True))

    def describe_rest(self) -> list[str]:
        """What is named outside sessions, and what was not searched, in sentences."""
        spans = ((name, format_count(len(keys), "received span")) for name, keys in self.waiting.items())
        lines = [f"{name}: {count} that will become sessions" for name, count in spans]
        lines += [match.describe() for match in self.files]
        names = ((name, format_count(len(keys), "imported file")) for name, keys in self.imports.items())
        lines += [
            f"{name}: {count} named after this person, of which the name is erased" for name, count in names
        ]
        lines += [self.gap] if self.gap else []
        if self.hidden:
            lines.append(
                f"Not searched: {format_count(self.hidden, 'dataset')} that you can't open. The command "
                "erase_person searches all of them."
            )
        if self.unsearched_files:
            count, days = format_count(self.unsearched_files, "stored file"), settings.EXPORT_LINK_DAYS
            lines.append(
                f"Not searched: {count} of jobs that can't be read, or not by you. They are deleted within "
                f"{days} days. Search again after an upload is imported."
            )
        return lines


def find_everywhere(value: str, user: Any = None, *, tell_hidden: bool = True) -> FoundPerson:
    """What a person may erase, or a command, which may erase everything; and what remains. Whether a text
    names somebody is told only to people who may read it. Raises UserError as :func:`find_person`, and for a
    person if there is too much to search while a request waits."""
    datasets, sources = Dataset.objects.all(), Source.objects.all()
    hidden, withheld = 0, set[int]()
    if user is not None:
        datasets, sources = datasets.visible_to(user), sources.visible_to(user)
        hidden = Dataset.objects.hidden_from(user).count() if tell_hidden else 0
        if not _get_permission_test(user)(gates.READ_PERMISSION):
            withheld, sources = raw_access.find_raw(datasets), sources.none()
    not_searched = sorted(datasets.filter(pk__in=withheld).values_list("name", flat=True))
    datasets = datasets.exclude(pk__in=withheld)
    versions, others = split_versions(datasets, user)
    turns = sum(datasets.values_list("turn_count", flat=True)) + sum(one.turn_count for one in versions)
    if user is not None and turns > MAX_TURNS_SEARCHED:
        raise UserError(
            f"The datasets and their versions have {turns:,} turns. Use the command erase_person for so many."
        )
    names_person = _match_words(_list_needles(value))
    released, unread = search_versions(versions, names_person)
    not_searched += map(_name_version, others)
    found = find_person(value, datasets, released)
    waiting: dict[str, list[int]] = {}
    for name, key in search_received(sources, names_person):
        waiting.setdefault(name, []).append(key)
    files = _search_files(names_person, user)
    imports = _search_imports(datasets, names_person)
    unread_names = list(map(_name_version, unread))
    return FoundPerson(
        found, waiting, hidden, files.matches, files.unsearched, not_searched, imports, unread_names
    )


def _name_version(version: Release) -> str:
    return f"{version.dataset.name} {version.version}"


def _search_imports(datasets: QuerySet[Dataset], names_person: Callable[[Any], bool]) -> dict[str, list[int]]:
    rows = SourceFile.objects.filter(dataset__in=datasets).order_by("pk")
    found: dict[str, list[int]] = {}
    for dataset, key, name in rows.values_list("dataset__name", "pk", "name").iterator(_BATCH_ROWS):
        if names_person(name):
            found.setdefault(dataset, []).append(key)
    return found


def _get_permission_test(user: Any) -> Callable[[str], bool]:
    """A token to find people needs no scope to read."""
    test: Callable[[str], bool] = getattr(user, "has_perm_without_token", user.has_perm)
    return test


def _search_files(names_person: Callable[[Any], bool], user: Any) -> FileSearch:
    """The files of jobs, but for those that the searching person may not read. Raises UserError if there are
    too many while a request waits."""
    jobs = JobRun.objects.visible_to(user) if user else JobRun.objects.all()
    files = JobFile.objects.filter(job_run__in=jobs).exclude(file="")
    if user is None:
        return search_files(files, names_person)
    may_read_all = all(map(_get_permission_test(user), (gates.READ_PERMISSION, LIMIT_ACCESS)))
    readable = files if may_read_all else files.filter(job_run__actor=user)
    size = readable.aggregate(size=Sum("size"))["size"] or 0
    if size > MAX_BYTES_SEARCHED:
        raise UserError(f"Stored files have {size:,} bytes. Use the command erase_person for so many.")
    searched = search_files(readable, names_person)
    return searched._replace(unsearched=searched.unsearched + files.count() - readable.count())


class _Needles(NamedTuple):
    """``words`` are found in any case and notation. ``codes`` are what is in base64 that holds them."""

    words: set[str]
    codes: str

    @property
    def first_words(self) -> str:
        """A regular expression for rows that are worth a closer look."""
        return "|".join(write_pattern(word.split()[0]) for word in self.words)


def _list_needles(value: str) -> _Needles:
    """``value`` and its hashes. Raises UserError for what would be found everywhere."""
    written, value = value, " ".join(fold(value).split())
    if not MIN_CHARACTERS <= len(value) <= MAX_CHARACTERS:
        raise UserError(
            f"Give a user ID, an e-mail address or a name of {MIN_CHARACTERS} to {MAX_CHARACTERS} characters."
        )
    # "ö" is one character or two, by what wrote it.
    spellings = {normalize("NFC", value), normalize("NFD", value)}
    hashes = {hash_session_id(spelling, hash_key()) for spelling in (*spellings, " ".join(written.split()))}
    # As web addresses have them: "jane.roe%40mailbox.org", "Jane+Roe".
    in_addresses = {
        quoted for spelling in spellings for quoted in (quote(spelling, ""), quote_plus(spelling))
    }
    cases = (value, value.lower(), value.upper(), value.title())
    codes = sorted({re.escape(code) for case in cases for code in list_base64(case)})
    return _Needles(spellings | hashes | in_addresses, "|".join(codes))


def find_person(
    value: str, datasets: QuerySet[Dataset] | None = None, in_versions: Iterable[Session] = ()
) -> list[PersonMatch]:
    """The sessions, in the order of datasets and sessions, then test cases that were made of them, and the
    same in other versions, that don't name the person. Sessions ``in_versions`` name the person in a
    version of their dataset, once for each. ``value`` counts as whole words in any case, and also
    as the hash that a scrub made of it. Raises UserError for what would be found everywhere."""
    needles = _list_needles(value)
    names_person = _match_words(needles)
    searched = Dataset.objects.all() if datasets is None else datasets
    found = []
    released: dict[int, Counter[int]] = {}
    for match in in_versions:
        released.setdefault(match.dataset_id, Counter())[match.pk] += 1
    for dataset in searched.order_by("pk"):
        places = {
            session: Counter({RELEASED: count}) for session, count in released.get(dataset.pk, {}).items()
        }
        for session, place in _search_dataset(dataset, needles, names_person):
            places.setdefault(session, Counter())[place] += 1
        rows = Session.objects.filter(dataset=dataset, pk__in=places).select_related("dataset").order_by("pk")
        found += [PersonMatch(row, places[row.pk]) for row in rows]
    known = {match.session.pk for match in found}
    made = find_made([match.session for match in found], searched)
    return found + [PersonMatch(one, Counter({MADE: 1})) for one in made if one.pk not in known]


def group_by_dataset(found: Iterable[PersonMatch]) -> list[DatasetMatches]:
    """The matches as pages and commands list them; the place that has most comes first."""
    by_dataset: dict[int, list[PersonMatch]] = {}
    for match in found:
        by_dataset.setdefault(match.session.dataset_id, []).append(match)
    return [
        DatasetMatches(some[0].session.dataset, len(some), _sum_places(some)) for some in by_dataset.values()
    ]


def _sum_places(found: list[PersonMatch]) -> list[tuple[str, int]]:
    places: Counter[str] = Counter()
    for match in found:
        places.update(match.places)
    return places.most_common()


def make_erasure(found: FoundPerson, reason: str) -> EraseParameters:
    """The job that erases all of it: the first session, and the others as its copies."""
    sessions = [match.session.pk for match in found.sessions]
    spans = [key for keys in found.waiting.values() for key in keys]
    first = sessions[0] if sessions else None
    files = [match.key for match in found.files]
    imports = [key for keys in found.imports.values() for key in keys]
    return EraseParameters(
        session=first,
        reason=reason,
        copies=sessions[1:],
        spans=spans or UNSET,
        files=files or UNSET,
        imports=imports or UNSET,
    )


def _match_words(needles: _Needles) -> Callable[[Any], bool]:
    """Tells whether a text, or a key or value of JSON, has one of the needles as whole words."""
    words = [write_pattern(normalize("NFC", needle)) for needle in needles.words]
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)", re.IGNORECASE)
    codes = re.compile(needles.codes)

    def names_person(value: Any) -> bool:
        text = _join_values(value)
        is_coded = codes.search("".join(text.split()))
        coded = find_encoded_texts(text, text.encode(errors="surrogatepass")) if is_coded else ()
        return any(pattern.search(normalize("NFC", said)) for said in (text, *(said for _, _, said in coded)))

    return names_person


def _join_values(value: Any) -> str:
    """A line for each key and value: the escapes that JSON writes ("\\n") would hide where a word begins."""
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{_join_values(item)}" for key, item in value.items())
    return "\n".join(map(_join_values, value)) if isinstance(value, list) else str(value)


def _search_dataset(
    dataset: Dataset, needles: _Needles, names_person: Callable[[Any], bool]
) -> Iterator[tuple[int, str]]:
    """(session, place) of each finding: a row counts once in a place."""
    for data in list_all():
        places = {name: place for name, place in data.scrubbed.items() if place and data.session}
        if places:
            rows = _select_candidates(data, dataset, list(places), needles)
            for session, *values in rows.values_list(data.session, *places).iterator(_BATCH_ROWS):
                said = zip(places.values(), values, strict=True)
                found = dict.fromkeys(place for place, value in said if value and names_person(value))
                yield from ((session, place) for place in found)


def _select_candidates(
    data: SessionData, dataset: Dataset, columns: Iterable[str], needles: _Needles
) -> QuerySet[Any]:
    """What the database leaves to look at closely: rows that hold the first word of what is searched for, or
    that may hold it in base64."""
    # PostgreSQL compares JSON with its escapes.
    escaped = needles._replace(words={json.dumps(word, ensure_ascii=False)[1:-1] for word in needles.words})
    rows, wanted, codes = data.rows(dataset), Q(), f"{needles.codes}|{_BROKEN_CODE}"
    for column in columns:
        field = data.model._meta.get_field(column)
        searched = escaped if isinstance(field, JSONField) else needles
        if isinstance(field, ArrayField):
            joined = Func(column, Value("\n"), function="array_to_string", output_field=CharField())
            column = f"joined_{column}"
            rows = rows.annotate(**{column: joined})
        wanted |= Q(**{f"{column}__iregex": searched.first_words}) | Q(**{f"{column}__regex": codes})
    return rows.filter(wanted)

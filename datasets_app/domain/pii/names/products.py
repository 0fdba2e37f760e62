"""Products, companies and languages that look like names of people: Kafka, McDonald's, Raspberry Pi.

The packaged list has entries that are never people, and entries that are names as well (Julia, Jenkins,
Wendy's). The latter count only beside words that speak of a product: "written in Julia", "the Jenkins
server", "at Wendy's". What a rule announces as a name ("my name is Julia") or is part of a name (Julia Roe)
is a person.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word
from datasets_app.domain.pii.names.person_cues import has_cue_before, has_person_cue
from datasets_app.domain.pii.names.product_list import Certainty, find_entries
from datasets_app.domain.pii.names.technical_texts import MIN_SIGNS, count_signs, is_unlisted
from datasets_app.domain.pii.names.thing_cues import weigh_thing

_POSSESSIVE = "'s"

# Directly behind a product.
_NOUNS_TEXT = """
actors admin ai api apis app application apps artifact artifacts assistant backend battery binary board
boards bot branch breakfast broker brokers bucket bug build builder builds burger burgers cable camera
cars chain charger charging chart charts chatbot chicken cli client cloud cluster clusters coffee commit
compiler config configuration console consumer container containers controller cookbook cookbooks copilot
coupon coupons crash crawler daemon dag dags dashboard database databases db dealership deployment
deployments desktop developer developers device devices dialect distribution distro doc docs
documentation drive-thru driver drivers ecosystem editor emulator engine error errors event exception
export exporter exporters exports extension extensions fixture footprint fork formatter framework
frameworks franchise fries frontend gateway gateways gem gems gift github hub ide image images ingester
ingress instance instances insurance integration interpreter issue job jobs kernel keyboard keystore kit
lab language languages laptop libraries library license lint linter listener location locations log login
logs master meal menu middleware migration migrations mirror mirrors mobile module modules monitor mouse
nodes notebook notebooks nuggets operator operators orm outlet package packages page pages parser
partition partitions phone pipeline pipelines plan playbook playbooks plugin plugins pod pods printer
printers producer program programmer programming project projects proxy queries query queue queues relay
release releases repl replica replicas repo repository restaurant restaurants router routine runner
runtime salad salads sandwich sandwiches sauce scanner schema script scripts sdk sensor sensors server
servers service services shard shell showroom sidecar site skill skills slave smartwatch snapshot snippet
socket software speaker speakers spec specs stack stock store stores stream streams stubs subreddit
subscription support syntax tablet task tasks template templates test tests tombstones tool toolbar
toolchain tools topic topics topology transport tutorial tutorials tv ui update updates upgrade user
users version versions vhost view views vm volume warehouse watch web webhook webpage website wheel
widget workbench worker workers workflow wrapper
"""
_NOUNS = frozenset(_NOUNS_TEXT.split())
# Directly behind who found it.
_METHODS_TEXT = """
algorithm algorithms arrival arrivals causality chain chains cipher clock clocks code codes coding
coefficient complexity conjecture constant correlation criterion curve curves decomposition diagram
distance distribution divergence edge edges elimination equation equations estimator factorization faults
filter fit function functions graph hash heap index inequality init initialization interpolation
iteration kappa kernel law lemma lines linkage loss machine map maps material matrix method methods
metric model net nets network networks noise norm number numbers paradox polynomial polynomials posterior
prior problem process rank sampling score sequence series shading shuffle smoothing space splines
statistic test theorem tiling transform transformation tree triangle triangulation uniform window windows
"""
_METHODS = frozenset(_METHODS_TEXT.split())
_HEADS = _NOUNS | _METHODS
# Directly behind any word: what belongs to it is no person.
_MACHINE_NOUNS_TEXT = """
adapter adapters algorithm algorithms api apis backend binding bindings causality cli cluster clusters
codebase coefficient compiler config conjecture connector connectors container containers daemon
dashboard decomposition distro divergence driver drivers endpoint endpoints equation equations estimator
exporter extension extensions factorization firmware framework frameworks heuristic ide inequality
interpolation kernel lemma libraries library linkage linter middleware module modules orm parser pipeline
pipelines plugin plugins polynomial polynomials repo repository runtime sdk server servers shader shaders
smoothing theorem toolkit transform triangulation webhook webhooks widget widgets wrapper yaml
"""
_MACHINE_NOUNS = frozenset(_MACHINE_NOUNS_TEXT.split())
# Directly behind a shop's possessive; a laptop would be a person's.
_SHOP_NOUNS_TEXT = """
app breakfast burger burgers chain chicken coffee coupon coupons drive-thru franchise fries gift location
locations meal menu nuggets outlet restaurant restaurants salad salads sandwich sandwiches sauce site
stock store stores twitter website
"""
_SHOP_NOUNS = frozenset(_SHOP_NOUNS_TEXT.split())
# Directly before a product, and seldom before a person.
_CUES_BEFORE_TEXT = """
a an another compile compiled compiling configure configured configuring debug debugging deploy deployed
deploying download downloaded import in install installed installing learn learning reboot rebooted
reinstall reinstalled restart restarted restarting run running runs same the uninstall uninstalled upgrade
upgraded upgrading use used uses using via
"""
_CUES_BEFORE = frozenset(_CUES_BEFORE_TEXT.split())
# What software does, directly behind its name.
_DEEDS_TEXT = """
compiles converges crashed crashes crashing diverges fails freezes hangs panics segfaults supports throws
"""
_DEEDS = frozenset(_DEEDS_TEXT.split())
_STATES_TEXT = """
abandoned archived broken deprecated discontinued down installed obsolete open-source slow unmaintained
unreachable
"""
_STATES = frozenset(_STATES_TEXT.split())  # behind "is"
# Who is told to do something at home: "tell Alexa to turn it off".
_ASSISTANTS, _REQUESTS = (
    frozenset({"alexa", "siri", "cortana", "bixby"}),
    frozenset("ask asked tell told".split()),
)
# What software can't do, or keeps doing.
_REFUSED_TEXT = "boot build compile connect converge install launch load parse render resolve suspend sync"
_REFUSED = frozenset(_REFUSED_TEXT.split())
_KEPT_DOING = frozenset("crashing dying failing freezing hanging restarting segfaulting timing".split())
# Two words before a product: "running on Jessie", "switched to Julia".
_CUES_IN_PAIRS = {
    "on": frozenset(
        "boot booted built deployed host hosted install installed ran run running runs works".split()
    ),
    "to": frozenset(
        "convert converted migrate migrated migrating port ported switch switched switching".split()
    ),
    "from": frozenset("migrate migrated migrating ported switch switched switching".split()),
}
# Between two products.
_CONNECTORS = frozenset({"and", "or", "vs", "versus", "to", ",", "/", "+", "&", "than"})
# Before a shop, where nothing that it owns follows: "at Wendy's", but "at Wendy's house".
_PLACE_CUES = frozenset("at from to near like love hate visit visited inside outside eat eating".split())
_FUNCTION_WORDS_TEXT = """
a about after again all also am an and any are as at because before but by can did do does during ever
every for from had has have i if in instead is it just last near never next nor not now of off on only or
over right since so than that the then there they this though to today tomorrow tonight too until was we
were when where which while who why will with without would yesterday yet you
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_TEXT.split())
_OWNERS = frozenset({"our", "your"})
_LAST_WORD, _NEXT_WORD = re.compile(r"([\w-]+)\s+$"), re.compile(r"(?:['’]s)?\s+([\w-]+)")
_MAX_CUE_CHARACTERS = 30
_VERSION = re.compile(r"v?\d+")


_COMPARISONS = frozenset({"vs", "versus"})
_WORDS_PER_SIGN = 40  # a long text has some by chance


def find_product_words(
    text: str,
    words: Sequence[str],
    starts: Sequence[int],
    hits: Collection[int],
    find_announced: Callable[[], Collection[int]],
) -> set[int]:
    """Which of ``hits`` (word indexes) are products. ``find_announced`` tells those that a rule announces as
    people; it is called only if it matters."""
    reader = _ProductReader(text, words, starts, hits, find_announced)
    reader.find_listed()
    reader.find_owners_of_machines()
    if not reader.products.issuperset(hits):
        reader.find_technical()
    return reader.products.intersection(hits)


class _ProductReader:
    """The words of one text, and which of them are products so far."""

    def __init__(
        self,
        text: str,
        words: Sequence[str],
        starts: Sequence[int],
        hits: Collection[int],
        find_announced: Callable[[], Collection[int]],
    ) -> None:
        self.text, self.starts, self.hits = text, starts, hits
        self.plain = [fold_word(word).replace("’", "'") for word in words]
        self.words = words
        self.products: set[int] = set()
        self._find_announced = find_announced
        self._announced: Collection[int] | None = None

    def find_listed(self) -> None:
        """Entries of the lists."""
        plain = self.plain
        places = sorted(
            {place for number in self.hits for place in find_entries(plain, number)}, reverse=True
        )
        for place in places:
            first, last = place.first, place.last
            if place.certainty < Certainty.SURE and self.is_person(first, last):
                continue
            if (
                place.certainty == Certainty.LIKELY
                and self._is_first_name(first, last)
                and self.has_person_cue(first, last)
            ):
                continue
            if place.certainty == Certainty.SURE and first == last and self._is_part_of_name(first):
                continue
            if (
                place.certainty > Certainty.DOUBTFUL
                or _is_product_here(plain, self.words, first, last, self.products)
                or (_works_like_software(plain, last) and not has_cue_before(self.text, self.starts[first]))
            ):
                has_noun = plain[last + 1 : last + 2] and plain[last + 1] in _HEADS
                self.products.update(range(first, last + (2 if has_noun else 1)))

    def find_owners_of_machines(self) -> None:
        """Words behind which stands what only products have: the Acme API."""
        plain = self.plain
        for number in self.hits:
            owns_machine = plain[number + 1 : number + 2] and plain[number + 1] in _MACHINE_NOUNS
            if owns_machine and number not in self.products and not self.is_person(number, number):
                self.products.add(number)

    def find_technical(self) -> None:
        """In a text about technology: entries that are names as well, and words that no list of names has."""
        rest = sorted(set(self.hits) - self.products)
        named = _find_named(self.plain, rest)
        signs = count_signs(self.text, self.words, named)
        signs += (signs > 0 or not _COMPARISONS.isdisjoint(self.plain)) and self._count_ambiguous() > 1
        signs -= len(self.words) // _WORDS_PER_SIGN
        if signs <= 0:
            return
        for first, last in _group(rest):
            if self.is_person(first, last) or self.has_person_cue(first, last):
                continue
            is_entry = any(place.last >= last for place in find_entries(self.plain, first))
            is_foreign = (bool(named) or signs >= MIN_SIGNS) and is_unlisted(self.plain[first : last + 1])
            if is_entry or is_foreign or (signs >= MIN_SIGNS and self._is_thing(first, last, signs)):
                self.products.update(range(first, last + 1))

    def _count_ambiguous(self) -> int:
        """How many different entries a text has that may be something else: two say more than one."""
        return len(
            {
                word
                for number, word in enumerate(self.plain)
                if number in self.hits or (number and self.words[number][0].isupper())
                if any(place.is_technical for place in find_entries(self.plain, number))
            }
        )

    def is_person(self, first: int, last: int) -> bool:
        """Whether a rule announces a name here, or more of a name follows or precedes."""
        own = set(range(first, last + 1))
        return not own.isdisjoint(self._get_announced()) or _is_beside_name(
            self.plain, own, set(self.hits) - self.products
        )

    def _is_thing(self, first: int, last: int, signs: int) -> bool:
        """Whether the words around speak of a thing; the more technical a text, the less they need to."""
        start, end = self.starts[first], self.starts[last] + len(self.words[last])
        return weigh_thing(self.text, start, end) > MIN_SIGNS - signs

    def has_person_cue(self, first: int, last: int) -> bool:
        return has_person_cue(self.text, self.starts[first], self.starts[last] + len(self.words[last]))

    def _is_first_name(self, first: int, last: int) -> bool:
        return first == last and look_up_word(self.plain[first]).first > 0

    def _is_part_of_name(self, number: int) -> bool:
        """Whether the word is next to a known name, or a rule announces both: "Jabra Nicola"."""
        others = [
            other
            for other in (number - 1, number + 1)
            if other in self.hits
            and self.plain[other][0].isalpha()
            and not any(find_entries(self.plain, other))
        ]
        if not others:
            return False
        return number in self._get_announced() or any(
            look_up_word(self.plain[other]).first for other in others
        )

    def _get_announced(self) -> Collection[int]:
        if self._announced is None:
            self._announced = self._find_announced()
        return self._announced


def _find_named(plain: Sequence[str], doubted: Collection[int]) -> set[str]:
    """The products of technology that a text names, without ordinary words."""
    return {
        word
        for number, word in enumerate(plain)
        if number not in doubted
        and not look_up_word(word).common
        and any(
            place.is_technical and place.certainty > Certainty.DOUBTFUL
            for place in find_entries(plain, number)
        )
    }


def _group(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of adjacent numbers, as the first and the last."""
    first = last = -2
    for number in numbers:
        if number > last + 1:
            if last >= 0:
                yield first, last
            first = number
        last = number
    if last >= 0:
        yield first, last


def _is_beside_name(plain: Sequence[str], own: set[int], hits: Collection[int]) -> bool:
    """Whether more of a name follows or precedes: Julia Roe."""
    return any(
        number in hits
        and number not in own
        and plain[number][0].isalpha()
        and not (number > max(own) and plain[number] in _HEADS)
        for number in (min(own) - 1, max(own) + 1)
    )


def _is_product_here(
    plain: Sequence[str], words: Sequence[str], first: int, last: int, products: Collection[int]
) -> bool:
    before = plain[first - 1] if first else ""
    behind = plain[last + 1] if last + 1 < len(plain) else ""
    if _is_listed_with(plain, words, first, last, products):
        return True
    if plain[last] == _POSSESSIVE:
        if behind in _SHOP_NOUNS:
            return True
        return before in _PLACE_CUES and (not behind[:1].isalpha() or behind in _FUNCTION_WORDS)
    if behind == _POSSESSIVE and plain[last + 2 : last + 3] and plain[last + 2] in _METHODS:
        return True
    if behind in _NOUNS or behind in _METHODS or behind in _DEEDS or _is_version(plain, last + 1):
        return True
    if plain[first] in _ASSISTANTS and before in _REQUESTS and behind == "to":
        return True
    if behind == "is" and plain[last + 2 : last + 3] and plain[last + 2] in _STATES:
        return True
    return before in _CUES_BEFORE or (first > 1 and plain[first - 2] in _CUES_IN_PAIRS.get(before, ()))


def _works_like_software(plain: Sequence[str], last: int) -> bool:
    """Whether it can't do, or keeps doing, what only software does: "Luigi won't compile"."""
    behind = plain[last + 1 : last + 4]
    if len(behind) == 3 and behind[1] == "'t":
        return behind[2] in _REFUSED
    return len(behind) > 1 and behind[0] in ("keep", "keeps") and behind[1] in _KEPT_DOING


def _is_listed_with(
    plain: Sequence[str], words: Sequence[str], first: int, last: int, products: Collection[int]
) -> bool:
    """Whether another product stands before or behind, with "and", a comma or both between them."""
    for number, step in ((first, -1), (last, 1)):
        for _ in range(2):
            number += step
            if not (0 <= number < len(plain) and plain[number] in _CONNECTORS):
                break
            other = number + step
            if other in products or (0 <= other < len(plain) and _is_surely_product(plain, words, other)):
                return True
    return False


def _is_surely_product(plain: Sequence[str], words: Sequence[str], number: int) -> bool:
    if look_up_word(plain[number]).common and not words[number][0].isupper():
        return False
    return any(place.certainty == Certainty.SURE for place in find_entries(plain, number))


def _is_version(plain: Sequence[str], number: int) -> bool:
    """3.1 (which is three words), v2; a bare number may be of anything."""
    version = plain[number : number + 3]
    if not version or not _VERSION.fullmatch(version[0]):
        return False
    return version[0][0] == "v" or (len(version) == 3 and version[1] == "." and version[2].isdigit())


def build_cue_patterns() -> tuple[str, str]:
    """What :func:`has_product_cue` looks for before and behind a term, as expressions of PostgreSQL."""
    behind = "|".join(sorted(_NOUNS | _DEEDS))
    return rf"\m({'|'.join(sorted(_CUES_BEFORE | _OWNERS))})\s+$", rf"^(['’]s)?\s+({behind})\M"


def has_product_cue(text: str, start: int, end: int) -> bool:
    """Whether the words directly before or behind ``text[start:end]`` speak of a product."""
    before = _LAST_WORD.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start])
    behind = _NEXT_WORD.match(text[end : end + _MAX_CUE_CHARACTERS])
    if before and before[1].lower() in _CUES_BEFORE | _OWNERS:
        return True
    return behind is not None and (behind[1].lower() in _NOUNS or behind[1].lower() in _DEEDS)

"""The words between a cue and a number: whether they lead from the one to the other."""

import re

_MAX_WORDS_ASIDE = 4  # "the passport of my husband John is …"

_VERBS = frozenset(
    """
is was are be s es est ist é è to jest är er on je este lautet reads says son sind sont são sono
""".split()
)
# "It won't take my license number. I typed D1234567."
_ENTRY_VERBS = frozenset(
    """
have got enter entered type typed put wrote write used use tried try sent send submitted filled given gave
said puse escribí ingresé digitei coloquei saisi mis tapé inserito scritto eingegeben eingetippt
""".split()
)
_CONJUNCTIONS = frozenset("and but because so then while pero y et mais und aber ma ale i e mas".split())
# Before a bare number they make it a count: "a license for 100000 users".
COUNTING_WORDS = frozenset("for with of in at para für pour per por".split())
_PREPOSITIONS = frozenset(
    "on for in of with from under at auf für en para pour per no na em por bei zu von".split()
)
FILLERS = (
    frozenset(
        """
number numbers nr num nbr id ids it its this that here there as follows below given the a an my our his
her their your and or card code value issued by new old valid current still first second document us usa
uk eu indian german american british canadian australian french italian spanish you i we he she they asked
requested wanted needed want need provided gave give earlier before printed shown would should will which only
please also again now so just actually sorry holder owner el la los las mi su tu numero número núm de del
con y e o os um uma meu minha seu sua do da dela dele dos le les un une mon ma mes votre numéro et du des
suivant voici que vous der die das mein meine meiner ihre nummer und il lo mio mia suo numer mój moja moje
het mijn van mitt min mit numeroni minun můj az szám egy benim bu budur это мой моя по номер n nº din ditt
nummeret nummret numarası numaram numărul mea ta dell td th tr span div br li p dd dt strong c demandez
avez yes yep yea ya ok hi hey oh hmm sir mr mrs ms thx pls sure si sí oui ja tak
""".split()
    )
    | _VERBS
    | _PREPOSITIONS
)
# The number that follows one of these is one of something else.
OTHER_NOUNS = frozenset(
    """
order orders ticket case ref reference tracking track transaction account invoice serial model version
booking confirmation reservation epoch phone mobile cell cellphone tel telephone fax call text sms
whatsapp credit debit amount price cost total usd eur gbp pin zip postal postcode room flight seat page
line error status port build commit policy date dob born birth expires expiry until since fee fees
iban pedido commande bestellung bestellnummer factura facture rechnung telefon teléfono telefono celular
móvil conto konto cuenta compte telefone téléphone portable handy pnr job session request user customer
product item sku part device time timestamp visa bank salary income years km miles rows files
""".split()
)
_DIGIT = re.compile(r"[0-9]")
_POSSESSIVES = (
    "my|our|his|her|their|your|ur|mi|tu|su|mon|ma|votre|mein|meine|meinen|ihr|ihre|meu|minha|seu|sua|mio|tuo"
    "|suo|mia|mój|moja|moje|mijn|mitt|min|benim"
)
# Before a cue: "my ", "the customer's ", "her German ".
OWNER = re.compile(rf"(?:\b(?:{_POSSESSIVES})|['’]s)\s(?:\w{{3,12}}\s)?\Z", re.IGNORECASE)


class Gap:
    """The words between a cue and a value: whether they lead from the one to the other.

    "The passport I have on my account is A1234567" leads there, "my passport. Account 1234567" does not.
    ``is_blocked``: the words name something else that has a number. ``unknown`` counts words that may.
    """

    def __init__(self) -> None:
        self.is_near, self.is_blocked, self.unknown = True, False, 0
        self.last_word = ""
        self._is_aside = self._is_joined = False

    def add(self, word: str) -> None:
        self.last_word = word
        if word in _VERBS and not self._is_joined:
            self.go_on()
        elif word in _ENTRY_VERBS and (self._is_aside or not self.is_blocked):
            self.is_near, self.is_blocked, self.unknown = True, False, 0
        elif word in OTHER_NOUNS:
            self.is_blocked = True
        elif len(word) > 2 and _DIGIT.search(word):
            self.is_near, self.is_blocked = False, True
        elif word in _CONJUNCTIONS:
            self._is_joined = True
        elif word not in FILLERS and not word.isdigit():
            self.unknown += 1
        self._is_aside |= word in _PREPOSITIONS and not self.is_blocked

    def go_on(self) -> None:
        """A verb or a colon: what stood between was about the cue."""
        if self._is_aside:
            self.is_blocked = False
        if self.unknown <= _MAX_WORDS_ASIDE:
            self.unknown = 0

    @property
    def wanders(self) -> bool:
        """Whether some words are strange, and none names another number."""
        return self.is_near and not self.is_blocked and self.unknown <= _MAX_WORDS_ASIDE

    def leads_to(self, *, is_likely: bool) -> bool:
        """Whether the number behind it is the announced one; a likely one may follow a strange word."""
        return self.is_near and not self.is_blocked and self.unknown <= is_likely

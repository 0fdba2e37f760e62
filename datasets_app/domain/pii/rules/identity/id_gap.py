"""The words between a cue and a number: whether they lead from the one to the other."""

import re

_VERBS = frozenset(
    """
is was are be s es est ist é è to jest är er on je este lautet reads says son sind sont são sono
""".split()
)
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
_POSSESSIVES = (
    "my|our|his|her|their|your|ur|mi|tu|su|mon|ma|votre|mein|meine|meinen|ihr|ihre|meu|minha|seu|sua|mio|tuo"
    "|suo|mia|mój|moja|moje|mijn|mitt|min|benim"
)
# Before a cue: "my ", "the customer's ", "her German ".
OWNER = re.compile(rf"(?:\b(?:{_POSSESSIVES})|['’]s)\s(?:\w{{3,12}}\s)?\Z", re.IGNORECASE)

"""Days and years spelled out, as people say them in other languages than English."""

from collections.abc import Callable, Sequence

_DAYS = {
    "de": """ersten zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften
        dreizehnten vierzehnten fünfzehnten sechzehnten siebzehnten achtzehnten neunzehnten zwanzigsten
        einundzwanzigsten zweiundzwanzigsten dreiundzwanzigsten vierundzwanzigsten fünfundzwanzigsten
        sechsundzwanzigsten siebenundzwanzigsten achtundzwanzigsten neunundzwanzigsten dreißigsten""",
    "fr": """premier deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
        dix-sept dix-huit dix-neuf vingt vingt-et-un vingt-deux vingt-trois vingt-quatre vingt-cinq vingt-six
        vingt-sept vingt-huit vingt-neuf trente""",
    "es": """primero dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
        diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco
        veintiséis veintisiete veintiocho veintinueve treinta""",
    "it": """primo due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici
        sedici diciassette diciotto diciannove venti ventuno ventidue ventitré ventiquattro venticinque
        ventisei ventisette ventotto ventinove trenta""",
    "nl": """een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien
        zeventien achttien negentien twintig eenentwintig tweeëntwintig drieëntwintig vierentwintig
        vijfentwintig zesentwintig zevenentwintig achtentwintig negenentwintig dertig""",
    "pt": """um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis
        dezessete dezoito dezenove vinte vinte_e_um vinte_e_dois vinte_e_três vinte_e_quatro vinte_e_cinco
        vinte_e_seis vinte_e_sete vinte_e_oito vinte_e_nove trinta""",
    "sv": """första andra tredje fjärde femte sjätte sjunde åttonde nionde tionde elfte tolfte trettonde
        fjortonde femtonde sextonde sjuttonde artonde nittonde tjugonde tjugoförsta tjugoandra tjugotredje
        tjugofjärde tjugofemte tjugosjätte tjugosjunde tjugoåttonde tjugonionde trettionde""",
    "da": """første anden tredje fjerde femte sjette syvende ottende niende tiende ellevte tolvte trettende
        fjortende femtende sekstende syttende attende nittende tyvende enogtyvende toogtyvende treogtyvende
        fireogtyvende femogtyvende seksogtyvende syvogtyvende otteogtyvende niogtyvende tredivte""",
    "no": """første andre tredje fjerde femte sjette syvende åttende niende tiende ellevte tolvte trettende
        fjortende femtende sekstende syttende attende nittende tjuende tjueførste tjueandre tjuetredje
        tjuefjerde tjuefemte tjuesjette tjuesyvende tjueåttende tjueniende trettiende""",
    "pl": """pierwszego drugiego trzeciego czwartego piątego szóstego siódmego ósmego dziewiątego dziesiątego
        jedenastego dwunastego trzynastego czternastego piętnastego szesnastego siedemnastego osiemnastego
        dziewiętnastego dwudziestego dwudziestego_pierwszego dwudziestego_drugiego dwudziestego_trzeciego
        dwudziestego_czwartego dwudziestego_piątego dwudziestego_szóstego dwudziestego_siódmego
        dwudziestego_ósmego dwudziestego_dziewiątego trzydziestego""",
    "cs": """prvního druhého třetího čtvrtého pátého šestého sedmého osmého devátého desátého jedenáctého
        dvanáctého třináctého čtrnáctého patnáctého šestnáctého sedmnáctého osmnáctého devatenáctého dvacátého
        dvacátého_prvního dvacátého_druhého dvacátého_třetího dvacátého_čtvrtého dvacátého_pátého
        dvacátého_šestého dvacátého_sedmého dvacátého_osmého dvacátého_devátého třicátého""",
    "fi": """ensimmäinen toinen kolmas neljäs viides kuudes seitsemäs kahdeksas yhdeksäs kymmenes yhdestoista
        kahdestoista kolmastoista neljästoista viidestoista kuudestoista seitsemästoista kahdeksastoista
        yhdeksästoista kahdeskymmenes kahdeskymmenesensimmäinen kahdeskymmenestoinen kahdeskymmeneskolmas
        kahdeskymmenesneljäs kahdeskymmenesviides kahdeskymmeneskuudes kahdeskymmenesseitsemäs
        kahdeskymmeneskahdeksas kahdeskymmenesyhdeksäs kolmaskymmenes""",
}
_ONES = {
    "de": "ein zwei drei vier fünf sechs sieben acht neun",
    "fr": "un deux trois quatre cinq six sept huit neuf",
    "es": "uno dos tres cuatro cinco seis siete ocho nueve",
    "it": "uno due tre quattro cinque sei sette otto nove",
    "nl": "een twee drie vier vijf zes zeven acht negen",
    "pt": "um dois três quatro cinco seis sete oito nove",
    "sv": "ett två tre fyra fem sex sju åtta nio",
    "da": "en to tre fire fem seks syv otte ni",
    "no": "en to tre fire fem seks sju åtte ni",
    "pl": "pierwszego drugiego trzeciego czwartego piątego szóstego siódmego ósmego dziewiątego",
    "cs": "jedna dva tři čtyři pět šest sedm osm devět",
    "fi": "yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän",
}
# From fifty to ninety; French goes on from sixty and eighty.
_TENS = {
    "de": "fünfzig sechzig siebzig achtzig neunzig",
    "fr": "cinquante soixante soixante quatre-vingt quatre-vingt",
    "es": "cincuenta sesenta setenta ochenta noventa",
    "it": "cinquanta sessanta settanta ottanta novanta",
    "nl": "vijftig zestig zeventig tachtig negentig",
    "pt": "cinquenta sessenta setenta oitenta noventa",
    "sv": "femtio sextio sjuttio åttio nittio",
    "da": "halvtreds tres halvfjerds firs halvfems",
    "no": "femti seksti sytti åtti nitti",
    "pl": "pięćdziesiątego sześćdziesiątego siedemdziesiątego osiemdziesiątego dziewięćdziesiątego",
    "cs": "padesát šedesát sedmdesát osmdesát devadesát",
    "fi": "viisikymmentä kuusikymmentä seitsemänkymmentä kahdeksankymmentä yhdeksänkymmentä",
}
_FRENCH_TEENS = "dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf".split()
_Join = Callable[[str, str], str]
# How tens and ones are put together, then the century and both.
_JOIN: dict[str, tuple[_Join, Sequence[str]]] = {
    "de": (lambda tens, one: f"{one}und{tens}", ("neunzehnhundert{}", "neunzehnhundert {}")),
    "fr": (lambda tens, one: f"{tens}-{one}", ("mille neuf cent {}", "dix-neuf cent {}")),
    "es": (lambda tens, one: f"{tens} y {one}", ("mil novecientos {}",)),
    "it": (
        lambda tens, one: (tens[:-1] if one[0] in "uo" else tens) + one,
        ("millenovecento{}", "mille novecento {}"),
    ),
    "nl": (lambda tens, one: f"{one}en{tens}", ("negentienhonderd{}", "negentien {}")),
    "pt": (lambda tens, one: f"{tens} e {one}", ("mil novecentos e {}",)),
    "sv": (lambda tens, one: tens + one, ("nittonhundra{}", "nittonhundra {}")),
    "da": (lambda tens, one: f"{one}og{tens}", ("nittenhundrede {}", "nitten {}")),
    "no": (lambda tens, one: tens + one, ("nitten{}", "nittenhundre og {}")),
    "pl": (lambda tens, one: f"{tens} {one}", ("tysiąc dziewięćset {}",)),
    "cs": (lambda tens, one: f"{tens} {one}", ("tisíc devět set {}", "devatenáct set {}")),
    "fi": (lambda tens, one: tens + one, ("tuhatyhdeksänsataa{}", "tuhat yhdeksänsataa {}")),
}
_AFTER_DAY = {"es": " de ", "pt": " de "}
_AFTER_MONTH = {"es": " de ", "pt": " de "}
LANGUAGES = tuple(_DAYS)


def spell_day(language: str, day: int) -> str:
    """``day`` is from 1 to 30."""
    return _DAYS[language].split()[day - 1].replace("_", " ")


def spell_year(language: str, year: int, form: int = 0) -> str:
    """``year`` is from 1950 to 1999; ``form`` chooses one of several ways."""
    tens, ones = divmod(year % 100, 10)
    word = _TENS[language].split()[tens - 5]
    join, centuries = _JOIN[language]
    if language == "fr" and tens in (7, 9):
        rest = f"{word}-{_FRENCH_TEENS[ones]}"
    else:
        rest = join(word, _ONES[language].split()[ones - 1]) if ones else word
    return centuries[form % len(centuries)].format(rest)


def spell_date(language: str, day: int, month: str, year: str) -> str:
    """``year`` as it is said or written."""
    after_day, after_month = _AFTER_DAY.get(language, " "), _AFTER_MONTH.get(language, " ")
    return f"{spell_day(language, day)}{after_day}{month}{after_month}{year}"

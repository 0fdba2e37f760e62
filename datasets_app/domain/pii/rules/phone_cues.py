"""How far the words around a number say that it is a telephone number."""

import re
from collections.abc import Sequence

from datasets_app.domain.pii.rules.account_words import SUBJECTS
from datasets_app.domain.pii.rules.cue_words import make_words
from datasets_app.domain.pii.rules.cues import NEWLINE, PHONE_SIGN, Window

# Things that are telephones, or are reached by one.
NOUNS = make_words("""
    phone phones telephone telephones cellphone cellphones phonenumber mobilenumber mobile mobiles cell
    cells mob cel tel tels telno ph fax faxes whatsapp telegram viber wechat callback callbacks caller
    callers robocall robocalls ani dnis cli msisdn sms hotline helpline helpdesk landline reception toll
    voice sim handset voicemail pager beeper switchboard telefon telefone telefones telefono telefonos
    teléfono teléfonos telefonu telefonem telefony telefonul telefonum telefonunuz telefoon telefonní
    telefonne telefónne téléphone téléphonique telefonszám telefonszámom telefonszáma telefonnummer
    telefonnr telefoonnummer telefonnumre telefonnummeret handynummer mobilfunk mobilfunknummer
    mobiltelefon rufnummer handy handys handynr durchwahl rückruf rückrufnummer faxnummer festnetz
    festnetznummer mobil mobilnummer mobilnr telefax telef fon telnr mobnr tél télécopie télécopieur
    portable fixe gsm móvil movil móviles celular celulares fono fone telemóvel telemovel ramal cellulare
    cellulari recapito centralino mobiel mobiele mobieltje tlf tfn mobilen puh puhelin puhelinnumero
    matkapuhelin mobilszám kom komórka komórkę komórki komórkowy komórkowego stacjonarny mobilní cep
    cepten телефон телефона телефону телефоном телефоны телефонный мобильный мобильного мобильному сотовый
    сотового тел моб факс τηλ τηλέφωνο τηλεφώνου κινητό κινητού φαξ هاتف الهاتف هاتفي جوال الجوال جوالي
    موبايل تلفن همراه טלפון הטלפון נייד הנייד फ़ोन फोन मोबाइल telepon ponsel โทรศัพท์ เบอร์ โทร 电话 電話
    手机 手機 座机 传真 傳真 携帯 ファックス ファクス 전화 휴대폰 핸드폰 연락처
""")
# What is done with a number: it stands right behind, or behind such words as "me on".
VERBS = make_words("""
    call calls called calling text texts texted texting ring rings ringing rang rung phoned phoning faxed
    faxing reach reaches reached reaching dial dials dialed dialled dialing dialling contact contacts
    contacted contacting message messages messaged messaging ping buzz cb hmu lmk anruf anrufe anrufen ruf
    rufe rufen ruft erreichen erreichbar erreicht kontakt kontaktiere kontaktieren appeler appelez appelle
    rappeler rappelez joindre joignez joignable contacter contactez llamar llama llame llamen llamada
    llámame llámeme llámenos llameme contactar contacto contactarme contactarnos contáctame ligar liga
    ligue contato chiamare chiama chiami chiamami chiamatemi contattare contattatemi contattarmi
    contattarci contattami contatto bel bellen bereiken bereikbaar ringa ringe soita soittakaa hívj hívjon
    sunați sunati zadzwoń zadzwonić dzwoń dzwonić kontaktowy zavolejte volejte arayın arayabilirsiniz
    звонить звоните позвонить позвоните перезвоните связаться
""")
# "Number": of what, the words around it say.
NUMBER_WORDS = make_words("""
    number numbers num no nr nbr nummer numéro numero número numer numărul numarul szám számon číslo čísle
    numeroon numeroni numara numarası numaram номер номера номеру 号码 號碼 番号 번호
""")
OWNERS = make_words("""
    my our his her their best new old usual current what which mein meine meiner unsere mon ma notre mi
    mis nuestro minha meu nossa nosso mio il mijn onze min mitt vår vores mój moja moj мой наш
""")
# Words of the neighborhood that decide nothing by themselves.
HINTS = make_words("registered contactable available office reachable emergency line desk broadband kin hold")
# What may stand between a verb and the number, or the number is of something else.
FILLERS = NUMBER_WORDS | make_words("""
    s m me us him her them my our his their your the a an in at on to via by back is was are be been n
    line home work office mobile cell cellphone phone telephone tel fax direct new old best main private
    business personal now please pls under this it that there then instead not either again or and any
    anytime first from use using with for if needed contact whatsapp uk also still changed here desk day
    night urgently only directly quickly soon asap today tomorrow reached reach call text free hotline
    registered file record as emergency through over i code send sent unter der die das auf mich uns mir
    sie ist lautet bitte meine unsere neue an dienstlich privat au le la les sur moi nous est mon notre al
    el nos es mi nuestro il lo mio nostro è ci o meu nosso é op naar mij ons mijn på mig meg til är er pod
    mnie под на по мне нам мой наш 是 は です 号 號 编号 編号 请 請 打 的 我的 为 = # : - – — , . ( ) " '
    ’ * > [ ] | / ~ … • \ufffc
""")
# Behind a number, these too: "020 7946 0958 (office)". They must be the end of what is said of it.
PLACES = make_words("""
    office home work main direct private personal business ext reception desk frontdesk day evening büro
    privat dienstlich zentrale geschäftlich zuhause bureau domicile maison travail casa trabajo oficina
    ufficio lavoro escritório trabalho kantoor thuis werk arbete hem arbejde hjem dom praca biuro дом
    домашний рабочий офис
""")
# What may follow such a word: "030 1234567 mobile or office".
ENDINGS = frozenset("\n") | make_words("""
    or and is only please number no nr line if und et y e o ou . , ; : ! ? ( ) ] | / - – — + < > " '
""")
# At the beginning of a line: "T: 030 1234567", "M 0171 1234567".
LABELS = make_words("t m f p h w o c port")
# In the log of an exchange: "from=030 1234567".
LOG_FIELDS = make_words("from to src dst called calling callee sender recipient")
# "Send the code to 030 1234567."
SENT_THINGS = make_words(
    "code codes otp pin passcode link sms text message password verification confirmation"
)
SENDING = make_words("send sends sent sending resend forward deliver delivered go goes went")
# Whose number it may be, with or without a name: "my roommate Kit, 8285550142".
RELATIVES = make_words("""
    mom mum dad mother father brother sister son daughter wife husband spouse partner girlfriend boyfriend gf
    bf roommate flatmate housemate neighbor neighbour friend colleague coworker assistant boss secretary
    landlord landlady tenant caretaker janitor nanny babysitter driver courier plumber electrician uncle aunt
    cousin grandma grandpa fiance fiancée fiancé hermana hermano marido mujer esposa esposo madre padre hijo
    hija novia novio vecino vecina femme mari frère soeur sœur mère père fils fille voisin voisine frau mann
    bruder schwester mutter vater sohn tochter nachbar nachbarin freund freundin moglie marito fratello
    sorella figlio figlia vicino vicina mãe pai irmão irmã filho filha vizinho vizinha vrouw broer zus moeder
    vader zoon dochter buurman buurvrouw żona mąż mama tata siostra муж жена мама папа брат сестра
""")
# One of these between them, and the word doesn't speak of the number.
OTHERS = make_words("""
    order orders ordered ticket tickets case cases ref reference id ids uuid track tracking transaction
    transactions account accounts acct invoice invoices serial model version booking confirmation epoch
    timestamp imei imsi iccid log logs error code codes sku isbn upc ean asin barcode parcel shipment
    package pid build commit hash total price cost amount balance bytes byte rows records users policy
    card passport ssn tax vat license zip postcode postal iban bill flight room part batch product job pin
    otp date time dob born took last population views followers subscribers aviv bestellung bestellnummer
    auftrag auftragsnummer rechnung rechnungsnummer kundennummer vorgang vorgangsnummer aktenzeichen
    sendungsnummer artikelnummer commande facture dossier pedido factura ordine fattura bestelling
    factuurnummer beställning zamówienie zamówienia faktura заказ заказа 订单 訂單 注文 주문 $ € £ ¥ % @
""")
CUES = frozenset(
    word.encode() for word in NOUNS | VERBS | NUMBER_WORDS | HINTS | PLACES | LABELS | SENT_THINGS | RELATIVES
)


# A weak cue is farther away: then the number itself must look like a telephone number.
BLOCKED, NO_CUE, WEAK_CUE, EMAIL_CUE, STRONG_CUE = -1, 0, 1, 2, 3

_MAX_WORDS_FROM_NOUN, _MAX_WORDS_FROM_VERB, _MAX_WORDS_FROM_NUMBER = 5, 3, 3
_MAX_WORDS_FROM_PHONE = _MAX_WORDS_FROM_RELATIVE = 2
_AT = frozenset("at on under".split())  # "call customer service at"
_MAX_LINES = 2
_SENTENCE_ENDS = frozenset("!?;.")
_EMAIL_BEFORE = re.compile(r"@[\w.\-]{3,40} ?[,;|/\n] ?\Z")
_EMAIL_AFTER = re.compile(r" ?[,;|/\n] ?[\w.+\-]{1,40}@\w")
_QUOTES = frozenset("\"'\\")
_KNOWN = NOUNS | VERBS | NUMBER_WORDS | HINTS | PLACES | OWNERS | FILLERS | LABELS | LOG_FIELDS
_NUMBER_STARTS = frozenset({NEWLINE, "the", "your"})
_LABEL_STARTS = f"{NEWLINE}|,;/({PHONE_SIGN}"
_PURPOSES = frozenset("to for where i you we on".split())  # "is the best number to reach me"
_BEFORE_NAME = OWNERS | frozenset("< > → ← ( ) [ ] - – — : , | / = \" ' the is was are ist est es è".split())

_OBJECT_OF = frozenset("on for of in to with from".split())
_OWNER_OF = frozenset({"of"})
_ARTICLES = frozenset("the my our this your that".split())


def rate_phone_words(window: Window) -> int:
    """One of the five."""
    tokens_before, tokens = window.list_tokens_before(), window.list_tokens_after()
    while tokens_before[:1] and tokens_before[0] in "+(":
        del tokens_before[0]
    if tokens_before[:1] == ["from"] and tokens[:1] and tokens[0] in VERBS:
        return STRONG_CUE
    before, after = _rate_before(tokens_before), _rate_after(tokens)
    if _is_beside_email(window) and OTHERS.isdisjoint(tokens[:2]):
        before = max(before, EMAIL_CUE)
    if before == BLOCKED or (after == BLOCKED and before < STRONG_CUE):
        return after if after == STRONG_CUE and tokens[0] in ("is", "was") else NO_CUE
    return max(before, after)


def _is_beside_email(window: Window) -> bool:
    """As in "Jane Roe (jane@acme.com, 40217765)": what people sign with."""
    return _EMAIL_BEFORE.search(window.before) is not None or _EMAIL_AFTER.match(window.after) is not None


def _rate_before(tokens: Sequence[str]) -> int:
    """``tokens`` come the nearest first."""
    if _is_label(tokens[:3]) or _is_recipient(tokens[:8]):
        return STRONG_CUE
    words = _WordsBefore(tokens)
    if words.is_other_label and '"' in tokens[:4]:
        return BLOCKED  # {"Portable charger": "40217765"}
    for place, token in enumerate(tokens):
        rating = words.rate(place, token)
        if rating is not None:
            return rating
    return words.rate_end()


class _WordsBefore:
    """What was passed on the way from a number to the word that says what it is."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.is_other_label = _is_other_label(tokens)
        is_log_field = tokens[:1] == ["="] and tokens[1:2] != [] and tokens[1] in LOG_FIELDS
        self._rating = WEAK_CUE if is_log_field else NO_CUE
        self._unknown = self._lines = 0
        self._number_at = -1
        self._is_sentence_over = self._is_of_account = self._is_of_phone = False

    def rate(self, place: int, token: str) -> int | None:
        """The rating, if ``token`` decides it."""
        if token in OTHERS or (token.isdigit() and len(token) > 1):
            if token == "id" and self.tokens[place + 1 : place + 2] == ["caller"]:
                return STRONG_CUE
            if token.isdigit() or not _is_object(self.tokens, place):
                return self._rating or (BLOCKED if self._unknown <= 2 and not self._lines else NO_CUE)
        if token in NOUNS:
            if not _is_object(self.tokens, place, _OWNER_OF):
                is_near = self._unknown <= _MAX_WORDS_FROM_NOUN and not self.is_other_label
                return STRONG_CUE if is_near and not self._is_sentence_over else WEAK_CUE
            self._is_of_phone = True  # its number, or its serial number
        elif token in VERBS or token == PHONE_SIGN:
            return self._rate_verb(place, token)
        elif self._number_at >= 0 and (token in OWNERS or self._is_of_phone):
            return STRONG_CUE
        else:
            return self._pass(place, token)
        return None

    def _rate_verb(self, place: int, token: str) -> int:
        unknown = self._unknown
        if token == PHONE_SIGN and (unknown > _MAX_WORDS_FROM_PHONE or self.is_other_label):
            return self._rating
        is_label = place > 0 and self.tokens[place - 1] == ":" and unknown <= _MAX_WORDS_FROM_NOUN
        is_near = unknown == 0 or is_label or (unknown <= _MAX_WORDS_FROM_VERB and self.tokens[0] in _AT)
        return STRONG_CUE if is_near and not self._is_sentence_over else WEAK_CUE

    def _pass(self, place: int, token: str) -> int | None:
        """Remember a word that decides nothing; the rating, if one further on can't decide it either."""
        if token == NEWLINE:
            self._lines += 1
            return self._rating if self._lines > _MAX_LINES else None
        if token in _SENTENCE_ENDS:
            self._is_sentence_over = self._is_sentence_over or self._unknown > 0 or token not in ".?"
        elif token in NUMBER_WORDS:
            if self._is_of_account:
                return self._rating
            if self._number_at < 0 and self._unknown <= _MAX_WORDS_FROM_NUMBER:
                self._number_at = place
        elif token in RELATIVES:
            if self._unknown <= _MAX_WORDS_FROM_RELATIVE and not self._lines and not self._is_sentence_over:
                is_owned = self._unknown < 2 and not OWNERS.isdisjoint(self.tokens[place + 1 : place + 2])
                return STRONG_CUE if is_owned else self._rating or WEAK_CUE
            self._unknown += 1
        elif token in HINTS or (token in PLACES and place > 0 and self.tokens[place - 1] == ":"):
            self._rating = WEAK_CUE
        elif token not in FILLERS:
            self._unknown += 1
            if token in SUBJECTS and not _is_object(self.tokens, place):
                self._is_of_account = True
            if 0 <= self._number_at == place - 1:
                return self._rating  # the number of something: a flight, a room
        return None

    def rate_end(self) -> int:
        if self._number_at < 0:
            return self._rating
        if self._is_of_phone:
            return STRONG_CUE
        following = self.tokens[self._number_at + 1 : self._number_at + 2]
        return WEAK_CUE if not following or following[0] in _NUMBER_STARTS else self._rating


def _is_label(tokens: Sequence[str]) -> bool:
    """As in "T: 030 1234567", at the beginning of a line or behind a sign."""
    at = 1 if tokens[:1] and tokens[0] in ":.)" else 0
    if tokens[at : at + 1] == [] or (tokens[at] not in LABELS and tokens[at] not in PLACES):
        return False
    before = tokens[at + 1 : at + 2]
    return not before or before[0] in (_LABEL_STARTS if at else NEWLINE)


def _is_other_label(tokens: Sequence[str]) -> bool:
    """Whether the word of a label is none of ours: "phone charger: 40217765"."""
    words = [token for token in tokens[:8] if token not in _QUOTES]
    return words[:1] == [":"] and words[1:2] != [] and words[1].isalpha() and words[1] not in _KNOWN


def _is_recipient(tokens: Sequence[str]) -> bool:
    """As in "send the code to"."""
    return tokens[:1] == ["to"] and not SENT_THINGS.isdisjoint(tokens) and not SENDING.isdisjoint(tokens)


def _is_object(tokens: Sequence[str], place: int, prepositions: frozenset[str] = _OBJECT_OF) -> bool:
    """Whether a word only places what is said: "the phone number on the account is …".

    The word right before a number is none: that may be its name.
    """
    further = tokens[place + 1 : place + 3]
    return place > 0 and len(further) == 2 and further[0] in _ARTICLES and further[1] in prepositions


def _rate_after(tokens: Sequence[str]) -> int:
    lines, unknown = 0, 0
    for place, token in enumerate(tokens):
        if token in OTHERS and place == 0:
            return BLOCKED  # 033001053499 orders
        if token in OTHERS or token.isdigit():
            return NO_CUE
        is_noun = token in NOUNS
        is_letter = token in LABELS and place > 0 and tokens[place - 1] == "("  # "(m)"
        if is_noun or is_letter or token in PLACES or (token in NUMBER_WORDS and place > 1):
            following = tokens[place + 1] if place + 1 < len(tokens) else NEWLINE
            if is_noun and following.isdigit():
                return NO_CUE  # it names the number behind it
            ends = following in (NEWLINE, ")") if lines else following in ENDINGS
            if unknown == 0 and (ends or (token in NUMBER_WORDS and following in _PURPOSES)):
                return STRONG_CUE
            if is_noun:
                return NO_CUE if lines else WEAK_CUE
            unknown += 1
        elif token in VERBS or token in HINTS:
            return NO_CUE if lines else WEAK_CUE
        elif token == NEWLINE:
            lines += 1
            if lines == _MAX_LINES or unknown:
                return NO_CUE
        elif token in _SENTENCE_ENDS and unknown:
            return NO_CUE
        elif token not in _BEFORE_NAME and token not in FILLERS:
            unknown += 1
    return NO_CUE

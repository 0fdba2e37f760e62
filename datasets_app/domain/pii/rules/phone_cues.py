"""Whether the words before a number say that it is a telephone number: "Telefon: …", "call me on …"."""

from collections.abc import Sequence

from datasets_app.domain.pii.rules.account_words import SUBJECTS
from datasets_app.domain.pii.rules.cue_words import make_words
from datasets_app.domain.pii.rules.cues import NEWLINE, Window

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
CUES = frozenset(word.encode() for word in NOUNS | VERBS | NUMBER_WORDS)

_MAX_WORDS_FROM_NOUN, _MAX_WORDS_FROM_VERB, _MAX_WORDS_FROM_NUMBER = 5, 3, 3
_AT = frozenset("at on under".split())  # "call customer service at"
_MAX_LINES = 2
_SENTENCE_ENDS = frozenset("!?;.")
_QUOTES = frozenset("\"'\\")
_KNOWN = NOUNS | VERBS | NUMBER_WORDS | OWNERS | FILLERS


def announces_phone(window: Window) -> bool:
    tokens = window.list_tokens_before()
    while tokens[:1] and tokens[0] in "+(":
        del tokens[0]
    if not OTHERS.isdisjoint(window.list_tokens_after()[:1]):
        return False  # 033001053499 orders
    return not _is_other_label(tokens) and _leads_to_phone(tokens)


def _leads_to_phone(tokens: Sequence[str]) -> bool:
    """``tokens`` come the nearest first, up to the word that decides."""
    unknown, number_at = 0, -1
    is_sentence_over = is_of_account = False
    for place, token in enumerate(tokens):
        if token in OTHERS or (token.isdigit() and len(token) > 1):
            return False
        if token in NOUNS:
            if not _is_owner(tokens, place):
                return unknown <= _MAX_WORDS_FROM_NOUN and not is_sentence_over
        elif token in VERBS:
            is_near = unknown == 0 or (unknown <= _MAX_WORDS_FROM_VERB and tokens[0] in _AT)
            return is_near and not is_sentence_over
        elif number_at >= 0 and token in OWNERS:
            return True
        elif token == NEWLINE:
            if tokens[: place + 1].count(NEWLINE) > _MAX_LINES:
                return False
        elif token in _SENTENCE_ENDS:
            is_sentence_over = is_sentence_over or unknown > 0 or token not in ".?"
        elif token in NUMBER_WORDS:
            if is_of_account:
                return False
            if number_at < 0 and unknown <= _MAX_WORDS_FROM_NUMBER:
                number_at = place
        elif token not in FILLERS:
            unknown += 1
            is_of_account = is_of_account or token in SUBJECTS
            if 0 <= number_at == place - 1:
                return False  # the number of something: a flight, a room
    return False


def _is_owner(tokens: Sequence[str], place: int) -> bool:
    """Whether it is something of a telephone's that has the number: "the IMEI of my phone"."""
    return place > 0 and tokens[place + 2 : place + 3] == ["of"]


def _is_other_label(tokens: Sequence[str]) -> bool:
    """Whether the word of a label is none of ours: "phone charger: 40217765"."""
    words = [token for token in tokens[:8] if token not in _QUOTES]
    return words[:1] == [":"] and words[1:2] != [] and words[1].isalpha() and words[1] not in _KNOWN

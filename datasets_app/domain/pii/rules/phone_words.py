"""What people write beside a telephone number, language after language: English first."""

from datasets_app.domain.pii.rules.cue_words import make_words

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

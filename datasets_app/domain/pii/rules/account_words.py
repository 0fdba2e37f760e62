"""What people write beside the number of an account, language after language: English first."""

from datasets_app.domain.pii.rules.cue_words import make_words

# Of which six digits need no further word: "into account 12345678".
ACCOUNTS = make_words("""
    account acct acc membership clubcard skymiles avios bonuscard póliza polizza apólice policy
    policyholder customer client member subscriber flyer flier payee beneficiary iban bban bsb aba rtn
    routing konto kto bankleitzahl kunde compte cuenta cliente socio conto rekening klant conta konta
    rachunku rachunek klient medlem tili hesap účtu účet λογαριασμός счет счета счёт счёта حساب الحساب
    חשבון 账号 賬號 帐号 帳號 账户 帳戶 卡号 口座 계좌
""")
# Whose number it is, or of what.
SUBJECTS = ACCOUNTS | make_words("""
    accounts accts cust insurance insured loyalty reward rewards mileage mileageplus miles club bonus
    patron donor employee staff student personnel payroll depositor library bank banking checking chequing
    savings brokerage sort transit branch institution bic swift card depot kunden kd mitglied mitglieds
    versicherungs vers police policen vertrag vertrags adhérent abonné contrat membre fidélité bancaire póliza
    contrato afiliado correntista tessera polizza contratto lid polis sócio apólice agência klienta polisy
    kund asiakas müşteri üye zákazníka számla ügyfél cont contul λογαριασμού πελάτη клиента полиса
    договора العميل לקוח 客户 客戶 会员 會員 会員 お客様 顧客 회원 고객
""")
# Subject and number in one word.
COMPOUNDS = make_words("""
    accountnumber accountno accountid acctno acctnumber customernumber customerno customerid clientnumber
    clientid membernumber memberid membershipnumber membershipid policynumber policyno loyaltynumber
    loyaltyid subscriberid routingnumber sortcode frequentflyernumber bankaccount bankaccountnumber ffn
    ffp clabe cbu ifsc rib nib kontonummer kontonummern kontonr ktonr bankkonto bankverbindung girokonto
    sparkonto blz kundennummer kundennr kdnr mitgliedsnummer mitgliedsnr vertragsnummer vertragsnr
    vertragskonto versicherungsnummer versicherungsscheinnummer versichertennummer policennummer
    depotnummer kartennummer personalnummer matrikelnummer rekeningnummer klantnummer klantnr lidnummer
    lidmaatschapsnummer polisnummer kundnummer kundenummer kundenr medlemsnummer medlemsnr bankgiro
    plusgiro clearingnummer tilinumero asiakasnumero jäsennumero számlaszám bankszámlaszám
    bankszámlaszámom ügyfélszám лицевой
""")
NUMBER_WORDS = make_words("""
    number numbers num no nos nr nbr id ids identifier code # n ° º № nummer numéro numero número codice
    código codigo numer numeru kod číslo čísla nro numarası numaram номер номера 号码 號碼 号 號 编号 編号
    番号 번호 رقم מספר
""")
# What may stand between the word and the number.
FILLERS = make_words("""
    s is are was be it its this under my our your his her their the of for on in at by to from with you us
    new old current full up question please and or card plan program programme holder account bank
    checking savings business joint primary main online personal private ending ends ist lautet war die
    der meine mein und est le la du de des ma mon d l courant bancaire bancaria bancario et es el mi su
    del corriente il della è mio mia corrente da do a o meu é van het mijn y är er jest wynosi моего мой
    это 是 は です 为 的 我的 은 는 : = - – — > → " ' ’ * ( [ | , . / ~ \ufffc
""")
# One of these between them, and the number is another's.
OTHERS = make_words("""
    order orders ordered ticket tickets case cases reference ref track tracking transaction transactions
    invoice invoices invoiced serial model version booking confirmation epoch timestamp log logs error
    codes sku isbn barcode parcel shipment package build commit hash total price cost amount balance limit
    fee payment charge charged credit debit bytes records users followers points since until date secret
    key token password phone mobile fax tel telephone cell call ssn passport zip postcode pin otp
    verification expires expiry created opened closed bestellnummer auftragsnummer rechnungsnummer
    sendungsnummer commande facture pedido factura ordine fattura bestelling factuurnummer zamówienia
    faktury заказа 订单 訂單 注文 주문 $ € £ ¥ %
""")
CUES = frozenset(word.encode() for word in SUBJECTS | COMPOUNDS)

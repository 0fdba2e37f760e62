"""Numbers of orders, parcels, tickets and bookings, behind the word that says so: "order no. A-20431".

They tell nobody who somebody is but the company that gave them, so that a scrub replaces them only if it is
told to. Formats of a company's own are better: see custom_patterns.py.
"""

import re

from datasets_app.domain.pii.detector import ORDER_NUMBER, Match
from datasets_app.domain.pii.rules.numbers.labels import find_labeled, make_label

_THINGS_TEXT = """
    order orders ordered ticket tickets case cases track tracking transaction invoice booking reservation
    confirmation parcel shipment package delivery consignment waybill awb rma return claim incident voucher
    reference ref
    bestellung bestellnummer bestellnr auftrag auftragsnummer rechnung rechnungsnummer vorgang vorgangsnummer
    aktenzeichen sendung sendungsnummer paket paketnummer buchung buchungsnummer ticketnummer fallnummer
    commande facture dossier colis suivi réservation pedido factura envío seguimiento reserva ordine fattura
    spedizione prenotazione encomenda fatura rastreamento bestelling bestelnummer factuur factuurnummer
    zending pakket boeking beställning beställningsnummer ordernummer faktura fakturanummer sändning ordre
    ordrenummer pakke sporingsnummer forsendelse tilaus tilausnumero lasku lähetys varaus zamówienie
    zamówienia przesyłki paczka faktury rezerwacja objednávka objednávky zásilka zásilky faktury rezervace
    narudžba narudžbe pošiljka računa comandă comenzii colet factură rendelés rendelési csomag számla
    παραγγελία παραγγελίας δέμα τιμολόγιο sipariş siparişim kargo takip fatura заказ заказа посылка посылки
    накладная бронь замовлення посилка ттн đơn hàng vận pesanan resi faktur 订单 訂單 快递 快遞 运单 注文
    伝票 追跡 予約 주문 송장 운송장 예약 طلب الطلب شحنة طلبية הזמנה משלוח ऑर्डर คำสั่งซื้อ พัสดุ
"""
_VALUE = re.compile(
    r"(?<![A-Za-z0-9_@./$€£¥-])(?=[A-Za-z0-9/_-]{5})(?=(?:[A-Za-z/_-]*[0-9]){3})"
    r"[A-Za-z0-9]+(?:[-/_][A-Za-z0-9]+){0,6}(?![A-Za-z0-9_@]|[.,][0-9]| ?[%€£$¥])"
)
_DATE = re.compile(r"(?:19|20)\d\d[-/]\d\d?[-/]\d\d?|\d\d?[-/]\d\d?[-/](?:19|20)?\d\d|(?:19|20)\d\d")
_MAX_CHARACTERS = 40


_LABEL = make_label(
    ORDER_NUMBER,
    "|".join(_THINGS_TEXT.split()),
    _VALUE,
    lambda value: len(value) <= _MAX_CHARACTERS and not _DATE.fullmatch(value),
)


class OrderNumbers:
    """A detector of these numbers."""

    kinds = frozenset({ORDER_NUMBER})

    def find(self, text: str) -> list[Match]:
        return list(find_labeled(text, [_LABEL]))

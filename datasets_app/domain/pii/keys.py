"""Keys under which a person is named, whatever the value looks like: ``user_id``, ``email``, ``ip``."""

import re
from functools import lru_cache
from typing import Any

from datasets_app.domain.pii.detector import (
    ACCOUNT,
    CREDENTIAL,
    CRYPTO_WALLET,
    EMAIL,
    HOST,
    IBAN,
    ID_NUMBER,
    IP,
    MAC,
    NAME,
    PHONE,
    SSN,
)
from datasets_app.domain.pii.policy import ID
from datasets_app.domain.pii.rules.id_formats import names_number

_KEYS_BY_KIND = {
    EMAIL: "email emailaddress mail useremail customeremail contactemail replyto",
    PHONE: "phone phonenumber phoneno telephone telephonenumber tel mobile mobilenumber mobileno mobilephone "
    "cell cellphone cellnumber landline fax faxnumber whatsapp whatsappnumber msisdn homephone workphone "
    "officephone contactphone contactnumber customerphone userphone callerid callernumber",
    SSN: "ssn socialsecuritynumber socialsecurity",
    # Further ones are the words of rules/id_formats.txt.
    ID_NUMBER: "sin tin ein vin vinno nin nid pan nie fin passportid licenseid plate licenseplatenumber vrn "
    "vehicleplate healthid ninumber",
    IP: "ip ipaddress ipaddr clientip userip remoteip remoteaddr sourceip xforwardedfor xrealip",
    NAME: "firstname lastname fullname surname givenname familyname middlename maidenname nickname "
    "customername clientname username agentname contactname displayname patientname cardholder "
    "cardholdername accountholder passengername guestname author authorname employeename operatorname",
    CREDENTIAL: "password passwd pwd passphrase passcode secret clientsecret apikey accesstoken "
    "refreshtoken authtoken sessiontoken idtoken bearertoken authorization cookie setcookie privatekey "
    "accesskey secretkey secretaccesskey pin otp cvv cvc",
    HOST: "hostname clienthost remotehost machinename computername",
    IBAN: "iban ibannumber bankiban payeeiban senderiban recipientiban debtoriban creditoriban",
    ACCOUNT: "accountnumber accountno accountid acctnumber acctno acctid bankaccount bankaccountnumber bban "
    "payeraccount payeeaccount sortcode routingnumber abanumber bsb clabe kontonummer kundennummer "
    "customerid customernumber customerno clientid clientnumber clientno memberid membernumber memberno "
    "membershipid membershipnumber subscriberid subscribernumber policynumber policyno policyid "
    "insurancenumber loyaltynumber loyaltyid rewardsnumber frequentflyernumber",
    CRYPTO_WALLET: "wallet walletaddress walletid cryptowallet cryptoaddress btcaddress bitcoinaddress "
    "ethaddress ethereumaddress ltcaddress xrpaddress soladdress solanaaddress tronaddress depositaddress "
    "withdrawaladdress payoutaddress",
    MAC: "mac macaddress macaddr hwaddr hwaddress hardwareaddress ethernetaddress bssid wifimac "
    "bluetoothaddress",
    ID: "userid uid patientid employeeid contactid personid personnelnumber deviceid deviceuuid "
    "advertisingid idfa gaid visitorid anonymousid login loginname userlogin userhandle handle userkey "
    "usernumber externaluserid",
}
_KIND_BY_KEY = {key: kind for kind, keys in _KEYS_BY_KIND.items() for key in keys.split()}
# A tag is often a key and a value: agent:maria.
_KIND_BY_TAG_KEY = _KIND_BY_KEY | {
    "user": ID,
    "customer": ID,
    "client": ID,
    "agent": NAME,
    "annotator": NAME,
    "assignee": NAME,
    "owner": NAME,
}
_CODE = re.compile(r"[0-9A-Za-z:.\-_]{12,200}")
_SEPARATORS = re.compile(r"[\s_.\-]+")


def get_kind_by_key(key: str, value: Any) -> str | None:
    """The class of whatever stands under ``key``, if the key alone tells it.

    ``value`` is the string or whole number there: a number is never a password, and a wallet may hold money;
    without digits it is no identity number.
    """
    kind = _find_kind(key)
    if kind == ID_NUMBER and not any(map(str.isdigit, str(value))):
        return None  # {"passport": "required"}
    if kind == CREDENTIAL:
        return None if isinstance(value, int) else kind
    if kind in (CRYPTO_WALLET, MAC):
        return kind if isinstance(value, str) and _CODE.fullmatch(value) else None
    return kind


def parse_tag_kind(tag: str) -> tuple[str, int] | None:
    """``customer:4711`` → the class of the value and where it begins."""
    key, sign, value = tag.partition(":")
    kind = _KIND_BY_TAG_KEY.get(_normalize_key(key)) if sign and value else None
    return (kind, len(key) + 1) if kind else None


@lru_cache(maxsize=4096)
def _find_kind(key: str) -> str | None:
    normalized = _normalize_key(key)
    return _KIND_BY_KEY.get(normalized) or (ID_NUMBER if names_number(normalized) else None)


def _normalize_key(key: str) -> str:
    return _SEPARATORS.sub("", key).lower()

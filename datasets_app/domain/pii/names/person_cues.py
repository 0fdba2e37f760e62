"""Whether the words around a value speak of a person: "ask Julia", "Julia said", "my wife Julia"."""

import re

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.word_lists import read_word_lists

TITLES = read_word_lists(__file__)["titles"]
PARTICLES = read_word_lists(__file__)["particles"]
MAX_CUE_CHARACTERS = 60
RELATIVES = (
    "wife|husband|spouse|partner|fianc[eé]e?|son|daughter|kid|child|baby|brother|sister|mother|father|mom"
    "|mum|dad"
    "|uncle|aunt|auntie|cousin|niece|nephew|grandma|grandpa|grandmother|grandfather|friend|bestie|girlfriend"
    "|boyfriend|boss|manager|supervisor|colleague|coworker|co-worker|teammate|roommate|flatmate|neighbou?r"
    "|landlord|assistant|agent|doctor|teacher|lawyer|client|customer|guy|gal|lady|man|woman|girl|boy"
)
LABELS = (
    "customer|client|guest|passenger|patient|holder|cardholder|recipient|attn|signed|contact|name|from|cc"
)
_GREETINGS = (
    r"hi|hello|hey|heya|hiya|dear|thanks|thank you|thx|ty|cheers|bye|goodbye|sorry|welcome|congrats"
    r"|congratulations|good (?:morning|afternoon|evening|night)|happy birthday"
)
# Verbs of which a person is the object.
_DONE_TO = (
    r"ask(?:ed|ing)?|t(?:ell|old|elling)|ping(?:ed)?|messaged?|emailed|e-mail|phoned?|texted|contact(?:ed)?"
    r"|cc(?:ed)?"
    r"|invited?|m[ae]t|meet(?:ing)?|marr(?:y|ied)|notify|remind(?:ed)?|thank(?:ed)?|hired?|fired|nam(?:ed"
    r"|e is)|tag(?:ged)?|ask(?:ed|ing)? for|looking for|i am|i'm|im|this is|it is|it's|its|that was|here is"
    r"|her name's|his name's|by the name of"
    r"|(?:call(?:s|ed)?|named?) (?:me|myself|him|her|them)|(?:i|we|they|she|he) (?:just )?called"
    r"|address(?:ed)? to"
)
_WITH_PREPOSITION = (
    r"(?:sp(?:eak|oke|eaking|oken)|talk(?:s|ed|ing)?|chat(?:ted|ting)?|(?:i|we) work(?:ed)?|working|liv(?:e"
    r"|es|ed|ing)|deal(?:t|ing)?|meeting|met|lunch|dinner|argu(?:e|ed|ing)) (?:to|with)"
    r"|(?:sen[dt]|given?|gave|forward(?:ed)?|ship(?:ped)?|hand(?:ed)?|show(?:ed|n)?|pa(?:y|id)"
    r"|transfer(?:red)?) (?:(?:it|them|this|that|money) )?(?:to|for)"
    r"|(?:gift|present|card|bought|order(?:ed)?|order is|booked|reserved|table|room|it|them|this|parcel"
    r"|package|letter|message|mail|call) (?:for|by)"
    r"|(?:bought|got|ordered|made|chose|picked|purchased|getting|need|needed)\b[^.!?\n]{1,40}\sfor"
    r"|(?:message|e-?mail|mail|note|call|letter|review|comment|feedback|heard|patch|commit|fix|reply"
    r"|answer) (?:from|by)"
    r"|(?:written|approved|reviewed|sent|handled|signed|made|reported|opened|merged|authored|assigned"
    r"|forwarded"
    r"|transferred|transfer(?: me)?|connect(?:ed)?(?: me)?|put(?: me)? through|escalated?|reports?|name"
    r"|behalf) (?:by|to|of)|(?:order|gift|reservation|booking|appointment|parcel|card) (?:is |was )?for"
)
_BEFORE = lazy_re.compile(
    rf"(?:\b(?:mr|mrs|ms|miss|mister|dr|prof|sir|madam)\.?|(?:\b(?:{_DONE_TO})|(?:{_WITH_PREPOSITION}))"
    rf"|(?:^|[.!?,\n]\s{{0,3}}|\b(?:oh|and|many|the)\s)(?:{_GREETINGS})[,!]?"
    rf"|\b(?:{LABELS})(?: name)?\s{{0,2}}[:=]"
    rf"|\b(?:name|surname)(?: (?:on|for|of|in) (?:the|my|our|this) \w{{1,15}})?(?: is|['’]s|:)?"
    rf"|\b(?:my|his|her|our|their|your|a|an|the|some|another)\s(?:\w{{1,12}}\s)?(?:{RELATIVES}),?"
    r"|\b(?:meine?[nmr]?|deine?[nmr]?|unsere?[nmr]?|mon|ma|mi|mi[oa]|meu|minha|mijn)\s(?:mann|frau|bruder|schwester"
    r"|sohn|tochter|vater|mutter|chefin|freundin|kolleg(?:e|in)|mari|femme|(?:beau-)?(?:frère|père)|sœur|soeur"
    r"|fils|fille|mère|collègue|marido|esposa|mujer|herman[oa]|hij[oa]|madre|padre|jef[ea]|amig[oa]|marito"
    r"|moglie|fratello|sorella|figli[oa]|amic[oa]|mulher|irm[ãa]o?|filh[oa]|mãe|pai|chefe?|man|vrouw|broer|zus"
    r"|zoon|dochter|moeder|vader|collega)"
    r"|\b(?:(?:regards|sincerely|cheers|thanks)[,.!]?|(?:best|love|yours)[,.!]))[\s\"'“]{1,3}$",
    re.IGNORECASE,
)
# What people do, directly behind them.
_DEEDS = (
    r"said|says|say|saying|think|know|mean|told|tells|asks|asked|wrote|replied|replies|emailed|e-mailed"
    r"|mailed|called|calls|phoned|texted"
    r"|promised|helped|mentioned|thinks|thought|believes|knows|knew|signed|approved|reviewed|merged"
    r"|committed|pushed"
    r"|explained|assured|apologi[sz]ed|suggested|recommended|recommends|noticed|noted|ordered|orders|bought"
    r"|paid|lives"
    r"|lived|left|quit|joined|agreed|complained|wants|wanted|loved|loves|hates|hated|likes|liked|prefers"
    r"|asking|soldered|finetuned|fine-tuned|lent (?:me|us|him|her)|broke (?:main|master|prod|the build)"
    r"|restored the wrong|fixed|rewrote|reverted|rebased|restarted|installed|updated the"
    r"|forgot|remembers|decided|picked|opened|answered|handled|assigned|escalated|transferred|checked"
    r"|confirmed"
    r"|stopped by|showed up|came (?:by|in|over)|gave (?:me|us|it)|sent (?:me|us|it)|took (?:my|our|the)"
    r"|wo?n a|turned \d"
    r"|is \d{1,2}\b|is (?:turning|named|called|allergic|sick|pregnant|sorry|happy|angry|upset|waiting)"
    r"|leaves?\b|(?:gave|give|put|let|made|make)s? (?:me|us|him|her)\b"
    r"|(?:wo|ca|did|does|is|has)n['’]?t (?:get|got|answer|reply|repl|call|listen|care|know|want|understand"
    r"|believe|remember"
    r"|talk|speak|respond|help|pick|let|refund|received|returned|allowed|able|happy)\w*|needs|need to"
    r"|thanked|won\b"
    r"|from [A-Z]\w+ (?:won|wrote|said|called|asked|ordered|is|was)|(?:is|was) (?:asking|calling|telling"
    r"|being|trying)"
    r"|never (?:called|replied|answered|wrote|came)|(?:also|just|already|still|then|kindly) (?:said|told"
    r"|asked|called)"
)
_BEHIND = lazy_re.compile(
    rf"(?:['’]s? (?:account|birthday|house|e-?mail|phone|wife|husband|mom|mum|dad|son|daughter|desk|order"
    rf"|number"
    r"|name|address|team|pr|branch|laptop|review|comment|message|fault|idea)\b"
    rf"|\s\((?:my|our|his|her) (?:{RELATIVES})"
    rf"|,?\s(?:(?:and|&) (?:[\w'’-]{{1,20}} ){{1,2}})?(?:{_DEEDS})\b|,?\s(?:and|&) (?:i|me|my)\b"
    rf"|,? who\b(?!\?| dis)|\s(?:is|was) (?:my|his|her|on leave"
    r"|on vacation|away|sick|off|rude|nice|very|so|super|out|working)\b|\sstill working\b|\son (?:the|my"
    r"|our) (?:account|list|booking|order|phone|line)\b|\s(?:has"
    r"|have) been (?:so|very|great)"
    r"|\s(?:from|in|at) (?:support|sales|billing|hr|it|accounting|finance|the (?:team|office|store|shop"
    r"|help ?desk))\b|,\s(?:please|pls)\b|,?\s(?:could you|can you|would you|do you know)\b"
    r"|\s(?:is|was) (?:the|a|an) \w{0,12}\s?(?:agent|rep|guy|person|one who|manager|engineer|developer"
    r"|admin|boss)\b)",
    re.IGNORECASE,
)
# "Jane here", where a sentence begins.
_INTRODUCED = re.compile(r"\s(?:here|speaking)\b", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?,:\n]|\b(?:hi|hello|hey))\s{0,3}$", re.IGNORECASE)
_MAX_BEHIND = 40
_GREETED = lazy_re.compile(
    rf"(?:^|[.!?\n,]\s{{0,3}})(?:{_GREETINGS}|bonjour|bonsoir|salut|merci|hallo|moin|danke|gruß|hola|gracias"
    r"|ciao|grazie|ol[áa]|obrigad[oa]|hoi|bedankt|cześć|dzięk(?:i|uję)|hej|tack)[,\s]{1,3}$",
    re.IGNORECASE,
)


def has_cue_before(text: str, start: int) -> bool:
    return bool(_BEFORE.search(text[max(0, start - MAX_CUE_CHARACTERS) : start]))


def has_cue_behind(text: str, start: int, end: int) -> bool:
    behind = text[end : end + _MAX_BEHIND]
    if _BEHIND.match(behind):
        return True
    before = text[max(0, start - MAX_CUE_CHARACTERS) : start]
    return bool(_INTRODUCED.match(behind) and _SENTENCE_START.search(before))


def is_greeted(text: str, start: int) -> bool:
    """Whether what begins there is greeted, in one of several languages."""
    return bool(_GREETED.search(text[max(0, start - MAX_CUE_CHARACTERS) : start]))

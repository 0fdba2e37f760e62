"""Weighs whether a word that looks like a name is a thing: a product, a shop, a firm.

Words and forms that speak of things ("my X broke", "cheaper than X", "X in blue", "X Wireless") against what
is known of the word as a name. What speaks of a person (:mod:`person_cues`) decides before anything else.
"""

import re

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.name_cues import NON_NAMES
from datasets_app.domain.pii.names.person_cues import has_person_cue

PERSON = -10  # the weight of a person's cue
SHOP, SURE, STRONG, WEAK = 4, 3, 2, 1
_MAX_CUE_CHARACTERS = 48
_QUOTE = r"[\"“'*_]?"


def _make_before(*phrases: str) -> re.Pattern[str]:
    return lazy_re.compile(rf"\b(?:{'|'.join(phrases)})\s{_QUOTE}$", re.IGNORECASE)


def _make_behind(*phrases: str) -> re.Pattern[str]:
    return lazy_re.compile(rf"{_QUOTE}\s(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)


_ARTICLES = (
    "the|an?|another|these|those|new|newest|latest|original|free|extra|every|each|any|some|small|smaller",
    "large|larger|medium|bigger|cheap|cheaper|fresh|regular|double|single|limited|team|two|three|four|five"
    "|six|dozen",
    r"\d{1,3}x?|more|no|half an?|pair of|pack of|set of|box of|bottle of|cup of|slice of|bag of|piece of"
    r"|version of",
)
_ORDERS = (
    "order(?:ed|ing)?|reorder(?:ed)?|preorder(?:ed)?|return(?:ed|ing)?|restock(?:ed|ing)?|install(?:ed|ing)?",
    "cancel(?:ed|led|ing)?|assembl(?:e|ed|ing)|unbox(?:ed|ing)?|subscribed? to|download(?:ed|ing)?"
    "|renew(?:ed|ing)?",
    "upgrad(?:e|ed|ing)(?: to)?|paused?|discontinued?|sell|sells|selling|sold|obsessed with|works? with"
    "|pair(?:ed|ing)?",
    "uninstall(?:ed)?|wash(?:ed)?|recharg(?:e|ed)|refill(?:ed)?|unplug(?:ged)?|wearing|wore|introducing"
    "|bring back",
    "price match|a fan of|turning|compatible with|allergic to|ingredients? (?:of|in)|manual (?:for|of)"
    "|refund for",
)
_OWNERS = (
    "my|your|our|their|his|her|its|this|that|old|both|same|whole|big|famous|favou?rite|only at|exclusive to",
)
_COMPARED = (
    r"than|vs\.?|versus|between|instead of|(?:one|ones|version|app|offer|stuff|thing) (?:by|from|at)"
    r"|alternatives? to",
    "(?:back|switch(?:ed|ing)?|mov(?:e|ed|ing)) to|(?:switch(?:ed|ing)?|mov(?:e|ed|ing)|away) from|unlike"
    "|loyal to",
    "compar(?:e|ed|ing|able) (?:it |this |that )?(?:to|with)|(?:cheaper|better|same|available|shop|bought"
    "|buy) (?:at|from)",
    "a copy of|knock-?off of|owned by|part of|subsidiary of|competes? with|rival(?:s|ing)?",
)
_VERBS = (
    "buy|buys|buying|bought|got|gets?|us(?:e|ed|es|ing)|tr(?:y|ied|ying)|wear|updat(?:e|ed|ing)|charg(?:e"
    "|ed|ing)",
    "dropp?(?:ed)?|replac(?:e|ed|ing)|exchang(?:e|ed)|swap(?:ped)?|launch(?:ed|ing)?|recommend|stock|carry"
    "|add(?:ed)?",
    "need|want|love|loved|like|liked|miss|prefer|hate|own|received?|compar(?:e|ed|ing)|review(?:ing)?"
    "|include[sd]?",
    "contains?|has|have|had|bring|take|eat|drink|wait(?:ing)? for|left|leaving|quit|joined|mention(?:ed"
    "|ing)?",
    "meet|rip|according to|swears? by|dreaming of|fight over|imagine|out of|named|pronounce|stands? for"
    "|behind|booked",
    "without|pick:|answer:|only|just|is|was|it[’']s|against|over|like|via|to|or|and|into|for|by|from|of"
    "|about|on|in",
    r"with|at|than|grab|enjoy|choose|chose|check out|give|giving|gave|put|rate|rated|save on|spend at"
    r"|called|try:",
)
_BEFORE = (
    (SURE, _make_before(*_ARTICLES, *_ORDERS)),
    (STRONG, _make_before(*_OWNERS, *_COMPARED)),
    (WEAK, _make_before(*_VERBS)),
)
_ADVERBS = (
    "also|now|still|really|so|always|finally|currently|only|already|just|all|never|not|completely|super"
)
_STOCK = (
    "sold out|out of stock|in stock|unavailable|on sale|waterproof|discontinued|overrated|underrated|vegan"
    "|gluten",
    "compatible|backordered|delicious|leaking|machine washable|dishwasher|refundable|owned by|half (?:off"
    "|price)|tasty",
    "made (?:in|of|from|by|with)|cheaper|lighter|heavier|crunchy|included|part of|the best seller|our best"
    "|our newest",
    "rechargeable|recyclable|limited edition|seasonal|bundled|in beta|open source|a subscription|unboxed"
    "|restocked",
)
_STATES = (
    "back|available|on its way|worth|broken|missing|gone|made|great for|perfect for|smaller|bigger"
    "|a classic|free|down",
    "too (?:small|big|loud|expensive|pricey|sweet|salty|tight)|the best (?:thing|one)|our (?:most|latest)"
    "|better than",
    "closed|open|hiring|delayed|expensive|stuck|cold|warm|hot|due|up|live|out now|out",
)
_BE = rf"(?:is|are|was|isn['’]?t|aren['’]?t|wasn['’]?t|not) (?:(?:{_ADVERBS})\s)?"
_NEGATION = "(?:won['’]?t|doesn['’]?t|didn['’]?t|does not|did not|will not|can['’]?t)"
_BEHIND = (
    (
        SURE,
        _make_behind(
            rf"ships?|shipped|costs?|charges? [$€£]?\d+|starts? at|ran out|sold out|restock(?:s|ed)?"
            rf"|{_BE}(?:{'|'.join(_STOCK)})",
            rf"{_NEGATION} (?:turn on|fit|charge|connect|load|pair|boot|fold|ship|sync|start)|leaks?|leaked"
            rf"|comes? (?:with|in|as)",
            "works? (?:with|on|for)|tastes?|in (?:black|white|blue|red|green|gr[ae]y|pink|yellow|purple"
            "|beige|brown|navy|orange)",
            "in (?:silver|gold|size|small|medium|large|x?xl)|(?:for|at) [$€£]\\s?\\d+|[$€£]\\d+"
            "|hits different|supremacy",
            "owners|merch|edition|flavou?rs?|recipe|manual|subscription|app|website|locations?|stores?|menu"
            "|half the price",
            "keeps (?:beeping|crashing|freezing|rattling|leaking)|stopped (?:working|charging|syncing)"
            "|(?:got|gets) an update",
        ),
    ),
    (
        STRONG,
        _make_behind(
            rf"arrives?|arrived|works?|fits?|comes?|starts? from|drops? on|{_BE}(?:{'|'.join(_STATES)})"
            rf"|broke|lasts?|smells?",
            rf"{_NEGATION} (?:turn|work|start|open|close|come|arrive|last|keep|do|have|offer)"
            rf"|says delivered|sucks?|rocks|rules",
            "slaps|copies|in shambles|closing|shops?|sells?|offers?|looks? (?:great|cheap|nice)|feels?"
            "|again\\?|changed",
            "did it first|ha(?:s|ve) (?:an?|no|free|better|the)|instead|>+|could never|fans|members|users"
            "|customers|lovers",
            "season|(?:got|gets) (?:an?|the)|stopped|keeps (?:emailing|sending|raising)|half off|collab|tho"
            "|who\\?|it is[!.]",
            "refugee|yet\\?|for (?:breakfast|lunch|dinner|beginners|kids|two)|forever|day|week|days|vibes"
            "|rn|review|bought ads",
        ),
    ),
)
_ASKED = re.compile(
    r"\b(?:is|are|was|isn['’]?t|aren['’]?t|will|does|do|did|can|has|won['’]?t)\s$", re.IGNORECASE
)
_ANSWER = _make_behind(
    *_STOCK,
    *_STATES,
    "work|fit|come|ship|last|cost|need|include|support|arrive|turn|taste|smell|charge|offer|sell|run|have"
    "|contain|accept",
)
_MARK = re.compile(
    r"\s?[™®©]|\s(?:v?\d{1,4}(?:\.\d+)?|[SMLX]{1,3}|Pro|Plus|Max|Mini|Lite|Ultra|Premium|SE|XS)\b(?!['’])"
    r"|\s[A-Z]{2,4}\s\d"
)
_OWNED = lazy_re.compile(
    r"['’]s? (?:version|apps?|stores?|shops?|website|site|prices?|pricing|delivery|shipping|service|menu"
    r"|fries|burgers?"
    r"|products?|manual|battery|screen|customer service|competitors?|ads?|range|selection|box(?:es)?)\b"
    r"|['’]s(?=\s(?:could|can|would|will|is|was|has|had|who|when|and|or|but|half|doesn|does|keeps|bought|in"
    r"|on|because|again|tho|yours|here)\b|\s?[?!])",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\s(?:and|or|vs\.?|versus|with|than)\s|,\s", re.IGNORECASE)
_WORD_BEHIND = re.compile(r"(['’]s)?\s([A-Za-z]+)\b")
_CAPITALIZED_BEFORE = re.compile(r"[\w,]\s([A-Z][a-z]+)\s$")
_PARTNER_BEHIND, _PARTNER_BEFORE = re.compile(r"\s?&\s?(\w{1,20})"), re.compile(r"\b(\w{1,20})\s?&\s?$")
_NAME_BEFORE = re.compile(r"(?:^|[\w,\"“]\s)([A-Z][^\W\d_]{2,})\s$")
_PRONOUN = re.compile(r"\b(?:s?he|his|him|hers?)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_MIN_PART = 3
_MIN_TEXT_CHARACTERS = 24  # a text so short may be an answer, and all of it a name
# What people are addressed by, before their names.
_ADDRESSES_TEXT = """
agent aunt auntie baby beloved big brother captain chef coach cousin dear grandma grandpa granny king lady
little lord nurse officer old poor prince princess queen saint san santa sir sister sweet uncle young
"""
_ADDRESSES = frozenset(_ADDRESSES_TEXT.split())

# What goods, shops and firms are called, behind their names: Vela Cream, Orion Wireless, Gordon's Gym.
_HEADS_TEXT = """
academy adapter air airlines airways app apparel armchair armor audio auto bag bags bakery balm
band bangle bank bar bars basket bead beads beans bed bench beverage bib bike bikes binder bites blanket
blazer blend blender blinds block blocks blouse blush board boards booster boots bottle bowl bowls box
boxes bracelet bread brew brewery brewing brow brows brush buds buggy builder bundle bungalow burger
burgers burrito butter button cabin cabinet cable cafe café cake calendar camera candle candles canvas cap
capital card cardigan cards care cargo carpet carriage carrier case cases castle cellar cereal chain chair
chandelier charger checking cheese chess chews chicken chips chocolate chronicles cider cinema clamp
cleaner cleanser clinic clock cloth clothing cloud club coat coffee collar collection collective
communications concealer conditioner cones console cookie cookies cooler corner cosmetics costume cottage
couch course couture cover crackers cradle crate crayon crayons cream creme crib croissant cruise crumble
crunch crystals cup current curry cushion cutlery dashboard debit deck decor deli delivery denim deodorant
depot desk detergent diffuser diner dinosaur dish dock doll dollhouse dolls domes donut donuts door drawer
dress dressing drink drinks drip drive drone drops dryer duvet earbuds earring earrings easel economy
edition electronics elixir energy entertainment espresso essence exfoliant express eyeliner fabric fabrics
fan fashion feeder fence fiber fiesta figurine filter financial fitness flakes flask flats fleece flip
flix flow foam food foods fork foundation fragrance frame frappe freeze fridge fries fruit fryer fuel
furniture futon gadget galaxy gallery games gaming garden gear gel gift gin glaze glider globe gloss
gloves glow goggles golf granola grill grinder grocery group guitar gum gummies gym hair hammock handbag
harness hat headphones health heater heels helicopter helmet helper herbal highlighter hoodie hoop hops
hotel hotels hotline house hub ice incense ink inn insurance interactive intl jacket jackfruit jacuzzi jam
jeans jelly jerky jersey jet jewelry journal juice kayak kettle keyboard keychain kibble kimchi kit
kitchen kitchens kite kombucha lab labs ladder lager lamp lantern laptop lasagna lasagne latte laundry
leash leggings lego lemonade lens library light lights linen linens liner lip lipstick liquid lite loaf
loafers loan lock loft lotion lounge lunchbox makeup mango marinade marshmallow mascara mask massager mat
matcha mattress meal meals media medical medley melt membership menu mer mirror mist mixer mobile mocha
moisturizer monitor mortgage motel motors mouse mousse muesli muffin mug mule museum mysteries mystery
necklace necktie network networks notebook nuggets nuts oats oil ointment online optics organics
outfitters oven overalls oxfords packaging paddle pads paint pajamas palette pan pancakes pantry pants
paper parka parlor parlour pass pasta pastry patch pay peeler pen pencil pencils penguin perfume perks pet
pets pharmacy phone phones pie pillow pilsner pizza pizzeria plan planner plate plates playset plus plush
points polish poncho pool pops port poster pot pouch powder press pretzel pretzels primer prints pro
program protector protein pub publishing pudding pump puppet puzzle pyjamas quilt quinoa rack radio
railway rain ramen raw razor reader recliner remote renters resort restaurant rewards ribs rice ride ring
rings roast roaster roasters robot roller rolls roof rope rose router rower rub rug rum running sachet
safe salad salon salsa salt salve sampler sandal sandals sandwich sangria sauce saucepan sauna saver
savings saw scale scarf scooter screens screwdriver scrub scrubs seat seats seltzer serum service services
shack shades shake shampoo shaver sheets shelf shell shield shirt shirts shoes shop shops shorts shovel
shower sim sippy skateboard skates skincare skis sled sleeves sleigh slide slime slippers smoothie snack
snacks sneaker sneakers snowboard soap socks soda sofa software solutions soup spa speaker spices sponge
spoon sports spray spread sprinkles stain stand starter station steak step stew sticker stickers sticks
stool storage store stores stove straps stretch stroller studio studios stuffing subs sugar suit suitcase
suite sundae sunscreen supplies supply surf surfboard sushi sweater sweatshirt swim swimsuit swing switch
syrup system systems table tablet tablets taco tacos tactics tape tart tea teapot technologies technology
teddy telecom temple tent theater theatre theory therapy thermostat ticket tires toaster toddler tonic
tools toothbrush tote tots towel toy toys tracker tracksuit trail train trainer trainers travel tray
treadmill treats tricycle trim trimmer trio trousers trust tub tumbler tunic turntable tv umbrella undies
unicorn utilities vacuum van vase vault vest vests video villa vinegar vinyl vitamins vodka voyage waffle
waffles wagon walker wallet wand warehouse wash watch water waterproof waxing wear wheels whip whiskey
whistle wholesale wig windbreaker wine wings wipes wireless wok works wrap wrench yarn yoga yogurt zipper
"""
HEADS = frozenset(_HEADS_TEXT.split())
# What is somebody's by name only: Gordon's Gym.
_SHOPS_TEXT = """
bakery bar barn bistro brewery burger burgers cafe café chicken coffee cosmetics deli depot diner donuts
electronics fitness foods furniture garden grill gym hotel ice inn kitchen market mart outfitters pharmacy
pizza pizzeria place pub restaurant roasters salon shack shop store studio subs supplies sushi tacos
tavern toys wings
"""
_SHOPS = frozenset(_SHOPS_TEXT.split())


def weigh_thing(text: str, start: int, end: int) -> int:
    """How much more of what is said there speaks of a thing than is known of the words as names."""
    start, end = _join_partners(text, start, end)
    head = _weigh_head(text, start, end)
    is_firm = head >= STRONG and not any(look_up_word(word).first for word in _WORD.findall(text[start:end]))
    if head < SHOP and not is_firm and has_person_cue(text, start, end):
        return PERSON
    return _count_cues(text, start, end) + head - _weigh_name(text, start, end)


def weigh_cues(text: str, start: int, end: int) -> int:
    """How much of what is said there speaks of a thing, whatever is known of the words."""
    return _count_cues(text, start, end) + _weigh_head(text, start, end)


def _join_partners(text: str, start: int, end: int) -> tuple[int, int]:
    """With both names of a firm: Lund & Sons."""
    capital = text[start].isupper()
    if (partner := _PARTNER_BEHIND.match(text, end)) and partner[1][0].isupper() == capital:
        end = partner.end()
    before = text[max(0, start - _MAX_CUE_CHARACTERS) : start]
    if (partner := _PARTNER_BEFORE.search(before)) and partner[1][0].isupper() == capital:
        start -= len(partner[0])
    return start, end


def _count_cues(text: str, start: int, end: int) -> int:
    before, behind = text[max(0, start - _MAX_CUE_CHARACTERS) : start], text[end : end + _MAX_CUE_CHARACTERS]
    weight = next((weight for weight, cue in _BEFORE if cue.search(before)), 0)
    if _OWNED.match(behind) or _MARK.match(behind) or (_ASKED.search(before) and _ANSWER.match(behind)):
        return weight + SURE
    found = next((weight for weight, cue in _BEHIND if cue.match(behind)), 0)
    if not found and _LISTED.match(behind):
        found = WEAK
    return weight + found


def _weigh_name(text: str, start: int, end: int) -> int:
    """How much the words are known as names: 0 for words that no list has."""
    words = _WORD.findall(text[start:end])
    facts = [look_up_word(word) for word in words]
    weight = max((2 if fact.first == 2 else 1 if fact.first or fact.last else 0 for fact in facts), default=0)
    if "&" in text[start:end]:
        weight -= STRONG
    elif len(words) > 1 and all((fact.first or fact.last) and not fact.common for fact in facts):
        weight += 1
    if not weight and len(text) >= _MIN_TEXT_CHARACTERS:
        weight -= WEAK
    if _PRONOUN.search(text):
        weight += 1
    weight -= _weigh_adjective(text, start, words)
    if len(words) == 1 and is_compound(words[0]):
        weight -= WEAK
    # What speaks for a thing isn't evidence by itself: rare names of people are in no list either.
    return weight if "&" in text[start:end] else max(0, weight)


def _weigh_head(text: str, start: int, end: int) -> int:
    """Whether the words end in, or go on with, what things are called: Vela Cream; Clay, of Clay Theory."""
    words = _WORD.findall(text[start:end])
    weight = _weigh_noun(words[-1], words[0]) if len(words) > 1 else 0
    before = (
        _NAME_BEFORE.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start]) if len(words) == 1 else None
    )
    if before and not look_up_word(before[1]).first and before[1].lower() not in NON_NAMES:
        weight = _weigh_noun(words[0], before[1])
    behind = _WORD_BEHIND.match(text, end)
    if not weight and behind and words:
        weight = _weigh_noun(behind[2], words[-1], owned=behind[1] is not None)
    return weight


def _weigh_noun(word: str, name: str, owned: bool = False) -> int:
    """A noun of the list, or in capitals any ordinary word that isn't a surname, behind a name."""
    plain, capital = word.lower(), word[0].isupper()
    if capital != name[0].isupper() or (owned and not capital):
        return 0
    fact = look_up_word(plain)
    if (
        not owned
        and is_compound(plain)
        and (capital or any(plain.endswith(head) for head in HEADS if len(head) > _MIN_PART))
    ):
        return STRONG
    if owned and plain in _SHOPS:
        return SHOP
    if plain in HEADS:
        return WEAK if fact.last == 2 else STRONG + WEAK
    if capital and not owned and fact.common and not fact.first and fact.last < 2 and plain not in NON_NAMES:
        return STRONG
    return 0


def _weigh_adjective(text: str, start: int, words: list[str]) -> int:
    """An ordinary word with the same letter case before a name: Veggie Vera."""
    if len(words) > 1:
        word, name = words[0], words[1]
    elif words and (before := _CAPITALIZED_BEFORE.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start])):
        word, name = before[1], words[0]
    else:
        return 0
    fact, plain = look_up_word(word), word.lower()
    if word[0].isupper() != name[0].isupper() or not fact.common or fact.first or plain in NON_NAMES:
        return 0
    return WEAK if fact.last or plain in _ADDRESSES else STRONG


def is_compound(word: str) -> bool:
    """Whether no list has a word, and it is made of two ordinary ones: Northpeak."""
    plain = word.lower()
    if any(look_up_word(plain)):
        return False
    return any(
        look_up_word(plain[:cut]).common and look_up_word(plain[cut:]).common
        for cut in range(_MIN_PART, len(plain) - _MIN_PART + 1)
    )

"""Weighs whether a word that looks like a name is a thing: a product, a shop, a firm.

Words and forms that speak of things ("my X broke", "cheaper than X", "X in blue", "X Wireless") against what
is known of the word as a name. What speaks of a person (:mod:`person_cues`) decides before anything else.
"""

import re

from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.name_rules import NON_NAMES
from datasets_app.domain.pii.names.person_cues import has_person_cue

PERSON = -10  # the weight of a person's cue
SHOP, STRONG, WEAK = 4, 2, 1
_MAX_CUE_CHARACTERS = 48

_DETERMINER = re.compile(
    r"\b(?:the|an?|this|that|these|those|my|your|our|their|his|her|its|another|new|newest|latest|old"
    r"|original|free"
    r"|extra|every|each|any|some|both|same|whole|which|what|small|smaller|large|larger|medium|big|bigger"
    r"|cheap"
    r"|cheaper|fresh|famous|regular|double|single|limited|team|one|two|three|four|five|\d{1,3}x?|more"
    r"|no)\s[\"“']?$",
    re.IGNORECASE,
)
_VERBS = (
    r"order(?:ed|ing)?|reorder(?:ed)?|buy|buys|buying|bought|got|gets?|return(?:ed|ing)?|cancel(?:ed|led"
    r"|ing)?"
    r"|us(?:e|ed|es|ing)|tr(?:y|ied|ying)|we?ar|wearing|wore|install(?:ed)?|updat(?:e|ed|ing)|charg(?:e|ed"
    r"|ing)"
    r"|pair(?:ed|ing)?|wash(?:ed)?|assembl(?:e|ed|ing)|dropp?(?:ed)?|replac(?:e|ed|ing)|exchang(?:e|ed)"
    r"|swap(?:ped)?"
    r"|launch(?:ed|ing)?|restock(?:ed|ing)?|recommend|stock|sell|sells|sold|carry|add(?:ed)?|need|want|love"
    r"|miss|prefer"
    r"|hate|own|received?|unbox(?:ed|ing)?|preorder(?:ed)?|pause[d]?|renew(?:ed)?|upgrad(?:e|ed|ing)"
    r"|download(?:ed)?"
    r"|compar(?:e|ed|ing)|price match|review(?:ing)?|include[sd]?|contains?|has|have|had|bring|take|eat"
    r"|drink|wait for"
    r"|subscribe[d]? to|left|leaving|quit|joined|mention(?:ed|ing)?|talk(?:ing)? about"
    r"|works? with|obsessed with|introducing|meet|bring back|rip|unlike|according to|swears? by|dreaming of"
    r"|fight over"
    r"|imagine|hello to|asking about|out of|named|pronounce|stands? for|behind|without|pick:|answer:|i booked"
    r"|obsessed with|waiting for|love love|turning|discontinue[d]?|only|just|instead of|a fan of"
)
_OBJECT_VERB = re.compile(rf"\b(?:{_VERBS})\s[\"“']?$", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"\b(?:than|vs\.?|versus|at|by|from|of|between|about|on|in|with|without|against|over|like|via|to|or|and"
    r"|into|for)"
    r"\s[\"“']?$",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:than|vs\.?|versus|between|instead of|(?:one|ones) (?:by|from|at)|(?:back|switch(?:ed|ing)?"
    r"|mov(?:e|ed|ing)) to"
    r"|(?:switch(?:ed|ing)?|mov(?:e|ed|ing)|away) from|compar(?:e|ed|ing) (?:it |this )?(?:to"
    r"|with))\s[\"“']?$",
    re.IGNORECASE,
)
_COLORS = "black|white|blue|red|green|gr[ae]y|pink|yellow|purple|beige|brown|navy|orange|silver|gold|mint"
_STATES = (
    "back|sold out|out of stock|in stock|available|unavailable|on sale|on its way|waterproof|discontinued"
    "|worth|overrated"
    "|underrated|broken|missing|gone|made (?:in|of|from|by|with)|made|great for|perfect for|too (?:small"
    "|big|loud|expensive|pricey|sweet|salty|tight)"
    "|smaller|bigger|cheaper|lighter|heavier|the best (?:thing|one|seller)|our (?:best|newest|most|latest)"
    "|owned by|a classic|vegan|gluten|currently|half (?:off|price)|free|included|part of|better than|down"
    "|closed|open|hiring|compatible|delayed|backordered|expensive|delicious|leaking|stuck|cold|warm|hot"
)
_PREDICATE = re.compile(
    r"\s(?:ships?|shipped|arrives?|arrived|works?|fits?|comes?|costs?|charges? [$€£]?\d+|starts? (?:at"
    r"|from)|drops? on"
    rf"|(?:is|are|was|isn['’]?t|aren['’]?t|wasn['’]?t|not) (?:(?:also|now|still|really|so|always|finally"
    rf"|currently|only)\s)?(?:{_STATES})"
    r"|(?:won['’]?t|doesn['’]?t|didn['’]?t|does not|did not|will not|can['’]?t) (?:turn|work|fit|charge"
    r"|start|connect|load|open"
    r"|close|come|pair|boot|fold|ship|arrive|last|keep)"
    r"|broke|leaks?|leaked|ran out|lasts?|sold out|restocked|says delivered|sucks?|rocks|rules|slaps|copies"
    r"|ships"
    r"|in shambles|closing|stores?|shops?|sells?|offers?|tastes?|smells?|looks? (?:great|cheap|nice)|feels?"
    rf"|in (?:{_COLORS}|size|small|medium|large|x?xl)|(?:for|at) [$€£]\s?\d+|[$€£]\d+|again\?|changed"
    rf"|did it first"
    r"|has (?:an?|no|free|better|the)|have (?:an?|no|free|better|the)|instead|>+|could never"
    r"|doesn['’]?t (?:do|have|offer)"
    r"|owners|fans|members|users|customers|lovers|supremacy|season|edition|hits different|(?:got"
    r"|gets) (?:an?|the)|stopped"
    r"|keeps (?:beeping|crashing|freezing|rattling|leaking|emailing|sending|raising)|merch|restock|half off"
    r"|half the price"
    r"|collab|tho\b|who\?|it is[!.]|refugee|arrived|yet\?)(?!\w)",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"\b(?:is|are|was|isn['’]?t|aren['’]?t|will|does|do|did|can|has|won['’]?t)\s$", re.IGNORECASE
)
_ANSWER = re.compile(
    rf"\s(?:{_STATES}|work|fit|come|ship|last|cost|need|include|support|arrive|turn|taste|smell|charge"
    rf"|offer|sell)\b",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"\s?[™®©]|\s(?:v?\d{1,4}(?:\.\d+)?|[SMLX]{1,3}|Pro|Plus|Max|Mini|Lite|Ultra|Premium|SE|XS)\b(?!['’])"
    r"|\s[A-Z]{2,4}\s\d"
)
_OWNED = re.compile(
    r"['’]s? (?:version|apps?|stores?|shops?|website|site|prices?|pricing|delivery|shipping|service|menu"
    r"|fries|burgers?"
    r"|products?|manual|battery|screen|customer service|competitors?|ads?|range|selection|box(?:es)?)\b"
    r"|['’]s(?=\s(?:could|can|would|will|is|was|has|had|who|when|and|or|but|half|doesn|does|keeps|bought|in"
    r"|on|because|again"
    r"|tho|yours|here)\b|\s?[?!])",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\s(?:or|vs\.?|versus)\s", re.IGNORECASE)
_LISTED = re.compile(r"\s(?:and|with|than)\s|,\s", re.IGNORECASE)
_WORD_BEHIND = re.compile(r"(['’]s)?\s([A-Za-z]+)\b")
_CAPITALIZED_BEFORE = re.compile(r"[\w,]\s([A-Z][a-z]+)\s$")
_PARTNER_BEHIND, _PARTNER_BEFORE = re.compile(r"\s?&\s?\w{1,20}"), re.compile(r"\b\w{1,20}\s?&\s?$")
_PRONOUN = re.compile(r"\b(?:s?he|his|him|hers?)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_MIN_PART = 3

# What goods, shops and firms are called, behind their names: Vela Cream, Orion Wireless, Gordon's Gym.
_HEADS_TEXT = """
academy account adapter air airlines airways app apparel armchair armor audio auto bag bags bakery balm
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
    """More than 0: what is said there speaks more of a thing than is known of the words as names."""
    start, end = _join_partners(text, start, end)
    head = _weigh_head(text, start, end)
    is_firm = head >= STRONG and not any(look_up_word(word).first for word in _WORD.findall(text[start:end]))
    if head < SHOP and not is_firm and has_person_cue(text, start, end):
        return PERSON
    return _count_cues(text, start, end) + head - _weigh_name(text, start, end)


def _join_partners(text: str, start: int, end: int) -> tuple[int, int]:
    """With both names of a firm: Lund & Sons."""
    if partner := _PARTNER_BEHIND.match(text, end):
        end = partner.end()
    if partner := _PARTNER_BEFORE.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start]):
        start -= len(partner[0])
    return start, end


def _count_cues(text: str, start: int, end: int) -> int:
    before, behind = text[max(0, start - _MAX_CUE_CHARACTERS) : start], text[end : end + _MAX_CUE_CHARACTERS]
    weight = 0
    if _DETERMINER.search(before) or _COMPARED.search(before):
        weight += STRONG
    elif _OBJECT_VERB.search(before) or _PREPOSITION.search(before):
        weight += WEAK
    if (
        _ASKED.search(before)
        and _ANSWER.match(behind)
        or _PREDICATE.match(behind)
        or _OWNED.match(behind)
        or _MARK.match(behind)
    ):
        weight += STRONG
    elif _CHOICE.match(behind) or (weight and _LISTED.match(behind)):
        weight += WEAK
    return weight


def _weigh_name(text: str, start: int, end: int) -> int:
    """How much the words are known as names: 0 for words that no list has."""
    words = _WORD.findall(text[start:end])
    facts = [look_up_word(word) for word in words]
    weight = max((2 if fact.first == 2 else 1 if fact.first or fact.last else 0 for fact in facts), default=0)
    if "&" in text[start:end]:
        weight -= WEAK
    elif len(words) > 1 and all((fact.first or fact.last) and not fact.common for fact in facts):
        weight += 1
    if _PRONOUN.search(text):
        weight += 1
    if "&" in text[start:end]:
        weight -= WEAK
    if _is_after_adjective(text, start, words):
        weight -= WEAK
    if len(words) == 1 and is_compound(words[0]):
        weight -= WEAK
    return weight


def _weigh_head(text: str, start: int, end: int) -> int:
    """Whether the words end in, or go on with, what things are called: Vela Cream; Clay, of Clay Theory."""
    words = _WORD.findall(text[start:end])
    weight = _weigh_noun(words[-1], words[0]) if len(words) > 1 else 0
    behind = _WORD_BEHIND.match(text, end)
    if not weight and behind and words:
        weight = _weigh_noun(behind[2], words[-1], owned=behind[1] is not None)
    return weight


def _weigh_noun(word: str, name: str, owned: bool = False) -> int:
    """A noun of the list, or in capitals any ordinary word that is no surname, behind a name."""
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


def _is_after_adjective(text: str, start: int, words: list[str]) -> bool:
    """Whether an ordinary word with the same letter case stands before a name: Veggie Vera."""
    if len(words) > 1:
        word, name = words[0], words[1]
    elif words and (before := _CAPITALIZED_BEFORE.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start])):
        word, name = before[1], words[0]
    else:
        return False
    fact = look_up_word(word)
    return (
        word[0].isupper() == name[0].isupper()
        and fact.common > 0
        and not fact.first
        and word.lower() not in NON_NAMES
    )


def is_compound(word: str) -> bool:
    """Whether no list has a word, and it is made of two ordinary ones: Northpeak."""
    plain = word.lower()
    if any(look_up_word(plain)):
        return False
    return any(
        look_up_word(plain[:cut]).common and look_up_word(plain[cut:]).common
        for cut in range(_MIN_PART, len(plain) - _MIN_PART + 1)
    )

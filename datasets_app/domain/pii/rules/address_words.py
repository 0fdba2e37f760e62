"""The vocabulary of postal addresses, in lower case: kinds of streets, units, states, countries."""

from datasets_app.domain.pii.rules.cue_words import make_words

# English: behind the name. These are streets in any text ("12 maple street").
STREET_TYPES = make_words(
    "street st road rd avenue ave av lane ln boulevard blvd parkway pkwy terrace terr crescent cres mews "
    "highway hwy "
    "turnpike tpke expressway expwy freeway fwy causeway streets roads avenues broadway close esplanade"
)
# These also mean something else: they need capitals, or more of an address around them.
PLACE_TYPES = make_words(
    "drive dr court ct place pl circle cir way square sq trail trl grove gardens gdns row walk hill hl "
    "plaza plz alley aly "
    "loop path pike quay parade pde wharf heights hts ridge rdg view views park green rise vale mount mt "
    "point pt pointe "
    "crossing xing run pass bend cove creek glen hollow knoll landing manor meadow meadows mill mills "
    "mall oval gate cross "
    "driveway field fields roadway pathway walkway laneway thoroughfare circuit circus arcade approach "
    "wynd courtyard colonnade "
    "boulevards tollway promenade quadrant"
)
# Endings of street names that the United States Postal Service lists, and hardly anybody else.
RARE_TYPES = make_words(
    "branch bridge brook brooks burg burgs bypass camp canyon cape center centers centre cliff cliffs "
    "club common commons corner "
    "corners course courts coves crest crossroad crossroads curve dale dam divide drives estate estates "
    "extension fall falls ferry "
    "flat flats ford fords forest forge forges fork forks fort garden gateway glens greens groves harbor "
    "harbors haven hills inlet "
    "island islands isle junction junctions key keys knolls lake lakes land light lights loaf lock locks "
    "lodge mission motorway "
    "mountain mountains neck orchard overpass parks passage pine pines plain plains points port ports "
    "prairie radial ramp ranch "
    "rapid rapids rest river route rue shoal shoals shore shores skyway spring springs spur spurs squares "
    "station stravenue stream "
    "summit throughway trace track trafficway tunnel underpass union unions valley valleys via viaduct "
    "village villages ville vista "
    "walks wall ways well wells circles copse dell hamlets harbours hive hollows lanes parkways bank "
    "paddock chase towers access alleyway amble anchorage artery basin "
    "beach block brace brae break brow byway centreway circlet concourse corso crossway cruiseway cutting "
    "deviation dip distributor edge "
    "elbow end entrance fairway firetrail follow footway foreshore formation front frontage gap gates "
    "glade grange ground gully highroad "
    "interchange intersection laneway lees line link little lookout lower meander mew nook outlook "
    "parklands part piazza plateau pocket quad "
    "quadrangle quays ramble range reach reserve retreat ride ridgeway ring riverway riviera roadside "
    "ronde rosebowl rotary round siding slope "
    "sound stairs steps strand strip subway tarn top tor triangle trunkway turn upper villas wade walkway"
)
ALL_TYPES = STREET_TYPES | PLACE_TYPES | RARE_TYPES

# In front of the name: "rue de la Paix", "Calle Mayor", "ul. Kwiatowa".
PREFIX_TYPES = make_words(
    "rue chemin impasse allée quai faubourg ruelle sentier venelle résidence residence lotissement hameau "
    "boulevard bd bld avenue "
    "calle avenida avda paseo camino carretera ctra travesía rambla glorieta callejón cañada urbanización "
    "pasaje pasadizo acceso "
    "cuesta callejuela viale piazza corso vicolo contrada piazzale lungomare "
    "borgo rotonda incrocio rua travessa alameda praça praca rodovia ladeira viela beco conjunto "
    "loteamento jardim "
    "ul ulica aleja aleje plac rondo osiedle ulice náměstí nám třída bulevardul bdul aleea șoseaua "
    "ул улица проспект пр-т пр-кт переулок шоссе набережная бульвар площадь вул вулиця алл аллея бул "
    "тракт проезд οδός jalan jln jl gg gang soseaua intrarea drumul piața splaiul "
    "privada calzada prolongación retorno cerrada andador circuito periférico continuación ampliación blv "
    "rang allé "
)
# These are words of English, too, or short: they need a capital and a number at the end of a part.
LOOSE_PREFIX_TYPES = make_words(
    "via c/ cl c al pl os str strada largo av plaza pza camino place route rte cours square passage "
    "promenade ronda estrada r "
    "vial alley voie parque quadra setor trecho vila sítio fazenda estação residencial recanto "
    "praia pátio núcleo morro lagoa favela feira esplanada distrito condomínio colônia chácara campo área "
    "aeroporto "
    "diagonal eje corredor viaducto peatonal periferico ш пр туп "
    "passarela trevo quinta stretto canale пр пер пл наб б-р calea sos cité villa esplanade montée clos"
)
# What a compound with one of these endings names is a street: Hauptstraße, Storgatan, Kerkstraat.
SUFFIX_TYPES = tuple(
    "straße strasse stasse str str. gasse allee platz chaussee weg damm ufer steig stieg "
    "straat laan plein gracht singel dreef kade steeg dijk baan "
    "gatan vägen vagen gränd stigen torget backen allén leden "
    "gata gaten veien vegen vej gade allé stræde torv vænget "
    "katu kuja polku raitti kaari väylä penger "
    "utca".split()
)
# Endings of other words, too: only with a postal code behind them (Schlossring 5, 12345 Ort).
LOOSE_SUFFIX_TYPES = tuple(
    "ring pfad hof berg graben markt winkel kamp park promenade wall tor tie ranta rinne tori gate plass "
    "vei plads "
    "veg pad hoek burg wal plan slingan väg gård gården gang haven bakken parken hagen marken toften ager "
    "ruelle horst feld zeile".split()
)
# Words behind a name of their own: "Petőfi utca 12", "Lange Straße 5", "Brivibas iela 3".
SEPARATE_TYPES = make_words(
    "straße strasse str str. weg allee platz gasse ring damm ufer utca út útja tér körút köz sétány iela "
    "gatvė g. tänav tn "
    "caddesi cad sokak sok sokağı bulvarı katu tie gatan vägen väg gata gate vei vej allé allee plein "
    "straat laan kade"
)
# Words that begin a German, Dutch or Nordic street name without a kind of street: "Am Markt 5".
NAME_STARTS = make_words(
    "am an auf beim im in unter zum zur hinter vor aan op achter de het den der dem alte alter altes neue "
    "neuer neues"
)

# Parts of a name in any text, and those that are only between two words with capitals.
PARTICLES = make_words(
    "de del della dello dei degli di da do dos das du des la las le les los el lo van von zu zur zum der "
    "den dem het ten ter 't "
    "upon saint sainte st ste san santa santo são del' dell' nell' l d"
)
LINKING_WORDS = make_words(
    "a i w y e o z s v on in by under next and the of to an am aan op bei ob vor och og ja sur sous aux "
    "au à en et lès pri per na nad "
    "pod we &"
)


UNIT_WORDS = (
    r"apt|apartment|appartement|appartamento|apartamento|appt|app|unit|suite|ste|flat|floor|fl|level|lvl"
    r"|lot|room|rm|bldg|edif|edificio|torre|dto|oficina|of|local|manzana|mz|etapa"
    r"|building|block|blk|tower|studio|shop|office|penthouse|trailer|space|spc|slip|hangar|dept|p\.?o\.? "
    r"?box|box|villa|door"
    r"|piso|puerta|pta|planta|plta|escalera|esc|bloque|blq|portal|depto|dpto|departamento|interior|int"
    r"|interno|scala|sc|piano"
    r"|apto|ap|bloco|bl|sala|casa|andar|fundos|conj|cj|cjto|lote|lt|quadra|qd|bairro|col|colonia|colônia"
    r"|lgh|lägenhet|vån|lok|lokal|mieszkanie|m|kl|bât|bâtiment|bat|étage|etage|esc|porte|hall|wohnung|whg"
    r"|wg|top|stiege|stg"
    r"|stock|og|eg|dg|hinterhaus|vorderhaus|tür|bus|bte|boîte|boite|huis|hs|as|krs|rappu|кв|квартира|д|дом"
    r"|корп|корпус|к|стр|строение"
    r"|подъезд|этаж|оф|офис|daire|kat|blok|byt|emelet|em|ajtó|et|sc|bl|ap|nr|no|plot|h\.? ?no|house|hno"
    r"|door no|d\.? ?no|phase|sector"
    r"|ward|wing|stage|cross|main|gali|gala|near|opp"
)
UNIT_ORDINALS = (
    r"floor|flr|fl|storey|story|stock|etage|étage|og|piso|planta|piano|andar|verdieping|verd|tr|våning|vån"
    r"|emelet|em|patro|krs|kat|sal"
    r"|cross|main|stage|phase|block|sector|izq(?:uierda)?|izda|dcha|dch|derecha|centro|ctro|puerta|etaj|th"
    r"|tv|mf"
)

_US_STATES = (
    "al ak az ar ca co ct de dc fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny "
    "nc nd oh ok or pa pr ri sc sd tn "
    "tx ut vt va wa wv wi wy as gu mp vi fm mh pw aa ae ap"
)
_CANADIAN = "ab bc mb nb nl ns nt nu on pe qc sk yt"
_AUSTRALIAN = "nsw vic qld wa sa tas act nt"
_BRAZILIAN = "ac al ap am ba ce df es go ma mt ms mg pa pb pr pe pi rj rn rs ro rr sc sp se to"
STATE_CODES = make_words(f"{_US_STATES} {_CANADIAN} {_AUSTRALIAN}")
AUSTRALIAN_STATES = make_words(_AUSTRALIAN)
STATE_NAMES = (
    "alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|georgia|hawaii|idaho"
    "|illinois|indiana|iowa"
    "|kansas|kentucky|louisiana|maine|maryland|massachusetts|michigan|minnesota|mississippi|missouri"
    "|montana|nebraska|nevada"
    "|new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma|oregon"
    "|pennsylvania|rhode island"
    "|south carolina|south dakota|tennessee|texas|utah|vermont|virginia|washington|west virginia|wisconsin"
    "|wyoming"
    "|district of columbia|puerto rico|ontario|quebec|québec|british columbia|alberta|manitoba"
    "|saskatchewan|nova scotia"
    "|new brunswick|newfoundland(?: and labrador)?|prince edward island|yukon|nunavut|northwest territories"
    "|new south wales|victoria|queensland|south australia|western australia|tasmania|northern territory"
    "|maharashtra|karnataka|tamil nadu|kerala|gujarat|rajasthan|punjab|haryana|uttar pradesh|madhya "
    "pradesh|andhra pradesh"
    "|telangana|west bengal|bihar|odisha|assam|jharkhand|goa|delhi|new delhi"
)
COUNTRIES = (
    "u\\.?s\\.?a\\.?|united states(?: of america)?|u\\.?k\\.?|united kingdom|great britain|england"
    "|scotland|wales|northern ireland"
    "|ireland|canada|australia|new zealand|germany|deutschland|france|spain|españa|italy|italia"
    "|netherlands|the netherlands"
    "|nederland|belgium|belgië|belgique|luxembourg|switzerland|schweiz|suisse|svizzera|austria|österreich"
    "|portugal|brazil|brasil"
    "|mexico|méxico|argentina|chile|colombia|peru|perú|sweden|sverige|norway|norge|denmark|danmark|finland"
    "|suomi|poland|polska"
    "|czechia|czech republic|česko|česká republika|slovakia|slovensko|hungary|magyarország|romania|românia"
    "|bulgaria|greece|turkey"
    "|türkiye|russia|россия|ukraine|україна|india|japan|china|south korea|korea|singapore|malaysia"
    "|indonesia|philippines|thailand"
    "|vietnam|south africa|nigeria|kenya|egypt|israel|uae|united arab emirates"
)

# No part of the name of a street or place: what people write around an address, and what numbers count.
STOP_WORDS = make_words(
    """
    a an and or but if so because since while when where why how what which who that this these those there
    here
    i im i'm i'd i'll i've you he she it its it's we they my your his her our their me him us them mine yours
    is are was were be been being am pm has have had do does did done can could will would should may might
    must shall
    not no yes ok okay yeah please pls plz thanks thank thx sorry hello hi hey dear regards cheers sincerely
    to from for with without at by in on of off into onto about after before between during until till near
    than then
    need needs want wants like get got getting go goes going come comes take takes took make makes made give
    gives know see say
    said says tell told ask asked call called send sends sent ship shipped deliver delivered mail mailed
    live lives living lived
    stay staying work works move moved moving visit find found look looking help try book booked order
    ordered pay paid
    reach reached listed called named headed heading going visit visited attraction attractions as
    use used leave left arrive arrived meet pick drop change changed update updated check confirm
    show open opened close(d) closed
    start started stop stopped put keep let add added cost costs
    minute minutes min mins hour hours hr hrs second seconds sec secs day days week weeks month months year
    years yr yrs times
    time mile miles km kms kilometer kilometers kilometre kilometres meter meters metre metres feet foot
    inch inches acres
    people persons person guests guest passengers rooms room bedroom bedrooms beds bed bath baths bathroom
    bathrooms star stars
    ticket tickets night nights adult adults kid kids child children dollar dollars euro euros pound pounds
    usd eur percent
    item items copies copy orders points lanes hotels hotel restaurants restaurant options option places
    stops cars car bike bikes
    seats seat tables table rides ride trips trip homes house(s) houses apartments properties events
    songs movies different other
    others more less most least few many much several some any all both each every another same only just
    also still already again
    very really quite too even ever never always often soon now today tomorrow last next first tonight
    yesterday
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september
    october november december asap anyway otherwise however instead maybe perhaps actually basically currently
    contact phone telephone tel mobile cell fax email e-mail mail website web url http https dob ssn account
    number attn name
    mr mrs ms miss customer user agent assistant bot
    mein meine ich und oder der die das ist sind war bitte danke hallo wohne wir sie er es nicht auch noch
    mit bei nach seit für
    je suis mon ma mes est et ou merci bonjour pour avec chez depuis que qui nous vous
    mi mis es y o gracias hola por para con desde que vivo está
    il mio mia sono ed grazie ciao per con che abito
    meu minha é obrigado obrigada olá por com que moro
    mijn ik en is met voor dank hallo woon
    jag min mitt och är bor tack hej med för
    jest mam moje mój dziękuję cześć mieszkam oraz
    """
)
# Behind a kind of street in small letters: what the street is said of, and no street.
NON_STREET_NEXT = make_words(
    "bike bikes trip trips closure closures works work worker workers side map maps race races condition "
    "conditions construction "
    "accident accidents test tests rage runner food art artist artists sign signs light lights smart "
    "clothes style level party "
    "parties taco tacos vendor vendors cred fair fairs dog dogs dance performers performer noise tax "
    "taxes safety users crossing "
    "crossings rules network networks surface bridge racing cycling cyclist kids price prices noise wear "
    "fighter photography"
)
_NAMES_THAT_ARE_STOP_WORDS = make_words(
    "march april may june july august will long open best new english french"
)


def may_be_in_name(word: str, before: str, following: str) -> bool:
    """Whether a word can be part of the name of a street or a place, between those two words of the text."""
    lower = word.lower().rstrip(".")
    if lower in PARTICLES:
        return True
    if lower in LINKING_WORDS:
        return word != "I" and before[:1].isupper() and (following[:1].isupper())
    if lower in STOP_WORDS:
        return word[0].isupper() and lower in _NAMES_THAT_ARE_STOP_WORDS
    return True

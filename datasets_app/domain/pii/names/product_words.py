"""Words beside which a product stands, or what bears the name of who found it."""

# Directly behind a product.
_NOUNS_TEXT = """
actors admin ai api apis app application apps artifact artifacts assistant backend battery binary board
boards bot branch breakfast broker brokers bucket bug build builder builds burger burgers cable camera
cars chain charger charging chart charts chatbot chicken cli client cloud cluster clusters coffee commit
compiler config configuration console consumer container containers controller cookbook cookbooks copilot
coupon coupons crash crawler daemon dag dags dashboard database databases db dealership deployment
deployments desktop developer developers device devices dialect distribution distro doc docs
documentation drive-thru driver drivers ecosystem editor emulator engine error errors event exception
export exporter exporters exports extension extensions fixture footprint fork formatter framework
frameworks franchise fries frontend gateway gateways gem gems gift github hub ide image images ingester
ingress instance instances insurance integration interpreter issue job jobs kernel keyboard keystore kit
lab language languages laptop libraries library license lint linter listener location locations log login
logs master meal menu middleware migration migrations mirror mirrors mobile module modules monitor mouse
nodes notebook notebooks nuggets operator operators orm outlet package packages page pages parser
partition partitions phone pipeline pipelines plan playbook playbooks plugin plugins pod pods printer
printers producer program programmer programming project projects proxy queries query queue queues relay
release releases repl replica replicas repo repository restaurant restaurants router routine runner
runtime salad salads sandwich sandwiches sauce scanner schema script scripts sdk sensor sensors server
servers service services shard shell showroom sidecar site skill skills slave smartwatch snapshot snippet
socket software speaker speakers spec specs stack stock store stores stream streams stubs subreddit
subscription support syntax tablet task tasks template templates test tests tombstones tool toolbar
toolchain tools topic topics topology transport tutorial tutorials tv ui update updates upgrade user
users version versions vhost view views vm volume warehouse watch web webhook webpage website wheel
widget workbench worker workers workflow wrapper
"""
NOUNS = frozenset(_NOUNS_TEXT.split())
# Directly behind who found it.
_METHODS_TEXT = """
algorithm algorithms arrival arrivals causality chain chains cipher clock clocks code codes coding
coefficient complexity conjecture constant correlation criterion curve curves decomposition diagram
distance distribution divergence edge edges elimination equation equations estimator factorization faults
filter fit function functions graph hash heap index inequality init initialization interpolation
iteration kappa kernel law lemma lines linkage loss machine map maps material matrix method methods
metric model net nets network networks noise norm number numbers paradox polynomial polynomials posterior
prior problem process rank sampling score sequence series shading shuffle smoothing space splines
statistic test theorem tiling transform transformation tree triangle triangulation uniform window windows
"""
METHODS = frozenset(_METHODS_TEXT.split())
HEADS = NOUNS | METHODS
# Directly behind any word: what belongs to it isn't a person.
_MACHINE_NOUNS_TEXT = """
adapter adapters algorithm algorithms api apis backend binding bindings bugfix bugfixes causality cli cluster
clusters codebase coefficient compiler config conjecture connector connectors container containers daemon
dashboard decomposition distro divergence driver drivers endpoint endpoints equation equations estimator diode
exporter extension extensions factorization failover firmware framework frameworks gpu gpus heuristic hitbox
ide inequality instance instances multiplier interpolation kernel lemma libraries library linkage linter
middleware module modules nodes orm parser pipeline pipelines plugin plugins pod pods polynomial polynomials
replica replicas repo repository runtime sdk sensor sensors server servers shader shaders skins smoothing
textures theorem toolkit transform triangulation webhook webhooks widget widgets wrapper yaml
"""
MACHINE_NOUNS = frozenset(_MACHINE_NOUNS_TEXT.split())
# Directly before what a machine or a program is called.
MACHINE_LABELS = frozenset(
    "codename codenamed daemon dockerfile framework library microservice namespace package plugin".split()
)
# Directly behind a shop's possessive; a laptop would be a person's.
_SHOP_NOUNS_TEXT = """
app breakfast burger burgers chain chicken coffee coupon coupons drive-thru franchise fries gift location
locations meal menu nuggets outlet restaurant restaurants salad salads sandwich sandwiches sauce site
stock store stores twitter website
"""
SHOP_NOUNS = frozenset(_SHOP_NOUNS_TEXT.split())
# Directly before a product, and seldom before a person.
_CUES_BEFORE_TEXT = """
a an another compile compiled compiling configure configured configuring debug debugging deploy deployed
deploying download downloaded import in install installed installing learn learning reboot rebooted
reinstall reinstalled restart restarted restarting run running runs same the uninstall uninstalled upgrade
upgraded upgrading use used uses using via
"""
CUES_BEFORE = frozenset(_CUES_BEFORE_TEXT.split())
# What software does, directly behind its name.
_DEEDS_TEXT = """
compiles converges crashed crashes crashing diverges fails freezes hangs panics segfaults supports throws
"""
DEEDS = frozenset(_DEEDS_TEXT.split())
_STATES_TEXT = """
abandoned archived broken deprecated discontinued down installed obsolete open-source slow unmaintained
unreachable
"""
STATES = frozenset(_STATES_TEXT.split())  # behind "is"
# Who is told to do something at home: "tell Alexa to turn it off".
ASSISTANTS, REQUESTS = (
    frozenset({"alexa", "siri", "cortana", "bixby"}),
    frozenset("ask asked tell told".split()),
)
# What software can't do, or keeps doing.
_REFUSED_TEXT = "boot build compile connect converge install launch load parse render resolve suspend sync"
REFUSED = frozenset(_REFUSED_TEXT.split())
KEPT_DOING = frozenset("crashing dying failing freezing hanging restarting segfaulting timing".split())
# Two words before a product: "running on Jessie", "switched to Julia".
CUES_IN_PAIRS = {
    "on": frozenset(
        "boot booted built deployed host hosted install installed ran run running runs works".split()
    ),
    "to": frozenset(
        "convert converted migrate migrated migrating port ported switch switched switching".split()
    ),
    "from": frozenset("migrate migrated migrating ported switch switched switching".split()),
}
# Between two products.
CONNECTORS = frozenset({"and", "or", "vs", "versus", "to", ",", "/", "+", "&", "than"})
# Before a shop, where nothing that it owns follows: "at Wendy's", but "at Wendy's house".
PLACE_CUES = frozenset("at from to near like love hate visit visited inside outside eat eating".split())
_FUNCTION_WORDS_TEXT = """
a about after again all also am an and any are as at because before but by can did do does during ever
every for from had has have i if in instead is it just last near never next nor not now of off on only or
over right since so than that the then there they this though to today tomorrow tonight too until was we
were when where which while who why will with without would yesterday yet you
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_TEXT.split())

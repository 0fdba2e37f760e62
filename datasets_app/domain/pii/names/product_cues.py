"""Whether the words directly beside a term speak of a product: "the Jenkins server", "installed Julia"."""

import re

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
_NOUNS = frozenset(_NOUNS_TEXT.split())
# Directly before a product, and seldom before a person.
_CUES_BEFORE_TEXT = """
a an another compile compiled compiling configure configured configuring debug debugging deploy deployed
deploying download downloaded import in install installed installing learn learning reboot rebooted
reinstall reinstalled restart restarted restarting run running runs same the uninstall uninstalled upgrade
upgraded upgrading use used uses using via
"""
_CUES_BEFORE = frozenset(_CUES_BEFORE_TEXT.split())
# What software does, directly behind its name.
_DEEDS_TEXT = """
compiles converges crashed crashes crashing diverges fails freezes hangs panics segfaults supports throws
"""
_DEEDS = frozenset(_DEEDS_TEXT.split())
_OWNERS = frozenset({"our", "your"})
_LAST_WORD, _NEXT_WORD = re.compile(r"([\w-]+)\s+$"), re.compile(r"(?:['’]s)?\s+([\w-]+)")
_MAX_CUE_CHARACTERS = 30


def build_cue_patterns() -> tuple[str, str]:
    """What :func:`has_product_cue` looks for before and behind a term, as expressions of PostgreSQL."""
    behind = "|".join(sorted(_NOUNS | _DEEDS))
    return rf"\m({'|'.join(sorted(_CUES_BEFORE | _OWNERS))})\s+$", rf"^(['’]s)?\s+({behind})\M"


def has_product_cue(text: str, start: int, end: int) -> bool:
    """Whether the words directly before or behind ``text[start:end]`` speak of a product."""
    before = _LAST_WORD.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start])
    behind = _NEXT_WORD.match(text[end : end + _MAX_CUE_CHARACTERS])
    if before and before[1].lower() in _CUES_BEFORE | _OWNERS:
        return True
    return behind is not None and (behind[1].lower() in _NOUNS or behind[1].lower() in _DEEDS)

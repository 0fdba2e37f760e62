"""Names of machines inside a house: by their ending, by what their labels say, by the words before them.

``jenkins.acme.internal`` can be nothing else; ``vpn-ber2.acme.com`` says what it is; after "ssh" or
"could not resolve host:" a single word may be a machine. ``www.example.com``, ``docs.python.org``
and ``settings.py`` are none. Linear in the length of the text.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import HOST, Match, Span, drop_overlaps
from datasets_app.domain.pii.word_lists import read_word_lists


def search_folded(text: str) -> list[Match]:
    """Every internal host in a folded text without placeholders, by its start, without overlaps."""
    spans = [*_find_dotted_names(text), *_find_in_urls(text), *_find_announced_hosts(text)]
    return drop_overlaps(HOST, spans)


def search_host_names(text: str) -> list[Match]:
    """Those that :func:`search` tells by their names alone."""
    return drop_overlaps(HOST, [*_find_dotted_names(text), *_find_in_urls(text)])


# --- told by their labels ---------------------------------------------------------------------

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?"
_DOTTED_NAME = re.compile(rf"(?<![\w.@%$-]){_LABEL}(?:\.{_LABEL}){{1,9}}(?![\w@]|-\w|\.\w|\()")
_BACKWARDS = re.compile(r"[A-Za-z0-9_-]{1,63}")
_WORDS = read_word_lists(__file__)
_INTERNAL_SUFFIXES, _WEAK_SUFFIXES = _WORDS["internal endings"], _WORDS["weak endings"]
PUBLIC_SUFFIXES = _WORDS["top levels"]
# What only insiders reach, when it stands before the name of a company.
_INSIDER_LABEL = re.compile(
    r"(?:vpn|stag(?:e|ing)|stg|uat|preprod|pre-prod|corp|internal|intranet|intra|lan|dmz|mgmt|jenkins|bastion"
    r"|jump(?:host|box)?|ldap|k8s|kube|nas|esxi?|vcenter|nexus|artifactory|grafana|kibana|prometheus"
    r"|alertmanager"
    r"|consul|vault|nagios|zabbix|icinga|redis|postgres(?:ql)?|pgsql|mongo(?:db)?|kafka|elasticsearch"
    r"|rabbitmq"
    r"|memcached|cassandra|hadoop|printer|fileserver|backoffice|teamcity|sonar(?:qube)?|argocd|rancher|harbor"
    r"|rundeck|airflow|idrac|ilo|ipmi|oob|puppet|salt|ansible|rds|sql(?:server)?|mssql|oracle|dc|ad"
    r"|exchange|db|database|onprem|devbox|build|ci|runner|worker|svn|perforce|hq|colo"
    r"|datacenter)(?:[-_]?[a-z0-9]{1,12}){0,3}"
    r"|(?:[a-z0-9]{1,20}-){0,3}(?:vpn|staging|stg|uat|preprod|prod|dev|qa|int|corp|internal|db|dc"
    r"|lan)\d{0,3}",
    re.IGNORECASE,
)
# web-03, app12, ip-10-0-0-1: machines are numbered, sites are not (www2 and ns1 are).
_NUMBERED_LABEL = re.compile(
    r"(?!www\d*\b|ns\d\b|mx\d?\b|v\d|cdn)[a-z][a-z0-9]*(?:-[a-z0-9]+){0,5}?-?\d{2,4}[a-z]?", re.I
)
_EC2_HOST = re.compile(
    r"(?<![\w.-])(?:ip|ec2|domU)-\d{1,3}(?:-\d{1,3}){3}(?:\.[A-Za-z0-9-]{1,63}){0,6}", re.IGNORECASE
)
_CLOUD_HOST = re.compile(
    r"(?:^|\.)(?:rds|cache|elb|redshift|compute|compute-1|es|docdb|neptune"
    r"|efs)\.(?:[a-z0-9-]+\.)?amazonaws\.com$"
    r"|\.(?:database|blob|file|queue|table|vault|servicebus|redis\.cache|documents)\.(?:core\.)?"
    r"(?:windows|azure)\.(?:net|com)$|\.vault\.azure\.net$|\.cloudapp\.azure\.com$|\.compute\.internal$",
    re.IGNORECASE,
)
_PUBLIC_SITES = _WORDS["public sites"]
# "settings.local" and ".env.local" are files, "self.internal" and "com.acme.internal" are code.
_NON_HOST_LABELS = frozenset(
    "env config settings self this com org net io appsettings application us java".split()
)


def _find_dotted_names(text: str) -> Iterator[Span]:
    dot = text.find(".")
    while dot >= 0:
        go_on = dot + 1
        if text[dot - 1 : dot].isalnum() and text[go_on : go_on + 1].isalnum():
            before = _BACKWARDS.match(text[max(0, dot - 64) : dot][::-1])
            match = _DOTTED_NAME.match(text, dot - before.end()) if before else None
            if match:
                go_on = match.end()
                if _is_internal(match[0].lower()):
                    yield match.span()
        dot = text.find(".", go_on)
    if "-" in text:
        for match in _EC2_HOST.finditer(text):
            yield match.start(), match.start() + len(match[0].rstrip("."))


@lru_cache(maxsize=4096)
def _is_internal(name: str) -> bool:
    labels = name.split(".")
    last = labels[-1]
    if last in _INTERNAL_SUFFIXES or name.endswith(".home.arpa"):
        return labels[0] not in _NON_HOST_LABELS and not (labels[0].isdigit() and len(labels) == 2)
    if last in _WEAK_SUFFIXES:
        return (
            len(labels) >= 3
            and labels[0] not in _NON_HOST_LABELS
            and (last != "site" or _has_insider_label(labels[:-2]))
        )
    if last not in PUBLIC_SUFFIXES or len(labels) < 3:
        return False
    if _CLOUD_HOST.search(name):
        return True
    owner = 3 if labels[-2] in ("co", "com", "org", "net", "ac", "gov") and len(last) == 2 else 2
    return ".".join(labels[-owner:]) not in _PUBLIC_SITES and _has_insider_label(labels[:-owner])


def _has_insider_label(labels: list[str]) -> bool:
    return any(_INSIDER_LABEL.fullmatch(label) or _NUMBERED_LABEL.fullmatch(label) for label in labels)


# --- told by the words before them ------------------------------------------------------------

_NAME = rf"(?:{_LABEL})(?:\.{_LABEL}){{0,9}}"
_COMMAND = re.compile(
    r"(?<![\w./-])(?P<command>ssh|sftp|scp|rsync|ping6?|nslookup|dig|host|telnet|traceroute6?|tracert|mtr"
    r"|nc|ncat|nmap|mosh|rdesktop|ssh-copy-id|psping|tnsping|mstsc|net use|arp|whois|curl|wget)(?:\.exe)?"
    r"(?:[ \t]{1,3}-{1,2}[A-Za-z][\w-]{0,20}"
    r"(?:[ =](?:\d{1,6}|[\w./~-]{0,60}\.(?:pem|key|ppk)|~?/[^\s]{1,80}))?){0,6}"
    rf"[ \t]{{1,3}}(?P<user>[A-Za-z_][\w.-]{{0,31}}@)?(?P<host>{_NAME})(?![\w@(/]|\.\w)"
)
_HOST_PHRASE = lazy_re.compile(
    r"(?:\b(?:(?:db|database|mysql|pg|redis|smtp|ldap|mongo|proxy|server|remote|target|api|kafka|es)"
    r"[_ -]?(?:host|server)(?:[_ -]?name)?|host(?:[_ -]?name)?|server(?:[_ -]?name)?|data source"
    r"|computer(?:[_ -]?name)?|machine(?:[_ -]?name)?|node(?:name)?|fqdn|nameserver|resolver|proxy)"
    r"[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?"
    r"|\b(?:resolve|find|reach|contact|lookup)(?: the)? (?:host(?:name)?|server|address)(?: address)?"
    r":?[ \t]{1,2}[\"'`]?"
    r"|\b(?:log(?:ged|ging)?|ssh(?:ed|ing)?|connect(?:ed|ing|ion)?|telnet|rdp|remoted?)(?: (?:in|on))?"
    r" ?(?:to|into|onto|from) (?:the )?(?:host |server |machine |box )?[\"'`]?"
    r"|\b(?:host(?:name)?|server|machine|box|instance|node|vm|pod|workstation|laptop|printer"
    r"|container)(?: (?:named|called|is|name is))? [\"'`]?|\bon (?:host |server )?[\"'`]?"
    r"|\bpoint(?:ed|ing|s)? (?:\w{1,12} ){0,4}(?:at|to) [\"'`]?)"
    rf"(?P<host>{_NAME})(?![\w@(/]|\.\w)",
    re.IGNORECASE,
)
# What has the build of a machine's name and is none.
_NON_HOST_NAME = re.compile(
    r"v?\d+(?:\.\d+)*\w{0,3}|(?:ipv|http|utf|sha|md|base|x|amd|arm|win|windows|python|php|java|jdk|es|vue"
    r"|log|s|ec"
    r"|h|mp|i|k|l|b|p|oauth|tls|ssl|port|level|step|day|error|code|covid|iphone|ios|android|usb|wpa|cat"
    r"|rfc|iso|pci"
    r"|gpt|claude|office|room|floor|gate|row|line|page|chapter|version|release|build|phase|area|zone"
    r"|ubuntu|debian"
    r"|centos|rhel|fedora|macos|node|npm|ruby|perl|go|sql|html|css|mp|ps|ts|js)-?_?\d[\w.-]{0,6}"
    r"|\w+-to-\w+|web[23]",
    re.IGNORECASE,
)
_MACHINE_NAME = re.compile(
    r"(?=.{3,63}\Z)(?=[^.]*[A-Za-z]{2})[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+){0,6}", re.ASCII
)


# A letter and, perhaps after a hyphen, a digit; a name with a dot; a user of a machine.
_HOST_HINT = re.compile(r"[A-Za-z]-?[0-9]|[A-Za-z]\.[A-Za-z]|@[A-Za-z]")


def _find_announced_hosts(text: str) -> Iterator[Span]:
    if not _HOST_HINT.search(text):
        return
    for match in _COMMAND.finditer(text):
        name = match["host"]
        if "." in name:
            if _is_internal(name.lower()) or _is_remote_host(name, bool(match["user"]), match["command"]):
                yield match.span("host")
        elif match["user"] or _is_machine(name):
            yield match.span("host")
    for match in _HOST_PHRASE.finditer(text):
        name = match["host"]
        if "." not in name and _is_machine(name):
            yield match.span("host")


def _is_remote_host(name: str, has_user: bool, command: str) -> bool:
    """Whether a name with dots after "ssh" or "ping" is somebody's machine, and no site or file."""
    labels = name.lower().split(".")
    if labels[-1] not in PUBLIC_SUFFIXES or labels[0] == "www" or ".".join(labels[-2:]) in _PUBLIC_SITES:
        return False
    if has_user or command in ("ssh", "sftp", "mosh", "ssh-copy-id"):
        return True
    return (
        len(labels) >= 3
        and command not in ("whois", "curl", "wget", "dig", "host")
        and "example" not in labels
    )


def _is_machine(name: str) -> bool:
    """db01, WEB-PROD-3: a single label is one if it is numbered."""
    return (
        _MACHINE_NAME.fullmatch(name) is not None
        and re.search(r"\d", name) is not None
        and _NON_HOST_NAME.fullmatch(name) is None
        and not re.fullmatch(r"[0-9a-f-]{7,}", name)
    )


# --- in addresses -----------------------------------------------------------------------------

_SCHEME_BACKWARDS = re.compile(r"[A-Za-z0-9+.-]{2,20}")
_AUTHORITY = re.compile(r"(?P<user>[^\s/@\"'<>]{0,200}@)?(?P<host>[A-Za-z0-9][\w.-]{0,253})")


def _find_in_urls(text: str) -> Iterator[Span]:
    """http://intranet/, http://jenkins:8080, redis://:secret@cache: a single label is inside."""
    place = text.find("://")
    while place >= 0:
        scheme = _SCHEME_BACKWARDS.match(text[max(0, place - 20) : place][::-1])
        authority = _AUTHORITY.match(text, place + 3)
        if scheme and authority:
            name = authority["host"].rstrip(".").lower()
            if _is_internal_url_host(name, scheme[0][::-1].lower(), bool(authority["user"])):
                start = authority.start("host")
                yield start, start + len(name)
        place = text.find("://", place + 3)


def _is_internal_url_host(name: str, scheme: str, has_user: bool) -> bool:
    if "." in name:
        # A URL with a password means an account at a site; a database host is internal.
        return _is_internal(name) or (
            has_user and not scheme.startswith("http") and _is_remote_host(name, True, "")
        )
    return name not in _GENERIC_HOSTS and not name.isdigit() and scheme in _SCHEMES


_GENERIC_HOSTS = frozenset("localhost example host hostname server domain your-domain yourdomain www".split())
_SCHEMES_TEXT = (
    "http https ws wss ssh sftp ftp ldap ldaps redis rediss amqp amqps postgres postgresql mysql mongodb "
    "mongodb+srv mssql sqlserver kafka tcp udp git svn rdp vnc"
)
_SCHEMES = frozenset(_SCHEMES_TEXT.split())

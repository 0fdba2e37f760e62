"""What fills the slots of the two sets: few words of one set are in the other."""

from benchmarks.pii_sets.values import Words

# Other names for numbers, as forms and people have them.
TUNE_WORDS = Words(
    nouns={
        "NHS number": (
            "NHS no.",
            "NHS",
            "NHS patient number",
            "nhs num",
        ),
        "national insurance number": (
            "NI no",
            "Nat Ins number",
            "National Insurance no.",
            "NI num",
        ),
        "passport": (
            "passport no.",
            "Passport #",
            "passport #",
            "passport nr",
        ),
        "driver's license": (
            "driver license number",
            "DL number",
            "licence no.",
            "license no.",
            "driver license #",
        ),
        "Medicare number": (
            "Medicare no.",
            "Medicare ID",
        ),
        "vehicle number": (
            "vehicle identification number",
            "VIN no.",
            "VIN",
            "chassis no.",
        ),
        "SIN": (
            "SIN number",
            "social insurance no.",
            "SIN no.",
            "social insurance #",
        ),
        "tax file number": (
            "tax file no.",
            "TFN number",
            "TFN",
            "tax file no",
        ),
        "Aadhaar": (
            "Aadhaar card number",
            "UIDAI number",
            "Aadhaar no.",
            "aadhar card",
        ),
        "PAN": (
            "PAN card number",
            "PAN no.",
        ),
        "tax id": (
            "Steueridentifikationsnummer",
            "Identifikationsnummer",
            "Steuer-Identnummer",
            "IdNr.",
        ),
        "identity card": (
            "Personalausweis-Nr.",
            "Ausweis-Nr.",
            "Perso-Nummer",
            "Nummer vom Personalausweis",
        ),
        "social security number": (
            "n° de sécurité sociale",
            "numéro INSEE",
            "n° sécu",
            "numéro de sécu sociale",
        ),
        "DNI": (
            "número de DNI",
            "documento de identidad",
            "n.º de DNI",
            "nif",
        ),
        "tax code": (
            "cod. fiscale",
            "C.F.",
            "cod. fisc.",
            "cf",
        ),
        "BSN": (
            "BSN-nummer",
            "sofinummer",
            "bsn nr",
            "burgerservicenr.",
        ),
        "AHV number": (
            "AHV-Nr.",
            "AHV Nr",
            "Sozialversicherungsnummer",
        ),
        "NIF": (
            "nº contribuinte",
            "contribuinte",
            "NIF nº",
        ),
        "PESEL": (
            "nr PESEL",
            "numer pesel",
        ),
        "personal number": (
            "person-nr",
            "personnr",
            "personnummret",
            "pnr",
        ),
        "birth number": (
            "personnummer",
            "fødselsnr.",
        ),
        "identity code": (
            "henkilötunnukseni",
            "hetu-tunnus",
        ),
        "CPR number": (
            "CPR-nr.",
            "cpr nr",
        ),
        "CPF": (
            "CPF nº",
            "CPF do titular",
            "número do CPF",
            "cpf n.",
        ),
    },
    urls=(
        "https://shop.acme.com/unsubscribe?email={email}",
        "https://news.example.org/u?mail={email}&list=4",
        "http://track.parcels.io/status?phone={phone}",
        "https://app.example.com/reset?user={at}&t=1",
        "mailto:{at}",
        "https://billing.hollis.co/prefs?to={email}",
        "https://mail.example.net/click?rcpt={at}&c=77#top",
        "https://sms.example.io/optout?msisdn={phone}",
        "https://id.example.com/verify?login_hint={email}&v=2",
        "https://help.example.com/tickets/new?from={at}",
        "https://notify.example.com/stop?subscriber={email}",
        "https://accounts.example.org/login?continue=%2Forders&email={at}",
        "https://t.example.io/sms/{phone}/optout",
        "https://hooks.example.net/invite/{at}/accept",
        "https://survey.example.com/s/9?phone={phone}&lang=en",
    ),
    products=(
        "Acme",
        "Northwind Traders",
        "Brightline",
        "Fenwick Energy",
        "Telmore",
        "Orbital",
        "Pike & Rowe",
        "Lumen Gas",
        "Castlegate",
        "Vireo",
        "Marrow & Tate",
        "Voltara",
        "Quickparcel",
        "Bluefern",
        "Hallmere Bank",
    ),
    users=(
        "{first}{yy}",
        "{first}.{last}",
        "{first}_{last}{digit}",
        "{f}{last}",
        "its{first}",
        "{last}_{f}",
        "{Word}{Other}",
        "{word}-{other}",
        "{word}{yy}",
        "{Word}_{yy}",
        "xX_{Word}_Xx",
        "mr_{word}",
        "{first}the{word}",
        "{word}.{other}",
        "_{word}{digit}_",
        "{WORD}{yy}",
        "real{first}{last}",
        "{first}",
        "{word}",
        "{first}loves{word}",
    ),
    addresses=(
        "{street}, {city}",
        "{street} {city}",
        "{street}, {postcode} {city}",
        "{street}, {city} {postcode}",
        "{street} in {city}",
        "{postcode} {city}, {street}",
        "{street}, {postcode}",
    ),
    births=(
        "{d}/{m}/{y}",
        "{d}.{m}.{y}",
        "{d}-{m}-{y}",
        "{y}/{mm}/{dd}",
        "{y}.{mm}.{dd}",
        "{dd} {mm} {y}",
        "{d}/{m}/{yy}",
        "{d}.{m}.{yy}",
        "{dd}-{mm}-{yy}",
        "{d} {month} {y}",
    ),
    english_births=(
        "{ordinal} of {month} {y}",
        "{month} {ordinal}, {y}",
        "{mon} {d} {y}",
        "{dd}-{mon}-{y}",
        "{d} {mon} '{yy}",
        "{ordinal} {mon} {y}",
        "{mon}. {d}, {y}",
        "{month} {d} {y}",
    ),
)
HELD_OUT_WORDS = Words(
    nouns={
        "NHS number": ("my NHS number", "NHS number on the letter", "NHS No"),
        "national insurance number": ("N.I. number", "nat. insurance no.", "NINO number"),
        "passport": ("number of my passport", "travel document (passport) no."),
        "driver's license": ("driver's licence number", "driving licence no.", "DL no."),
        "Medicare number": ("medicare card number", "Medicare beneficiary ID"),
        "vehicle number": ("VIN code", "car's VIN", "chassis nr"),
        "SIN": ("SIN (social insurance number)", "sin number"),
        "tax file number": ("ATO tax file number", "tfn no."),
        "Aadhaar": ("AADHAAR", "aadhar number"),
        "PAN": ("PAN card", "income tax PAN"),
        "tax id": ("Steueridentnummer", "steuer id", "Steuer-Identifikationsnummer"),
        "identity card": ("Ausweisnummer (Personalausweis)", "Nr. des Personalausweises"),
        "social security number": ("numéro de sécurité sociale (NIR)", "numéro d'assuré social"),
        "DNI": ("número del DNI", "DNI/NIF"),
        "NIE": ("número de NIE", "NIE nº"),
        "tax code": ("codice fiscale (C.F.)", "Cod. Fiscale"),
        "BSN": ("burgerservicenummer (BSN)", "Bsn-nr."),
        "BE national number": ("rijksregisternr.", "numéro de registre national"),
        "AHV number": ("AHV-Nummer (756)", "AHVN13"),
        "NIF": ("número de identificação fiscal", "NIF/contribuinte"),
        "PESEL": ("numeru PESEL", "PESEL nr"),
        "personal number": ("personnr.", "svenskt personnummer"),
        "birth number": ("fødselsnummeret", "norsk fødselsnummer"),
        "identity code": ("suomalainen henkilötunnus", "HETU"),
        "CPR number": ("cpr-nummeret", "CPR nr"),
        "CPF": ("CPF número", "CPF/MF"),
    },
    urls=(
        "https://my.example.com/unlock?u={email}&k=8f2",
        "https://links.example.org/c/77/{at}/open",
        "http://sms.example.net/r?to={phone}&m=2",
        "https://portal.example.com/login?username={at}",
        "https://book.example.io/confirm?guest={email}#done",
        "https://forms.example.org/f/12?tel={phone}",
        "https://app.example.net/share?invitee={at}&role=viewer",
    ),
    products=(
        "Brockley Water",
        "Tindale & Moss",
        "Nimbusfone",
        "Grünwald Energie",
        "Osprey Mutual",
        "Kettleworks",
    ),
    users=(
        *(
            "{first}.{last}{yy}",
            "{last}.{first}",
            "{f}.{last}",
            "{first}{last}",
            "{last}{yy}",
            "{first}_{word}",
        ),
        *("i_am_{first}", "{Word}Of{Other}", "{word}_{other}_{yy}", "{word}{other}{digit}", "not_{word}"),
        *("{Word}{yy}{Other}", "big{word}{yy}", "{word}{digit}{digit}{digit}", "Captain{Word}", "dj_{word}"),
        *("{WORD}x{digit}", "{first}-{yy}", "ii{Word}ii", "{first}codes", "{word}.exe", "{f}{last}{yy}"),
        *("{first}eats{word}", "lil_{word}", "{Word}", "o{last}", "__{first}__", "{word}-{other}-{digit}"),
    ),
    addresses=(
        *("{street}, {city}", "{street}, {postcode} {city}", "{street} / {postcode} {city}"),
        *(
            "{street}; {city}; {postcode}",
            "{city}, {street}",
            "{street} - {city}",
            "{street} {postcode} {city}",
        ),
    ),
    births=(
        *(
            "{dd}/{mm}/{y}",
            "{dd}.{mm}.{y}",
            "{d}. {m}. {y}",
            "{y}-{m}-{d}",
            "{dd}{mm}{y}",
            "{dd} / {mm} / {y}",
        ),
        *("{dd}/{mm}/{yy}", "{d}-{m}-{yy}", "{y}{mm}{dd}", "{d} {month} {y}"),
    ),
    english_births=(
        *(
            "the {ordinal} of {month}, {y}",
            "{month} the {ordinal} {y}",
            "{d}{mon}{y}",
            "{mon} {ordinal} '{yy}",
        ),
        *("{day_words} of {month} {year_words}", "{month} {day_words}, {year_words}", "{y} {mon} {dd}"),
        *("{month} {d} of {y}", "{dd} {month} {y}", "{mon}-{dd}-{y}"),
    ),
)

_TECH_TUNE = {
    "software": "Home Assistant|Postgres|Grafana|Blender|Nextcloud|GitLab|Kubernetes|Caddy|Jellyfin"
    "|OBS Studio|Figma|Notion|Obsidian|Jenkins|Keycloak|Traefik|Plex|MinIO|Kibana|Krita"
    "|Vaultwarden|Gitea|Nomad|HAProxy|Audacity|Inkscape|Trello|Slack|Mattermost|Zulip"
    "|Bamboo|Authelia|Paperless|RabbitMQ|Prometheus|Darktable|Immich|Forgejo|Portainer"
    "|Envoy|Ardour|FreeCAD|Linear|Teams|Rocket.Chat|Sentry|TeamCity|Dex|Kafka|Ansible",
    "board": "Raspberry Pi 4|ESP32-S3|Arduino Uno R4|Jetson Nano|STM32 Blue Pill"
    "|ASUS ROG Strix B650|Pine64|Rock 5B|Raspberry Pi Zero 2 W|ESP8266|Arduino Mega 2560"
    "|Khadas VIM4|Teensy 4.0|MSI Tomahawk B550|Banana Pi M5|Raspberry Pi 5|Radxa Zero 3"
    "|Arduino Nano 33|BeagleBone Black|Nucleo-F446RE|Gigabyte Aorus X670|Orange Pi 5"
    "|Wemos D1 Mini",
    "chip": "RP2040|STM32F103|ATmega328P|BME280|nRF52840|MCP2515|RP2350|STM32G431|ATtiny85"
    "|MPU6050|nRF24L01|SX1276|STM32H743|ESP32-C6|ATmega2560|INA219|DS18B20|CC1101|SHT31",
    "language": "Python|Rust|Go|Kotlin|Julia|Ruby|TypeScript|Elixir|C++|Haskell|Java|Zig|Swift|Dart"
    "|Lua|Perl|Scala|OCaml|C#|Crystal|Erlang|Clojure|Nim|F#|Ada|PHP|R|Odin|Gleam|Fortran"
    "|Groovy|JavaScript",
    "package": "numpy|requests|lodash|serde|axios|pydantic|tokio|react-router|celery|pandas|flask"
    "|boto3|express|clap|zod|sqlalchemy|rayon|vite|httpx|scipy|django|polars|fastify"
    "|anyhow|chalk|alembic|hyper|esbuild|aiohttp|matplotlib|marshmallow|jotai",
    "os": "Ubuntu 24.04|Debian 12|macOS Sequoia|Windows 11|Fedora 41|Linux Mint 22|Rocky 9"
    "|macOS Sonoma|Windows Server 2022|FreeBSD 14|Arch|openSUSE Leap 15.6|macOS Ventura"
    "|Windows 10|Alpine 3.20|NixOS 24.05",
    "command": "make install|ffmpeg|rsync|psql|terraform|node|cargo|systemctl|docker build|ffprobe"
    "|rclone|mysqldump|pulumi|deno|poetry lock|journalctl|make -j8|curl -I|restic backup"
    "|pg_restore|ansible-playbook|bun install|uv sync|dmesg",
    "namespace": "default|staging|monitoring|kube-system|prod|ingress|logging|argocd|dev|payments"
    "|observability|flux-system",
}
_TECH_MORE = {
    "software": "Joplin|Gerrit|Nagios|Zabbix|Frigate|Calibre|Kodi|Ollama|Airflow|Rundeck|Flink|Octave"
    "|KiCad|Tilda|Duplicati|Phabricator|Thanos|Ghost|Jitsi|Cassandra|Hermes",
    "board": "Raspberry Pi 3B+|Arduino Leonardo|Milk-V Duo|Jetson Xavier NX|Pico 2 W"
    "|ASRock Taichi X570|LattePanda Delta|Adafruit Huzzah32",
    "chip": "ESP32-C3|STM32L476|ATmega4809|MAX31855|VL53L0X|DRV8825|PCF8574|SSD1306",
    "language": "Pascal|Elm|Ballerina|Racket|Nix|Bash|COBOL|Prolog|Raku|Solidity|Mojo|Vala",
    "package": "fastapi|jinja2|mocha|sinon|hugo|diesel|gorm|scikit-learn|jest|nokogiri|faker|seaborn",
    "os": "Debian 13|Ubuntu 22.04|Manjaro|macOS Monterey|Windows Server 2019|AlmaLinux 9"
    "|OpenBSD 7.5|Raspberry Pi OS",
    "command": "cmake --build .|rsync -avz|nmap -sV|kubectl apply -f .|tar xzf|pip wheel ."
    "|go test ./...|strace -f",
    "namespace": "checkout|sandbox|cert-manager|batch",
}
TECH_WORDS = {
    "tune": {
        slot: [*_TECH_TUNE[slot].split("|"), *_TECH_MORE.get(slot, "").split("|")] for slot in _TECH_TUNE
    }
}

# Customers and agents in conversations with brands; no product is called like one of them.
CUSTOMER_FIRST_NAMES = (
    "Aisha|Alejandra|Anders|Bogdan|Brigitte|Callum|Camille|Chidi|Deepak|Delphine|Dmitri|Eilidh|Elif|Farah|"
    "Fiona|Giulia|Grzegorz|Hannah|Hiroshi|Ibrahim|Ingrid|Isabel|Jamal|Javier|Jessica|Kenji|Kerstin|Kwame|"
    "Laura|Leila|Magda|Marcus|Meera|Mehmet|Monica|Natasha|Nikolai|Oksana|Olumide|Patricia|Rachel|Rahul|Rebecca|"
    "Renata|Robert|Samir|Sandra|Siobhan|Svetlana|Tariq|Teresa|Thiago|Trevor|Uwe|Vanessa|Wei|Xavier|Yolanda|"
    "Zainab|Zoltan"
).split("|")
CUSTOMER_LAST_NAMES = (
    "Abdullah|Andersson|Becker|Bianchi|Boateng|Callahan|Castillo|Chaudhry|Dubois|Eriksen|Fernandes|Fischer|"
    "Gallagher|Gupta|Haddad|Hughes|Ivanova|Jankowski|Kaplan|Kovacs|Krishnan|Lambert|Larsen|MacLeod|Mbeki|Mendoza|"
    "Moretti|Nakamura|Nguyen|O'Sullivan|Oyelaran|Papadopoulos|Petrov|Quigley|Ramirez|Rossi|Sato|Schneider|"
    "Silva|Tanaka|Thorne|Ueda|Valdez|Virtanen|Weber|Yildiz|Zhang|Zimmermann"
).split("|")

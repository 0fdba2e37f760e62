"""What fills the slots of the two sets: few words of one set are in the other."""

from benchmarks.pii_sets.values import Words

# Other names for numbers, as forms and people have them.
TUNE_WORDS = Words(
    nouns={
        "NHS number": ("NHS no.", "NHS"),
        "national insurance number": ("NI no", "Nat Ins number"),
        "passport": ("passport no.", "Passport #"),
        "driver's license": ("driver license number", "DL number", "licence no."),
        "Medicare number": ("Medicare no.",),
        "vehicle number": ("vehicle identification number", "VIN no."),
        "SIN": ("SIN number", "social insurance no."),
        "tax file number": ("tax file no.", "TFN number"),
        "Aadhaar": ("Aadhaar card number", "UIDAI number"),
        "PAN": ("PAN card number",),
        "tax id": ("Steueridentifikationsnummer", "Identifikationsnummer"),
        "identity card": ("Personalausweis-Nr.", "Ausweis-Nr."),
        "social security number": ("n° de sécurité sociale", "numéro INSEE"),
        "DNI": ("número de DNI", "documento de identidad"),
        "tax code": ("cod. fiscale", "C.F."),
        "BSN": ("BSN-nummer", "sofinummer"),
        "AHV number": ("AHV-Nr.",),
        "NIF": ("nº contribuinte",),
        "PESEL": ("nr PESEL",),
        "personal number": ("person-nr", "personnr"),
        "birth number": ("personnummer",),
        "identity code": ("henkilötunnukseni",),
        "CPR number": ("CPR-nr.",),
        "CPF": ("CPF nº", "CPF do titular"),
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
    ),
    products=(
        *("Acme", "Northwind Traders", "Brightline", "Fenwick Energy", "Telmore"),
        *("Orbital", "Pike & Rowe", "Lumen Gas", "Castlegate", "Vireo"),
    ),
)
HELD_OUT_WORDS = Words(
    nouns={
        "NHS number": ("NHS patient number", "nhs num"),
        "national insurance number": ("National Insurance no.", "NI num"),
        "passport": ("passport #", "passport nr"),
        "driver's license": ("license no.", "driver license #"),
        "Medicare number": ("Medicare ID",),
        "vehicle number": ("VIN", "chassis no."),
        "SIN": ("SIN no.", "social insurance #"),
        "tax file number": ("TFN", "tax file no"),
        "Aadhaar": ("Aadhaar no.", "aadhar card"),
        "PAN": ("PAN no.",),
        "tax id": ("Steuer-Identnummer", "IdNr."),
        "identity card": ("Perso-Nummer", "Nummer vom Personalausweis"),
        "social security number": ("n° sécu", "numéro de sécu sociale"),
        "DNI": ("n.º de DNI", "nif"),
        "tax code": ("cod. fisc.", "cf"),
        "BSN": ("bsn nr", "burgerservicenr."),
        "AHV number": ("AHV Nr", "Sozialversicherungsnummer"),
        "NIF": ("contribuinte", "NIF nº"),
        "PESEL": ("numer pesel",),
        "personal number": ("personnummret", "pnr"),
        "birth number": ("fødselsnr.",),
        "identity code": ("henkilötunnukseni", "hetu-tunnus"),
        "CPR number": ("cpr nr",),
        "CPF": ("número do CPF", "cpf n."),
    },
    urls=(
        "https://notify.example.com/stop?subscriber={email}",
        "https://accounts.example.org/login?continue=%2Forders&email={at}",
        "https://t.example.io/sms/{phone}/optout",
        "https://hooks.example.net/invite/{at}/accept",
        "https://survey.example.com/s/9?phone={phone}&lang=en",
    ),
    products=("Marrow & Tate", "Voltara", "Quickparcel", "Bluefern", "Hallmere Bank"),
    users=(
        *("{first}{yy}", "{first}.{last}", "{first}_{last}{digit}", "{f}{last}", "its{first}", "{last}_{f}"),
        *("{Word}{Other}", "{word}-{other}", "{word}{yy}", "{Word}_{yy}", "xX_{Word}_Xx", "mr_{word}"),
        *("{first}the{word}", "{word}.{other}", "_{word}{digit}_", "{WORD}{yy}", "real{first}{last}"),
        *("{first}", "{word}", "{first}loves{word}"),
    ),
    addresses=(
        *(
            "{street}, {city}",
            "{street} {city}",
            "{street}, {postcode} {city}",
            "{street}, {city} {postcode}",
        ),
        *("{street} in {city}", "{postcode} {city}, {street}", "{street}, {postcode}"),
    ),
    births=(
        *("{d}/{m}/{y}", "{d}.{m}.{y}", "{d}-{m}-{y}", "{y}/{mm}/{dd}", "{y}.{mm}.{dd}", "{dd} {mm} {y}"),
        *("{d}/{m}/{yy}", "{d}.{m}.{yy}", "{dd}-{mm}-{yy}", "{d} {month} {y}"),
    ),
    english_births=(
        *("{ordinal} of {month} {y}", "{month} {ordinal}, {y}", "{mon} {d} {y}", "{dd}-{mon}-{y}"),
        *("{d} {mon} '{yy}", "{ordinal} {mon} {y}", "{mon}. {d}, {y}", "{month} {d} {y}"),
    ),
)

_TECH_TUNE = {
    "software": "Home Assistant|Postgres|Grafana|Blender|Nextcloud|GitLab|Kubernetes|Caddy|Jellyfin"
    "|OBS Studio|Figma|Notion|Obsidian|Jenkins|Keycloak|Traefik|Plex|MinIO|Kibana|Krita"
    "|Vaultwarden|Gitea|Nomad|HAProxy|Audacity|Inkscape|Trello|Slack|Mattermost|Zulip"
    "|Bamboo|Authelia",
    "board": "Raspberry Pi 4|ESP32-S3|Arduino Uno R4|Jetson Nano|STM32 Blue Pill|ASUS ROG Strix B650"
    "|Pine64|Rock 5B|Raspberry Pi Zero 2 W|ESP8266|Arduino Mega 2560|Khadas VIM4|Teensy 4.0"
    "|MSI Tomahawk B550|Banana Pi M5",
    "chip": "RP2040|STM32F103|ATmega328P|BME280|nRF52840|MCP2515|RP2350|STM32G431|ATtiny85|MPU6050"
    "|nRF24L01|SX1276",
    "language": "Python|Rust|Go|Kotlin|Julia|Ruby|TypeScript|Elixir|C++|Haskell|Java|Zig|Swift|Dart|Lua"
    "|Perl|Scala|OCaml|C#|Crystal",
    "package": "numpy|requests|lodash|serde|axios|pydantic|tokio|react-router|celery|pandas|flask"
    "|boto3|express|clap|zod|sqlalchemy|rayon|vite|httpx|scipy",
    "os": "Ubuntu 24.04|Debian 12|macOS Sequoia|Windows 11|Fedora 41|Linux Mint 22|Rocky 9"
    "|macOS Sonoma|Windows Server 2022|FreeBSD 14",
    "command": "make install|ffmpeg|rsync|psql|terraform|node|cargo|systemctl|docker build|ffprobe"
    "|rclone|mysqldump|pulumi|deno|poetry lock|journalctl",
    "namespace": "default|staging|monitoring|kube-system|prod|ingress|logging|argocd",
}
_TECH_HELD_OUT = {
    "software": "Paperless|RabbitMQ|Prometheus|Darktable|Immich|Forgejo|Portainer|Envoy|Ardour|FreeCAD"
    "|Linear|Teams|Rocket.Chat|Sentry|TeamCity|Dex|Kafka|Ansible",
    "board": "Raspberry Pi 5|Radxa Zero 3|Arduino Nano 33|BeagleBone Black|Nucleo-F446RE"
    "|Gigabyte Aorus X670|Orange Pi 5|Wemos D1 Mini",
    "chip": "STM32H743|ESP32-C6|ATmega2560|INA219|DS18B20|CC1101|SHT31",
    "language": "Erlang|Clojure|Nim|F#|Ada|PHP|R|Odin|Gleam|Fortran|Groovy|JavaScript",
    "package": "django|polars|fastify|anyhow|chalk|alembic|hyper|esbuild|aiohttp|matplotlib"
    "|marshmallow|jotai",
    "os": "Arch|openSUSE Leap 15.6|macOS Ventura|Windows 10|Alpine 3.20|NixOS 24.05",
    "command": "make -j8|curl -I|restic backup|pg_restore|ansible-playbook|bun install|uv sync|dmesg",
    "namespace": "dev|payments|observability|flux-system",
}
TECH_WORDS = {
    part: {slot: words.split("|") for slot, words in fillers.items()}
    for part, fillers in (("tune", _TECH_TUNE), ("held_out", _TECH_HELD_OUT))
}

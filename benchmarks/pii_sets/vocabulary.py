"""What fills the slots of the two sets: no word of one set is in the other where that can be helped."""

from benchmarks.pii_sets.values import Words

TUNE_WORDS = Words(
    nouns={},
    urls=(
        "https://shop.acme.com/unsubscribe?email={email}",
        "https://news.example.org/u?mail={email}&list=4",
        "http://track.parcels.io/status?phone={phone}",
        "https://app.example.com/reset?user={at}&t=1",
        "mailto:{at}",
    ),
    products=("Acme", "Northwind Traders", "Brightline", "Fenwick Energy", "Telmore"),
)
# Other names for numbers, as forms and people have them.
HELD_OUT_WORDS = Words(
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
        "https://billing.hollis.co/prefs?to={email}",
        "https://mail.example.net/click?rcpt={at}&c=77#top",
        "https://sms.example.io/optout?msisdn={phone}",
        "https://id.example.com/verify?login_hint={email}&v=2",
        "https://help.example.com/tickets/new?from={at}",
    ),
    products=("Orbital", "Pike & Rowe", "Lumen Gas", "Castlegate", "Vireo"),
)

_TECH_TUNE = {
    "software": "Home Assistant|Postgres|Grafana|Blender|Nextcloud|GitLab|Kubernetes|Caddy|Jellyfin"
    "|OBS Studio|Figma|Notion|Obsidian|Jenkins|Keycloak|Traefik",
    "board": "Raspberry Pi 4|ESP32-S3|Arduino Uno R4|Jetson Nano|STM32 Blue Pill"
    "|ASUS ROG Strix B650|Pine64|Rock 5B",
    "chip": "RP2040|STM32F103|ATmega328P|BME280|nRF52840|MCP2515",
    "language": "Python|Rust|Go|Kotlin|Julia|Ruby|TypeScript|Elixir|C++|Haskell",
    "package": "numpy|requests|lodash|serde|axios|pydantic|tokio|react-router|celery|pandas",
    "os": "Ubuntu 24.04|Debian 12|macOS Sequoia|Windows 11|Fedora 41",
    "command": "make install|ffmpeg|rsync|psql|terraform|node|cargo|systemctl",
    "namespace": "default|staging|monitoring|kube-system",
}
_TECH_HELD_OUT = {
    "software": "Plex|MinIO|Kibana|Krita|Vaultwarden|Gitea|Nomad|HAProxy|Audacity|Inkscape|Trello|Slack"
    "|Mattermost|Zulip|Bamboo|Authelia",
    "board": "Raspberry Pi Zero 2 W|ESP8266|Arduino Mega 2560|Khadas VIM4|Teensy 4.0"
    "|MSI Tomahawk B550|Banana Pi M5",
    "chip": "RP2350|STM32G431|ATtiny85|MPU6050|nRF24L01|SX1276",
    "language": "Java|Zig|Swift|Dart|Lua|Perl|Scala|OCaml|C#|Crystal",
    "package": "flask|boto3|express|clap|zod|sqlalchemy|rayon|vite|httpx|scipy",
    "os": "Linux Mint 22|Rocky 9|macOS Sonoma|Windows Server 2022|FreeBSD 14",
    "command": "docker build|ffprobe|rclone|mysqldump|pulumi|deno|poetry lock|journalctl",
    "namespace": "prod|ingress|logging|argocd",
}
TECH_WORDS = {
    part: {slot: words.split("|") for slot, words in fillers.items()}
    for part, fillers in (("tune", _TECH_TUNE), ("held_out", _TECH_HELD_OUT))
}
